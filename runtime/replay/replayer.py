"""Replay a run through today's code: each recorded input goes to its actor, powers answer from the record, outputs are compared.

Values are compared, as today's types read them; so a trace that another program has written again, or that lacks a newer field,
replays.

What a replay cannot know is not compared: work cut off by the end of the run, and events that are no longer kept.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from actors.question.resolved import resolving_under
from bus.delivery.execution import Services, execute
from bus.delivery.graph import Graph
from bus.journal.records import Record, decode, encode
from bus.powers.events import CITED, DONE_LINE, StageEvent, decode_event
from bus.wire.errors import Poison
from bus.wire.messages import Message, lane_of, message_type
from runtime.replay.difference import first_difference
from runtime.replay.recorded_powers import Astray, EventMemory, Replies, text_of
from runtime.replay.steps import Orphan, Step, steps_of
from runtime.replay.trace import Shown, Trace


@dataclass(frozen=True, slots=True)
class Changed:
    """What the run depended on and is another today: a prompt's version, the model, a setting."""

    what: str
    recorded: str
    now: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a replay first differs from its record. `part`: output, event, ask, search, or error when an actor broke."""

    stage: str
    lane: str
    part: str
    path: str
    recorded: str
    now: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay: how many `stages` and `events` were compared; `unfinished` names stages cut off by the run's end.

    `changed`: what a replay does not run under, since it takes the record's replies and settings, and is another today.
    """

    run_id: str
    stages: int
    events: int
    inherited: int
    unfinished: tuple[str, ...]
    finished: bool
    divergence: Divergence | None = None
    changed: tuple[Changed, ...] = ()


