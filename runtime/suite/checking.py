"""A finished run against its case: each expectation that does not hold, with what came instead."""

import re
import unicodedata
from dataclasses import dataclass

from bus.runs.run_record import RunRecord, ending
from index.text.citations import strip_markers
from runtime.suite.cases import Case, sources_of


@dataclass(frozen=True, slots=True)
class Miss:
    """`what` names the key of the case."""

    what: str
    expected: str
    found: str


def misses(case: Case, record: RunRecord, *, same_replies: bool = True) -> tuple[Miss, ...]:
    """What does not hold. `same_replies`: the model said what it said then, so the gate must catch what it caught."""
    found: list[Miss] = []
    if case.outcome is not None and record.outcome != case.outcome:
        found.append(Miss("outcome", case.outcome, ending(record.outcome, record.reason)))
    elif case.reason is not None and record.reason != case.reason:
        found.append(Miss("reason", case.reason, record.reason or "none"))
    answer = _plain(strip_markers(record.answer))
    sources = sources_of(record) if record.outcome == "answered" else tuple(p.source_id for p in record.passages)
    kinds = {flag.kind for sentence in record.withheld for flag in sentence.flags}
    for what, words, told in (
        ("says", [word for word in case.says if not _says(answer, word)], "is not in the answer"),
        ("never_says", [word for word in case.never_says if _says(answer, word)], "is in the answer"),
        ("cites", [s for s in case.cites if s not in sources], f"not among {', '.join(sources) or 'no sources'}"),
        ("never_cites", [s for s in case.never_cites if s in sources], "is among the sources"),
        ("flags", [k for k in case.flags if same_replies and k not in kinds], "the gate does not object any more"),
    ):
        found += [Miss(what, word, told) for word in words]
    return tuple(found)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _says(answer: str, word: str) -> bool:
    """Whether the answer has the word as a whole; a number is no part of another one, and letters of no Latin script may follow."""
    plain = re.escape(_plain(word))
    begins, ends = (
        r"(?<![a-z0-9.,])" if word[:1].isascii() else "",
        r"(?![a-z0-9]|[.,]\d)" if word[-1:].isascii() else "",
    )
    return re.search(begins + plain + ends, answer) is not None
