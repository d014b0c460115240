"""Grade what a person is shown for questions whose answers are known: right, beside the point, only close, or refused.

A question is `right` when an answer is shown and its first LONGEST weights, of what it cites or of its own text, hold a gold
string. A near miss asks for what the documents do not say; any answer to it is wrong.
"""

import bisect
import html
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from index.languages.characters import TATWEEL
from index.text.citations import strip_markers
from index.text.passages import weigh

#: The most of an answer that counts, in weights (`index.text.passages.weigh`).
LONGEST = 600.0

Grade = Literal["right", "beside", "closest", "refused", "failed"]


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier question and its answer."""

    q: str
    a: str


class GoldQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the set. `gold` are alternatives; one of `gold_also`, if any, must be in the same row.

    `contexts`: passages that are given with the question, in place of a search.
    """

    id: str
    question: str
    language: str = ""
    kind: str = ""
    collection: str = ""
    history: tuple[Exchange, ...] = ()
    contexts: tuple[str, ...] | None = None
    answerable: bool = True
    gold: tuple[str, ...] = ()
    gold_also: tuple[str, ...] = ()


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """A citation, as far as it is graded."""

    n: int
    source_id: str
    cited_text: str
    intro: str = ""
    block: str = ""


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A passage shown as close, not as an answer."""

    source_id: str
    text: str


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a question, as far as it is graded. Times in seconds; `outcome` is "failed" when there is no record."""

    run_id: str = ""
    outcome: str | None = "failed"
    reason: str | None = None
    detail: str = ""
    answer: str = ""
    confidence: str | None = None
    probability: float | None = None
    citations: tuple[Cited, ...] = ()
    passages: tuple[Near, ...] = ()
    nearby: tuple[Near, ...] = ()
    first_shown_s: float | None = None
    took_s: float | None = None


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A graded question. `grade` of a near miss is never "right"; `weight` is that of the answer without its markers."""

    asked: GoldQuestion
    seen: Seen
    grade: Grade
    helped: bool
    weight: float

    @property
    def shown(self) -> bool:
        return self.grade in ("right", "beside")

    @property
    def too_long(self) -> bool:
        return self.weight > LONGEST


def graded(asked: GoldQuestion, seen: Seen) -> Item:
    """The grade of one question; `declined` counts as refused, for nothing is shown."""
    answer = unmarked(strip_markers(seen.answer)) if seen.outcome == "answered" else ""
    grade: Grade = "failed"
    if seen.outcome == "answered":
        said = (*_spans(seen.citations), *_rows(within(answer, LONGEST), asked))
        grade = "right" if asked.answerable and _any_shows(said, asked) else "beside"
    elif seen.outcome == "closest":
        grade = "closest"
    elif seen.outcome in ("refused", "declined"):
        grade = "refused"
    close = (row for near in (*seen.passages, *seen.nearby) for row in _rows(unmarked(near.text), asked))
    helped = grade == "right" or (asked.answerable and _any_shows(close, asked))
    return Item(asked=asked, seen=seen, grade=grade, helped=helped, weight=weigh(answer))


def _any_shows(texts: Iterable[str], asked: GoldQuestion) -> bool:
    return any(shows(text, asked.gold, asked.gold_also) for text in texts)


def _spans(citations: Sequence[Cited]) -> Iterator[str]:
    """What is cited, each span once, up to LONGEST weights of all; of a table each row.

    What introduces a span stands with it as far as the cited texts leave room.
    """
    numbered: dict[int, Cited] = {}
    for cited in citations:
        numbered.setdefault(cited.n, cited)
    left = LONGEST
    texts: list[str] = []
    for cited in numbered.values():
        texts.append(within(unmarked(cited.cited_text), left))
        left -= weigh(texts[-1])
    for cited, text in zip(numbered.values(), texts, strict=True):
        intro = within(unmarked(cited.intro), left)
        left -= weigh(intro)
        for row in text.splitlines() if cited.block.startswith("table") else [text]:
            yield f"{intro}\n{row}"


def _rows(text: str, asked: GoldQuestion) -> list[str]:
    """The lines of a text for a question about a row, else the whole."""
    return text.splitlines() if asked.gold_also else [text]


_TAG = re.compile(r"<[^>]{1,200}>")
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
_MARKS = re.compile(r"[`*_\[\]\\]")
_BARE = re.compile("[0-9a-z]+")


def comparable(text: str) -> str:
    """`text` as gold strings are compared."""
    text = _LINK_TARGET.sub("", _TAG.sub(" ", html.unescape(text)))
    text = unicodedata.normalize("NFKC", text).casefold()
    text = "".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf") and c != TATWEEL)
    return " ".join(_MARKS.sub("", text).split())


def holds(text: str, gold: str) -> bool:
    """Whether `text` holds the gold string; one without a letter or digit is never held.

    Markup, case, spacing and vowel signs are set aside. A bare number or word must be whole, so that 44 is not found in 440.
    """
    have, want = comparable(text), comparable(gold)
    if _BARE.fullmatch(want):
        return re.search(f"(?<![0-9a-z]){want}(?![0-9a-z])", have) is not None
    return any(map(str.isalnum, want)) and want in have


def shows(text: str, gold: Sequence[str], also: Sequence[str] = ()) -> bool:
    """Whether one sentence or row holds a gold string and, where `also` is given, one of those too."""
    return any(holds(text, one) for one in gold) and (not also or any(holds(text, one) for one in also))


def unmarked(text: str) -> str:
    """`text` without Markdown marks, link targets and repeated spaces; line breaks stay."""
    text = _MARKS.sub("", _LINK_TARGET.sub("", text))
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def within(text: str, weights: float) -> str:
    """The beginning of an unmarked text that weighs at most `weights`."""
    return text[: bisect.bisect_right(list(itertools.accumulate(map(weigh, text))), weights)]
