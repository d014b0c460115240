"""The part of the evidence that a sentence is about."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from actors.facts.stems import stems
from actors.gate.thresholds import NEAREST_SENTENCES, RETOLD_SHARE
from index.languages.characters import normal
from index.text.citations import strip_markers
from index.text.sentences import CELLS, split

_ENDS: Final = " \n.!?。！？؟…\"'”’»*_#-•|"


class ClosestPart(msgspec.Struct, frozen=True):
    """`text` is the closest part of the evidence, in normal form; `coverage` the share of the sentence's content words in
    its best sentence; `evidence` the index of the text it is from.
    """

    text: str
    coverage: float
    evidence: int


class EvidenceSentence(msgspec.Struct, frozen=True):
    """A sentence of the evidence, in normal form and as written."""

    text: str
    written: str
    stems: frozenset[str]


@lru_cache(maxsize=512)
def sentences_of(text: str) -> tuple[EvidenceSentence, ...]:
    """The sentences of a text of the evidence, in order; cached."""
    plain = strip_markers(text)
    parts = ((normal(plain[start:end]), plain[start:end]) for start, end in split(plain))
    return tuple(
        EvidenceSentence(sentence, written, frozenset(stem.stem for stem in stems(sentence)))
        for sentence, written in parts
    )


def is_verbatim(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether the sentence (in normal form) is, but for marks at its ends, a whole sentence of `evidence`, or cells of one row."""
    bare = sentence.strip(_ENDS)
    return any(part.text.strip(_ENDS) == bare for text in evidence for part in sentences_of(text)) or (
        CELLS in bare and any(_is_of_row(bare, row) for text in evidence for row in text.split("\n"))
    )


def _is_of_row(sentence: str, row: str) -> bool:
    """Whether the sentence has only whole cells of the row, in its order, each but the first with the name of its column."""
    mine, theirs = sentence.split(CELLS), iter(normal(row).strip(_ENDS).split(CELLS))
    return all(": " in cell for cell in mine[1:]) and all(cell in theirs for cell in mine)


def cells_of(part: str, sentence: str) -> str:
    """A line for each cell of a part of the evidence; of a row only those whose columns the sentence names, if it names any."""
    own = {stem.stem for stem in stems(sentence)}
    lines: list[str] = []
    for row in part.split("\n"):
        cells = row.split(CELLS)
        labels = [{stem.stem for stem in stems(cell.partition(": ")[0])} if ": " in cell else set() for cell in cells]
        named = [cell for cell, label in zip(cells, labels, strict=True) if label and label <= own]
        lines += named if len(cells) > 1 and named else cells
    return "\n".join(lines)


def is_near(sentence: str, evidence: Sequence[str], share: float) -> bool:
    """Whether some sentence of `evidence` has more than that share of the content words of the sentence (in normal form)."""
    wanted = frozenset(stem.stem for stem in stems(sentence))
    least = share * len(wanted)
    return any(len(wanted & part.stems) > least for text in evidence for part in sentences_of(text))


def likest(sentence: str, evidence: Sequence[str], most: int) -> list[EvidenceSentence]:
    """The sentences of `evidence` that share most content words with the sentence (in normal form), the shorter of two first."""
    wanted = frozenset(stem.stem for stem in stems(sentence))
    similar = [
        part
        for text in evidence
        for part in sentences_of(text)
        if len(wanted & part.stems) >= RETOLD_SHARE * len(wanted)
    ]
    return sorted(similar, key=lambda part: (-len(wanted & part.stems), len(part.stems)))[:most]


def closest_part(sentence: str, evidence: Sequence[str]) -> ClosestPart | None:
    """The part of `evidence` that matches the sentence (in normal form); None for evidence without sentences."""
    wanted = frozenset(stem.stem for stem in stems(sentence))
    best: tuple[int, int, int] | None = None
    for index, text in enumerate(evidence):
        for at, part in enumerate(sentences_of(text)):
            shared = len(wanted & part.stems)
            if best is None or shared > best[0]:
                best = (shared, index, at)
    if best is None:
        return None
    shared, index, at = best
    parts = sentences_of(evidence[index])
    coverage = shared / len(wanted) if wanted else 0.0
    if coverage >= RETOLD_SHARE:
        return ClosestPart(parts[at].text, coverage, index)
    near = sorted(range(len(parts)), key=lambda other: (-len(wanted & parts[other].stems), abs(other - at)))[
        :NEAREST_SENTENCES
    ]
    return ClosestPart("\n".join(parts[other].text for other in sorted(near)), coverage, index)
