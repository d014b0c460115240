"""Record a run anew over changed inputs: each stage of today's code makes its outputs and events again, from the replies of then.

For a trace whose texts were changed: a probability of the new text, for one, may be another than of the old.
"""

from dataclasses import replace

import msgspec

from actors.question.resolved import resolving_under
from bus.delivery.graph import Graph
from bus.journal.records import AskRecord, Record, SearchRecord, Stage, decode, encode
from bus.powers.events import StageEvent, decode_event
from bus.powers.searching import SearchRequest, record_of
from bus.wire.errors import Poison
from bus.wire.messages import Message, lane_of, message_type
from runtime.replay.recorded_powers import Astray, Replies, digests
from runtime.replay.replayer import Diverged, Player
from runtime.replay.steps import Step, steps_of
from runtime.replay.trace import Trace


async def recorded_anew(trace: Trace, graph: Graph) -> Trace | None:
    """The same stages over the texts that the trace has now; None where they would make other messages than then."""
    steps = steps_of(trace, graph)
    if steps.orphans:
        return None
    player = _Recorder(trace, ended_otherwise=steps.ended_otherwise)
    try:
        with resolving_under(trace.defaults):
            for step in sorted(steps.done, key=lambda step: step.source.sequence):
                await player.play(step)
    except (Diverged, Poison):
        return None
    return player.trace_now()


class _Nearly(Replies):
    """Replies to the asks of then, also where their variables are a little different now."""

    def __init__(self, stage: Stage | None) -> None:
        super().__init__(stage)
        self._stage = stage or Stage(actor="")
        self._now: dict[int, AskRecord | SearchRecord] = {}

    def _ask(self, name: str, variables: bytes) -> AskRecord:
        try:
            return super()._ask(name, variables)
        except Astray:
            kept = next((record for record in self._asks if record.prompt == name and record.variables), None)
            if kept is None:
                raise
            self._asks.remove(kept)
            new = msgspec.structs.replace(kept, variables=digests(name, variables)[0])
            self._now[id(kept)] = new
            return new

    def _search(self, request: SearchRequest) -> SearchRecord:
        try:
            return super()._search(request)
        except Astray:
            if not self._searches:
                raise
            kept = self._searches.popleft()
            times = {"began_s": kept.began_s, "took_s": kept.took_s}
            new = msgspec.structs.replace(record_of(request, bytes(kept.hits), 0.0), groups=kept.groups, **times)
            self._now[id(kept)] = new
            return new

    def stage_now(self) -> Stage:
        parts = {"asks": self._stage.asks, "searches": self._stage.searches}
        now = {name: tuple(self._now.get(id(each), each) for each in part) for name, part in parts.items()}
        return msgspec.structs.replace(self._stage, **now)


class _Recorder(Player):
    """Plays the steps, and writes down where the player would compare."""

    def __init__(self, trace: Trace, *, ended_otherwise: bool) -> None:
        super().__init__(trace, ended_otherwise=ended_otherwise)
        self.recorded = [*self.recorded]
        self._made: dict[int, bytes] = {}
        self._nearly = _Nearly(None)

    def replies_to(self, step: Step) -> Replies:
        self._nearly = _Nearly(step.stage)
        return self._nearly

    def _readable(self, step: Step, record: Record) -> Message:
        return decode(record.key.type, self._made.get(record.sequence, record.data))

    def _compare(self, step: Step, result: object) -> None:
        now = result if isinstance(result, tuple) else () if result is None else (result,)
        kinds = [(message_type(type(made)), lane_of(made)) for made in now]
        if kinds != [(record.key.type, record.key.lane) for record in step.outputs]:
            raise self._diverged(step, "output", "type", "the messages of then", "others")
        for record, made in zip(step.outputs, now, strict=True):
            self._made[record.sequence] = encode(made, self._nearly.stage_now() if record.stage else None)

    def _compare_events(self, step: Step, lines: list[bytes], began: int) -> None:
        if not self.frames:
            return
        if step.actor.priority == "answer":
            self._cut_as_recorded(lines, began)
        if len(lines) > len(self.recorded) or (not step.actor.gives and len(lines) != len(self.recorded)):
            raise self._diverged(step, "event", "events", f"{len(self.recorded)}", f"{len(lines)}")
        self.recorded[began : len(lines)] = lines[began:]

    def _compare_aside(self, step: Step, said: list[bytes]) -> None:
        kept = {*said}
        for line in said:
            kind = type(decode_event(line))
            if line in self._aside or kind is StageEvent:
                continue
            like = (n for n, a in enumerate(self._aside) if type(decode_event(a)) is kind and a not in kept)
            if (place := next(like, None)) is not None:
                self._aside[place] = line

    def trace_now(self) -> Trace:
        records = tuple(replace(r, data=self._made.get(r.sequence, r.data)) for r in self.trace.records)
        fenced, aside, frames = iter(self.recorded), iter(self._aside), []
        for frame in self.trace.frames:
            lines = fenced if frame.fenced else aside
            count = frame.data.count(b"\n") + 1
            data = b"\n".join(line for _, line in zip(range(count), lines, strict=False))
            frames.append(frame if frame.fenced and not self.frames else replace(frame, data=data))
        return replace(self.trace, records=records, frames=tuple(frames))
