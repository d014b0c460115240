"""The result of a check as every interface gives it: each sentence with its verdict and its span."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import msgspec
from groundwire.wire import CheckedSpan

type Verdict = Literal["verified", "contradicted", "unverified", "not_covered", "no_claim"]

VERDICTS: tuple[Verdict, ...] = ("verified", "contradicted", "unverified", "not_covered", "no_claim")
#: Those of sentences that a reader should look at, from the worst.
FINDINGS = VERDICTS[1:4]


class CheckedSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence without markup and citation marks, from the characters `start..end` of the text.

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
    counts: dict[Verdict, int]
    snapshot: str = ""

    @property
    def findings(self) -> list[CheckedSentence]:
        """The sentences that a reader should look at, from the worst."""
        return [one for verdict in FINDINGS for one in self.sentences if one.verdict == verdict]


def report_of(sentences: Iterable[CheckedSentence], snapshot: str = "") -> CheckReport:
    every = tuple(sentences)
    counts = Counter(sentence.verdict for sentence in every)
    return CheckReport(sentences=every, counts={verdict: counts[verdict] for verdict in VERDICTS}, snapshot=snapshot)


def disputed(text: str, words: str) -> tuple[str, str, str]:
    """The text before the words in dispute, the words as the text has them, and the text after them."""
    at = text.lower().find(words.lower()) if words and len(text.lower()) == len(text) else -1
    return (text, "", "") if at < 0 else (text[:at], text[at : at + len(words)], text[at + len(words) :])
