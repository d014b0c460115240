"""Two statements of different documents that agree except in one stretch, where the two stretches contradict each other.

Most near copies in real documentation are about two things: neighbouring rows and items, the same step for two programs, the same
clause of two laws. The beginning of a statement, its title and its headings name its subject: a difference there is no conflict.
"""

from typing import Final

from actors.evidence.near_copies import NearCopy, near_copy
from actors.evidence.statements import Claim
from actors.evidence.thresholds import NAME_AGREEMENT_SHARE, NAME_CONTEXT_WORDS, TURN_CONTEXT_WORDS
from actors.facts.stems import stems
from index.languages.folding import normal

_BETWEEN_CELLS: Final = " | "


def contradicted(first: Claim, second: Claim) -> NearCopy | None:
    """How the second statement contradicts the first; None if it does not, or if they are about two things."""
    if first.source_id == second.source_id:
        return None
    if first.ends[0] != second.ends[0] and first.ends[1] != second.ends[1]:
        return None
    copy = near_copy(first.text, second.text, first.language)
    return copy if copy and not _of_two_things(copy, first, second) else None


def _of_two_things(copy: NearCopy, first: Claim, second: Claim) -> bool:
    fewest = NAME_CONTEXT_WORDS if copy.turn == "other" else TURN_CONTEXT_WORDS
    if copy.before + copy.after < fewest or in_key(first.text, copy.first) or in_key(second.text, copy.second):
        return True
    if copy.turn in ("negation", "force"):
        return False
    if copy.turn == "other" and copy.share < NAME_AGREEMENT_SHARE:
        return True
    if _named_above(copy.first, first, second) or _named_above(copy.second, second, first):
        return True
    opening = not copy.before or (copy.set_off and copy.before == 1)
    return opening and not first.beside & second.beside


def in_key(text: str, stretch: str) -> bool:
    """Whether a stretch is in the first cell of a row, which names the subject of the row."""
    key, between, _ = text.partition(_BETWEEN_CELLS)
    return bool(between and stretch) and normal(stretch) in normal(key)


def _named_above(stretch: str, one: Claim, other: Claim) -> bool:
    """Whether its title or headings name the difference, and those of the other do not."""
    named = {stem.stem for stem in stems(stretch)} & one.about
    return bool(other.about) and bool(named - other.about)