class Diverged(Exception):
    """Carries the first divergence up to the caller."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.path)
        self.divergence = divergence


async def replay(trace: Trace, graph: Graph) -> Replayed:
    """Replay every step, up to the first divergence."""
    steps = steps_of(trace, graph)
    player = Player(trace, ended_otherwise=steps.ended_otherwise)
    found: Divergence | None = None
    done = 0
    try:
        with resolving_under(trace.defaults):
            every: list[Step | Orphan] = [*steps.done, *steps.orphans]
            # The order in which their inputs were written is the one in which the client was shown events.
            for step in sorted(every, key=lambda step: step.source.sequence):
                if isinstance(step, Orphan):
                    key = step.source.key
                    raise Diverged(Divergence(step.stage, key.lane, "output", "", f"took {key.type}", "nobody does"))
                await player.play(step)
                done += 1
    except Diverged as diverged:
        found = diverged.divergence
    finished = any(not step.actor.gives for step in steps.done)
    unfinished = tuple(dict.fromkeys(step.name for step in steps.unfinished))
    return Replayed(trace.run_id, done, len(player.lines), len(steps.inherited), unfinished, finished, found)


class Player:
    """Replays the steps; `lines` are the events so far, equal to the recorded ones while nothing diverges."""

    def __init__(self, trace: Trace, *, ended_otherwise: bool) -> None:
        self.trace = trace
        self.recorded = trace.lines
        self.frames = [frame for frame in trace.frames if frame.fenced] if self.recorded else []
        self.lines = self.recorded[: trace.taken_over]
        self._aside = [line for frame in trace.frames if not frame.fenced for line in frame.data.split(b"\n")]
        self._ended_otherwise = ended_otherwise

    async def play(self, step: Step) -> None:
        """Replay the step. Raises Diverged with the first difference, unless another possible starting state explains it."""
        failed: list[Diverged] = []
        for begun in self._begins(step):
            before = [*self.recorded[:begun]] if self.frames else [*self.lines]
            try:
                self.lines = await self._try(step, before)
                return
            except Diverged as diverged:
                failed.append(diverged)
        raise failed[0]

    def _begins(self, step: Step) -> Iterator[int]:
        """How many events may have existed when the step began, likeliest first: those up to where the last step stopped.

        Of what an earlier attempt had shown, only the text is recorded, and only with an ask, so any of its frames will do;
        a step that closes a run which another one ended found everything but the close.
        """
        ends = self._ends()
        if not step.actor.gives and self._ended_otherwise and self.frames:
            yield max((end for end, frame in ends if DONE_LINE not in frame.data.split(b"\n")), default=0)
            return
        yield len(self.lines)
        stage = step.stage
        if stage is None or "emit" not in step.actor.powers:
            return
        if stage.attempt > 1 or any(ask.already_shown for ask in stage.asks):
            yield from (end for end, frame in ends if end > len(self.lines) and frame.time <= step.outputs[0].time)

    def _ends(self) -> list[tuple[int, Shown]]:
        ends, count = [], 0
        for frame in self.frames:
            count += frame.data.count(b"\n") + 1
            ends.append((count, frame))
        return ends

    async def _try(self, step: Step, lines: list[bytes]) -> list[bytes]:
        """The events after the step. Raises Diverged."""
        began = len(lines)
        cited = next((frame.headers.get(CITED, "") for end, frame in self._ends() if end == began), "")
        replies, events = self.replies_to(step), EventMemory(lines, cited)
        messages = [self._readable(step, record) for record in step.given]
        if not messages:
            raise self._diverged(step, "output", "", "joined its lanes", "a lane is missing")
        services = Services(replies.answer, replies.find, events)
        taken = tuple(messages) if step.actor.joins else messages[0]
        try:
            # Only the last attempt is recorded, and it read what earlier ones had shown.
            result, _ = await execute(
                step.actor, taken, step.source.key, services, deadline=math.inf, attempt=2, retries=0
            )
        except Astray as astray:
            part = astray.path.partition("s[")[0]
            raise self._diverged(step, part, astray.path, astray.recorded, astray.now) from None
        except Exception as broken:
            # A replay exists to find out that today's code breaks on what it once accepted.
            raise self._diverged(step, "error", "", "went well", f"{type(broken).__name__}: {broken}") from broken
        self._compare(step, result)
        if replies.unused:
            raise self._diverged(step, "ask", "asks", f"{len(replies.unused)} more asked", "not asked any more")
        self._compare_events(step, lines, began)
        self._compare_aside(step, events.asides)
        if step.stage is not None and step.stage.fallback and self.frames:
            # What a step showed before it failed is not recorded: keep it as it was.
            shown = [end for end, frame in self._ends() if frame.time <= step.outputs[0].time]
            return self.recorded[: max(shown, default=len(lines))]
        return lines

    def replies_to(self, step: Step) -> Replies:
        return Replies(step.stage)

    def _readable(self, step: Step, record: Record) -> Message:
        try:
            return decode(record.key.type, record.data)
        except Poison as poison:
            raise self._diverged(step, "error", "", f"could be read ({record.key.type})", str(poison)) from None

    def _compare(self, step: Step, result: object) -> None:
        now = result if isinstance(result, tuple) else () if result is None else (result,)
        for n, (recorded, made) in enumerate(zip_longest(step.outputs, now)):
            if recorded is None or not isinstance(made, Message):
                have = (recorded.key.type if recorded else "nothing", _name(made))
                raise self._diverged(step, "output", f"[{n}]", *have)
            if (recorded.key.type, recorded.key.lane) != (message_type(type(made)), lane_of(made)):
                have = (f"{recorded.key.type} {recorded.key.lane}", f"{_name(made)} {lane_of(made)}")
                raise self._diverged(step, "output", "type", *have)
            body, read = recorded.data.partition(b"\n")[0], partial(decode, recorded.key.type)
            difference = first_difference(body, encode(made), read)
            if difference is not None:
                raise self._diverged(step, "output", difference.path, difference.recorded, difference.now)

    def _compare_events(self, step: Step, lines: list[bytes], began: int) -> None:
        """Compare what the step showed, unless events are no longer kept."""
        if not self.frames:
            return
        if step.actor.priority == "answer":
            self._cut_as_recorded(lines, began)
        then = self.recorded if not step.actor.gives else self.recorded[: len(lines)]
        both = zip_longest(then[began:], lines[began:], fillvalue=b'"nothing"')
        for n, (recorded, now) in enumerate(both, began + 1):
            if (difference := first_difference(recorded, now, decode_event)) is not None:
                path = f"events[{n}]" + (f".{difference.path}" if difference.path else "")
                raise self._diverged(step, "event", path, difference.recorded, difference.now)

    def _cut_as_recorded(self, lines: list[bytes], began: int) -> None:
        """Cut an answer with the same text as it was cut then: the model's own pieces are not recorded."""
        now = text_of(lines[began:])
        for end in range(began, len(self.recorded) + 1):
            then = text_of(self.recorded[began:end])
            if len(then) >= len(now):
                if then == now:
                    lines[began:] = self.recorded[began:end]
                return

    def _compare_aside(self, step: Step, said: list[bytes]) -> None:
        """Compare what `events=all` adds; lanes are concurrent and a retry repeats events, so their order and number are chance.

        Where the beginning of the stream is no longer kept, what was added beside it is not all there either.
        """
        if not self._aside or not self.frames:
            return
        for line in said:
            now = decode_event(line)
            # The events of a stage's start and end do not come from the actor.
            if line not in self._aside and not isinstance(now, StageEvent):
                like = [each for each in self._aside if type(decode_event(each)) is type(now)] or [b'"nothing"']
                found = [first_difference(each, line, decode_event) for each in like]
                if None not in found and (difference := found[0]) is not None:
                    raise self._diverged(step, "event", difference.path, difference.recorded, difference.now)

    def _diverged(self, step: Step, part: str, path: str, recorded: str, now: str) -> Diverged:
        return Diverged(Divergence(step.name, step.lane, part, path, recorded, now))


def _name(made: object) -> str:
    return "nothing" if made is None else message_type(type(made)) if isinstance(made, Message) else type(made).__name__
