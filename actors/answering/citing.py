"""Citations that a model wrote in another way or forgot: "[Evidence 2]" is [2], a sentence without one gets that of the evidence
which has its words, and a first "No." those of the sentence after it.

Pure. The gate checks what is added here like every citation that a model writes itself.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from actors.evidence.spans import share_held
from index.languages import union
from index.languages.characters import is_han
from index.languages.meaning import nearness
from index.text.citations import markers
from prompts.contracts import Evidence

_NUMBERS: Final = r"(\d{1,3}(?:\s?[,،、&]\s?\d{1,3}){0,9})"
#: With a word before the number, which alone would be a marker; and a number in round brackets where a sentence ends.
_NAMED: Final = re.compile(
    rf"[\[［【〔(（]\s?(?:{union(lambda language: language.terms.layout.marks).pattern})\s?(?:n\s?=\s?|n[o°]\.?\s?|[#:]\s?)?"
    rf"{_NUMBERS}\s?[\]］】〕)）]",
    re.I,
)
_ROUND: Final = re.compile(rf"[(（]{_NUMBERS}[)）](?=[.。]?\s*\Z)")
_ENDS: Final = ".。…!！?？؟;；\"'”’»」』*_ \n\t"
#: Yes or no, which the next sentence bears out. A longer sentence says more than that.
_ANSWERS: Final = re.compile(
    rf"\s*(?:\*\*)?(?:{union(lambda language: language.terms.layout.answers).pattern})(?!\w)", re.I
)
_LONGEST_ANSWER: Final = 120
#: The share of a sentence, in words or meaning, that the evidence has to have which it is made to cite.
_NEAR: Final = 0.4


def with_marks(text: str, evidence: Sequence[Evidence]) -> str:
    """The sentence with its citations as markers; a number in round brackets is one only if it is that of evidence, and none of
    the evidence has it so.
    """
    text = _NAMED.sub(_marker, text)
    if markers(text):
        return text
    known = [one.n for one in evidence]
    return _ROUND.sub(
        lambda mark: mark[0] if any(mark[0] in one.text for one in evidence) else _marker(mark, known), text
    )


def _marker(mark: re.Match[str], known: Collection[int] | None = None) -> str:
    numbers = list(map(int, re.findall(r"\d+", mark[1])))
    return str(numbers) if known is None or {*numbers} <= {*known} else mark[0]


def citing(text: str, evidence: Sequence[Evidence]) -> list[str]:
    """The sentence with a citation of each evidence that is near: it has its words, or in another language its meaning."""
    texts = [one.text for one in evidence]
    shares = [max(share_held(text, said), near) for said, near in zip(texts, nearness(text, texts), strict=True)]
    ranked = sorted(zip(shares, (one.n for one in evidence), strict=True), key=lambda each: -each[0])
    return [_with_number(text, n) for share, n in ranked if share >= _NEAR]


def _with_number(text: str, n: int) -> str:
    said = text.rstrip(_ENDS)
    return f"{said}{'' if is_han(said[-1:]) else ' '}[{n}]{text[len(said) :]}"


def with_citations_of(text: str, other: str) -> str:
    """The sentence with the citations of another one, in their order."""
    for n in dict.fromkeys(number for marker in markers(other) for number in marker.numbers):
        text = _with_number(text, n)
    return text


def is_bare_answer(text: str) -> bool:
    """Whether the sentence begins with yes or no, cites nothing and is short."""
    return len(text) <= _LONGEST_ANSWER and not markers(text) and _ANSWERS.match(text) is not None
