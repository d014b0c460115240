"""The result of a check as every interface gives it: each sentence with its verdict and its spans."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from actors.checking.spans import Candidate
from actors.checking.verdicts import Checked, Verdict


class CheckedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """`text` is the characters `start..end` of the source. `against`: its words that say otherwise than the sentence."""

    source_id: str
    title: str
    url: str
    page: int | None
    start: int
    end: int
    text: str
    against: str = ""


class CheckedSentence(msgspec.Struct, frozen=True, kw_only=True):
    """`text` is the characters `start..end` of what was checked; with a list of sentences, of that one.

    `why`: the reason of a verdict other than verified; `words`: those of the sentence in dispute. `spans`: what supports it,
    opposes it, or is nearest to it.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    why: str = ""
    words: str = ""
    spans: tuple[CheckedSpan, ...] = ()


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in order, and how many have each verdict. `snapshot`: that of the index, empty without one."""

    sentences: tuple[CheckedSentence, ...]
    counts: dict[Verdict, Annotated[int, Meta(ge=0)]]
    snapshot: str = ""


VERDICTS: tuple[Verdict, ...] = ("verified", "contradicted", "unverified", "not_covered", "no_claim")


def report_of(sentences: Iterable[CheckedSentence], snapshot: str = "") -> CheckReport:
    every = tuple(sentences)
    counts = Counter(sentence.verdict for sentence in every)
    return CheckReport(sentences=every, counts={verdict: counts[verdict] for verdict in VERDICTS}, snapshot=snapshot)


def sentence_of(checked: Checked, place: tuple[int, int], written: str) -> CheckedSentence:
    """A result at its place in the text as it was written."""
    start, end = place
    return CheckedSentence(
        text=written[start:end],
        start=start,
        end=end,
        verdict=checked.verdict,
        why=checked.why,
        words=", ".join(one.words for one in checked.opposed),
        spans=tuple(_span(one, checked) for one in checked.spans),
    )


def _span(candidate: Candidate, checked: Checked) -> CheckedSpan:
    passage = candidate.passage
    return CheckedSpan(
        source_id=passage.source_id,
        title=passage.title or passage.source_id,
        url=passage.url,
        page=passage.page,
        start=passage.char_start + candidate.start,
        end=passage.char_start + candidate.end,
        text=candidate.text,
        against=", ".join(one.instead for one in checked.opposed if one.instead),
    )
