"""What is counted of a finished run, from its records in the journal; none of what was asked or answered."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bus.journal.deadlines import LONGEST_S
from bus.journal.records import RECEIVED, VIA, Record, Stage
from bus.runs.run_record import readable
from bus.transport.envelope import moment
from bus.wire.messages import CATALOGUE, Draft, QuestionAsked, RunFinished, Settled, message_type
from prompts.vocabulary import Outcome

_DRAFTS = {message_type(each) for each in CATALOGUE if issubclass(each, Draft)}
_ASKED, _FINISHED = message_type(QuestionAsked), message_type(RunFinished)
#: A way in that nobody named is NATS's.
_NATS = "nats"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")


@dataclass(frozen=True, slots=True)
class Account:
    """One run. Times in seconds. `reason`: empty for an answer. `first_checked_s`: from the question to the first sentence shown;
    None where none was, or what was shown was not checked before. `withheld`: sentences by the flags they were withheld for.
    """

    via: str
    outcome: Outcome
    reason: str
    took_s: float
    first_checked_s: float | None = None
    sentences: int = 0
    withheld: Counter[str] = field(default_factory=Counter)
    withheld_sentences: int = 0
    stages: tuple[Stage, ...] = ()


def account_of(records: Sequence[Record]) -> Account | None:
    """The account of a run whose records are given, oldest first; None without its question or its end."""
    asked = next((record for record in records if record.key.type == _ASKED), None)
    ended = next((record for record in records if record.key.type == _FINISHED), None)
    end = readable(ended) if ended is not None else None
    if asked is None or ended is None or not isinstance(end, RunFinished):
        return None
    settled = end.settled
    stages = tuple(stage for record in records if (stage := record.stage) is not None)
    drafted = next((record for record in reversed(records) if record.key.type in _DRAFTS), None)
    draft = readable(drafted) if drafted is not None else None
    shown_at = min((stage.first_shown_at for stage in stages if stage.first_shown_at), default=0.0)
    checked = isinstance(draft, Draft) and draft.question.release != "token" and shown_at
    received = received_at(asked)
    return Account(
        via=via_of(asked),
        outcome=settled.outcome,
        reason=reason_of(settled),
        took_s=max(0.0, ended.time - received),
        first_checked_s=max(0.0, shown_at - received) if checked else None,
        sentences=len(draft.sentences) if isinstance(draft, Draft) else 0,
        withheld=Counter(kind for each in settled.withheld for kind in {flag.kind for flag in each.flags}),
        withheld_sentences=len(settled.withheld),
        stages=stages,
    )


def via_of(asked: Record) -> str:
    """By which way the question came in."""
    said = asked.headers.get(VIA, "")
    return said if _NAME.fullmatch(said) else _NATS


def received_at(asked: Record) -> float:
    """When the question came in, in epoch seconds: before it was written where it had to wait to be let in."""
    said = moment(asked.headers, RECEIVED, latest=asked.time)
    return asked.time if said is None else max(said, asked.time - LONGEST_S)


def reason_of(settled: Settled) -> str:
    return settled.reason or settled.unrun or ("internal" if settled.outcome == "failed" else "")
