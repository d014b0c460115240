"""The story of a run: one reading of its journal records, which the record, the trace, the spans and the metrics format."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from bus.journal.records import LONGEST_S, RECEIVED, VIA, AskRecord, Record, SearchRecord, Stage, readable
from bus.transport.envelope import moment
from bus.wire.messages import Draft, Message, QuestionAsked, RunFinished, message_type, question_about
from bus.wire.parts import Question
from bus.wire.settled import Settled

_ASKED = message_type(QuestionAsked)
_ROUTE = re.compile(r"[a-z][a-z0-9_]{0,19}")


class StageRun(msgspec.Struct, frozen=True):
    """One call of an actor, stored with its first output."""

    record: Record
    stage: Stage

    def began_s(self, asked_at: float) -> float:
        """The start, in seconds from the question: the journal dates the output, which came `took_s` later."""
        return max(0.0, self.record.time - asked_at - self.stage.took_s)

    @property
    def fallback(self) -> str:
        """Why something else decided than the model that was asked; empty where its replies were used."""
        return self.stage.fallback or next((ask.failure for ask in self.stage.asks if ask.failure), "")

    @property
    def calls(self) -> int:
        return self.stage.earlier_calls + sum(ask.calls for ask in self.stage.asks if not ask.cached)

    @property
    def tokens_in(self) -> int:
        return sum(ask.tokens_in for ask in self.stage.asks)

    @property
    def tokens_out(self) -> int:
        return sum(ask.tokens_out for ask in self.stage.asks)


@dataclass(frozen=True, slots=True)
class RunStory:
    """A run so far. Times in epoch seconds; `finished_at` and `settled` are None until its end.

    Without the record of the question, `run_id` is empty. `headers`: of the question. `messages`: all readable, oldest first.
    """

    run_id: str
    asked_at: float
    headers: Mapping[str, str]
    messages: tuple[Message, ...]
    stages: tuple[StageRun, ...]
    finished_at: float | None
    settled: Settled | None

    @property
    def question(self) -> QuestionAsked:
        """The question as it came in; one made of the end where its own record cannot be read."""
        came = next((m for m in self.messages if isinstance(m, QuestionAsked)), None)
        return came or QuestionAsked(question=self.settled.question if self.settled else "")

    @property
    def questions(self) -> tuple[Question, ...]:
        """The question as each message has it, under its profile."""
        return tuple(q for m in self.messages if isinstance(q := question_about(m), Question))

    @property
    def draft(self) -> Draft | None:
        return next((m for m in reversed(self.messages) if isinstance(m, Draft)), None)

    @property
    def asks(self) -> list[AskRecord]:
        return [ask for each in self.stages for ask in each.stage.asks]

    @property
    def searches(self) -> list[SearchRecord]:
        return [search for each in self.stages for search in each.stage.searches]

    @property
    def first_shown_at(self) -> float:
        """When the client got its first token; 0 if it got none."""
        return min((each.stage.first_shown_at for each in self.stages if each.stage.first_shown_at), default=0.0)

    @property
    def via(self) -> str:
        """The protocol that the question came by; NATS where none is named."""
        name = self.headers.get(VIA, "")
        return name if _ROUTE.fullmatch(name) else "nats"

    @property
    def received_at(self) -> float:
        """When the question came in: before it was written where it had to wait for admission."""
        at = moment(self.headers, RECEIVED, latest=self.asked_at)
        return self.asked_at if at is None else max(at, self.asked_at - LONGEST_S)


def story_of(records: Sequence[Record]) -> RunStory:
    """The story of the run whose journal records are given, oldest first."""
    asked = next((record for record in records if record.key.type == _ASKED), None)
    read = [(record, message) for record in records if (message := readable(record)) is not None]
    ended = next(((record, m.settled) for record, m in read if isinstance(m, RunFinished)), None)
    return RunStory(
        run_id=asked.key.run_id if asked else "",
        asked_at=asked.time if asked else 0.0,
        headers=asked.headers if asked else {},
        messages=tuple(message for _, message in read),
        stages=tuple(StageRun(record, stage) for record in records if (stage := record.stage) is not None),
        finished_at=ended[0].time if ended else None,
        settled=ended[1] if ended else None,
    )
