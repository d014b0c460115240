"""What documents say about a claim: the sentences, items and rows of passages that share most of its words, rare ones first."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from pathlib import PurePath

from groundwire.wire import CheckedSpan

from actors.checking.claims import Claim, parts
from actors.choosing.rows import cells
from actors.evidence.section import section_of
from actors.facts.numbers.units import unit_of
from actors.facts.stems import Stem, stems
from bus.wire.parts import Passage
from index.languages.characters import HAN, normal
from index.text.sentences import CELLS
from index.text.units import units
from prompts.contracts import Evidence

type Stems = frozenset[str]
#: Space that is left of markup between Chinese characters.
_GAP = re.compile(rf"(?<=[{HAN}]) (?=[{HAN}])")
#: What may be the unit of a column, and a cell that lacks one.
_LAST_WORD = re.compile(r"([^\W\d_]+|[€$£¥%])\W*\Z")
_BARE_NUMBER = re.compile(r"[\d.,' ]*\d\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    """`text` is `start..end` of the passage's source. `heads` are above it: the file's name, the title, headings, an introduction.

    `own`: its content words; `above`: those of its heads; `around`: these, and those of the sentence before or of its item.
    """

    passage: Passage
    start: int
    end: int
    text: str
    heads: str
    own: Stems
    above: Stems
    around: Stems

    @property
    def is_row(self) -> bool:
        return CELLS in self.text

    @property
    def said(self) -> str:
        """The text; of a row, with the units that its columns are in."""
        return with_units(self.text) if self.is_row else self.text

    @property
    def there(self) -> Stems:
        return self.own | self.around

    def evidence(self, n: int) -> Evidence:
        at = self.passage
        return Evidence(n=n, source_id=at.source_id, title=at.title, text=self.said, intro=self.heads)

    def shown(self, against: str) -> CheckedSpan:
        at = self.passage
        return CheckedSpan(
            source_id=at.source_id,
            title=at.title or at.source_id,
            url=at.url,
            page=at.page,
            start=self.start,
            end=self.end,
            text=self.text,
            against=against,
        )


@lru_cache(maxsize=4096)
def with_units(row: str) -> str:
    """The row with the unit that the name of a column ends in behind each number of it: "Price EUR: 4.5 EUR"."""
    return " | ".join(
        f"{row[cell.start : cell.end].rstrip(' |')} {unit[1]}"
        if (unit := _LAST_WORD.search(cell.name)) and unit_of(normal(unit[1])) and _BARE_NUMBER.match(cell.value)
        else row[cell.start : cell.end]
        for cell in cells(row)
    )


@lru_cache(maxsize=8192)
def words_of(text: str) -> Stems:
    return frozenset(stem.stem for stem in content(text))


def content(text: str) -> tuple[Stem, ...]:
    """The content words of a text in order."""
    return stems(compared(text))


def compared(text: str) -> str:
    """A text as its words are compared, to which the places of its content words belong."""
    return _GAP.sub("", normal(text))


def spans_of(passage: Passage) -> Iterator[Candidate]:
    """The spans of one passage in order; headings and table headers are none."""
    before: Stems = frozenset()
    for unit in units(passage.text, passage.blocks, passage.char_start):
        written = passage.text[unit.start : unit.end]
        if not unit.answers:
            before = words_of(written)
            continue
        first, whole = passage.char_start + unit.start, words_of(written)
        section = section_of(passage, first, first + len(written))
        heads = "\n".join((PurePath(passage.source_id).stem, passage.title, section.intro, *section.headings))
        above = words_of(heads)
        for start, end in parts(unit, written):
            text = written[start:end]
            around = above | (before if text == written else whole)
            at = first + start
            yield Candidate(passage, at, first + end, text, heads, words_of(text), above, around)
        before = whole


def density(wanted: Stems, text: str) -> float:
    """How close together the wanted words of `text` are: their share of the words in the shortest stretch that has them all."""
    words = [stem.stem for stem in content(text)]
    needed = wanted.intersection(words)
    shortest = len(words) + 1
    last: dict[str, int] = {}
    for at, word in enumerate(words):
        if word in needed:
            last[word] = at
            if len(last) == len(needed):
                shortest = min(shortest, at - min(last.values()) + 1)
    return len(needed) / shortest


class Found:
    """The spans of some passages, to be ranked for claims.

    `coverage`: the largest share of the claim that a passage has, where the passages were searched for that claim.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.coverage = max((one.coverage for one in passages if one.coverage is not None), default=None)
        self.spans = [span for passage in passages for span in spans_of(passage)]
        self._holders = Counter(stem for span in self.spans for stem in span.own)

    def weight(self, words: Stems) -> float:
        """How rare the words are in these spans."""
        return sum(log(1 + len(self.spans) / (1 + self._holders[word])) + 0.1 for word in words)

    def nearest(self, claim: Claim, most: int) -> list[Candidate]:
        """The spans that share words with the claim, best first. What is around a span counts half, a claim's lead a fifth."""
        wanted = words_of(claim.text)
        lead = words_of(claim.lead) - wanted

        def score(span: Candidate) -> float:
            own, around = self.weight(wanted & span.own), self.weight(wanted & span.around - span.own)
            return own + around / 2 + self.weight(lead & span.own) / 5

        sharing = [span for span in self.spans if not span.own.isdisjoint(wanted | lead)]
        ranked = sorted(sharing, key=lambda span: (-score(span), len(span.own)))
        # Passages overlap, and documents copy one another: one of each text.
        return list({span.text: span for span in reversed(ranked[: 3 * most])}.values())[: -most - 1 : -1]


@lru_cache(maxsize=4)
def found_in(passages: tuple[Passage, ...]) -> Found:
    """The spans of these passages; given ones are the same for each claim of a text."""
    return Found(passages)
