"""Whether a sentence only repeats another: the same words, or the same but for a few that one of them adds."""

from collections.abc import Sequence
from functools import lru_cache

from actors.evidence.thresholds import REPEATED_SHARE
from actors.facts.reading import TOKEN
from index.languages.characters import normal
from index.languages.negation import is_negated
from index.text.citations import strip_markers


def repeats(one: str, other: str) -> bool:
    """Whether one adds nothing or hardly anything to the other: no other number, no replaced word, no denial."""
    fewer, more = sorted((_words(one), _words(other)), key=len)
    if fewer == more:
        return bool(fewer)
    if len(fewer) < REPEATED_SHARE * len(more) or is_negated(one) != is_negated(other):
        return False
    added = _added(fewer, more)
    return added is not None and not any(char.isdigit() for word in added for char in word)


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[str, ...]:
    return tuple(match[0] for match in TOKEN.finditer(normal(strip_markers(text))))


def _added(fewer: Sequence[str], more: Sequence[str]) -> list[str] | None:
    """The words of `more` besides those of `fewer`; None if it lacks one or has them in another order."""
    rest = iter(more)
    added: list[str] = []
    for word in fewer:
        for there in rest:
            if there == word:
                break
            added.append(there)
        else:
            return None
    return [*added, *rest]
