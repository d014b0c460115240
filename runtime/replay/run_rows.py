"""One row for each run: how it was asked and how it ended, and whether it is among the wanted ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, get_args

import msgspec

from bus.journal.access import access_in
from bus.journal.pruning import PINNED
from bus.journal.records import Record
from bus.journal.verdicts import JUDGEMENTS, verdict_in
from bus.runs.story import RunStory, story_of
from bus.wire.settled import Settled
from index.languages import LANGUAGES
from prompts.vocabulary import Confidence, FlagKind, Outcome, Reason
from runtime.replay.trace import PARENT


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. Times in epoch seconds; `outcome` is null while it goes on. `conversation`: the run that began it.

    `key`: the name of the key that asked, empty without one. `flags`: the kinds of flags on its sentences that were withheld.
    `sources`: those that the answer cites, or of the closest passages. `verdict` and `note`: the last that a person gave.
    """

    run_id: str
    conversation: str
    question: str
    profile: str
    language: str
    key: str
    asked_at: float
    outcome: Outcome | None = None
    reason: Reason | None = None
    confidence: Confidence | None = None
    probability: float | None = None
    finished_at: float | None = None
    took_s: float | None = None
    flags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    verdict: str = ""
    note: str = ""
    parent: str = ""
    pinned: bool = False


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a list is narrowed to; an empty field narrows nothing. `text`: in the question or the answer, in any case of letters.

    `since` and `until`: of the question, in epoch seconds; `slower` and `faster`: seconds that the run took. `source`: the end of
    an id. `verdict`: `any` for a run with one.
    """

    outcome: str = ""
    reason: str = ""
    flag: str = ""
    source: str = ""
    profile: str = ""
    key: str = ""
    language: str = ""
    confidence: str = ""
    verdict: str = ""
    text: str = ""
    since: float = 0.0
    until: float = 0.0
    slower: float = 0.0
    faster: float = 0.0

    @property
    def everything(self) -> bool:
        return self == Wanted()


#: The words that a field of Wanted may have; any other field takes any text.
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "outcome": get_args(Outcome),
    "reason": get_args(Reason),
    "flag": get_args(FlagKind),
    "language": LANGUAGES,
    "confidence": get_args(Confidence),
    "verdict": (*JUDGEMENTS, "any"),
}
#: What a list may be sorted by, the highest first; the first one unless another is named.
SORTS: Final = ("asked_at", "took_s", "probability")
#: Fields of Wanted that must be a field of the row.
_SAME = ("outcome", "reason", "profile", "key", "language", "confidence")


def row_of(records: Sequence[Record]) -> RunRow | None:
    """The row of a run, from all its records or only its question, access, end, pins and verdicts; None without the question."""
    story = story_of(records)
    if not story.run_id:
        return None
    question, settled, verdict = story.question, story.settled or Settled(outcome="failed"), verdict_in(records)
    access = access_in(records)
    shown = [citation.source_id for citation in settled.citations] or [
        passage.source_id for passage in settled.passages
    ]
    return RunRow(
        run_id=story.run_id,
        conversation=question.conversation or story.run_id,
        question=question.question,
        profile=question.profile,
        language=settled.language or question.language or "",
        key=access.key if access else "",
        asked_at=story.asked_at,
        outcome=settled.outcome if story.settled else None,
        reason=settled.reason,
        confidence=settled.confidence,
        probability=settled.probability,
        finished_at=story.finished_at,
        took_s=round(story.finished_at - story.asked_at, 6) if story.finished_at else None,
        flags=tuple(dict.fromkeys(flag.kind for each in settled.withheld for flag in each.flags)),
        sources=tuple(dict.fromkeys(shown)),
        verdict=verdict.verdict if verdict else "",
        note=verdict.note if verdict else "",
        parent=story.headers.get(PARENT, ""),
        pinned=any(record.key.type == PINNED for record in records),
    )


def wanted_row(records: Sequence[Record], wanted: Wanted) -> RunRow | None:
    row = row_of(records)
    if row is None or wanted.everything:
        return row
    took = row.took_s or 0.0
    fits = (
        all(getattr(wanted, name) in ("", getattr(row, name)) for name in _SAME)
        and (not wanted.flag or wanted.flag in row.flags)
        and (not wanted.source or any(source.endswith(wanted.source) for source in row.sources))
        and wanted.verdict in ("", row.verdict, "any" if row.verdict else "")
        and (not wanted.text or _says(story_of(records), wanted.text))
        and wanted.since <= row.asked_at <= (wanted.until or row.asked_at)
        and wanted.slower <= took <= (wanted.faster or took)
    )
    return row if fits else None


def _says(story: RunStory, text: str) -> bool:
    said = f"{story.question.question}\n{story.settled.answer if story.settled else ''}"
    return text.casefold() in said.casefold()


def ranked(rows: Iterable[RunRow], sort: str) -> list[RunRow]:
    """The rows by one of SORTS, the highest first; a row without a value is last."""
    return sorted(rows, key=lambda row: -(getattr(row, sort) or 0.0))


def of_runs(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.key.run_id, []).append(record)
    return found
