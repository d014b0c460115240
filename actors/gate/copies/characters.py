"""Replaced stretches of characters in a copied sentence of a script without spaces."""

from collections.abc import Sequence

from actors.facts.numbers.text_numbers import read
from actors.gate.copies.alignment import Copy, CopyToken
from actors.gate.copies.wording import same_terms, wording
from actors.gate.thresholds import HAN_CHANGED_FEWEST, HAN_CHANGED_MOST
from index.languages.scripts import is_han


def other_characters(
    copy: Copy, mine: Sequence[CopyToken], theirs: Sequence[CopyToken], evidence: Sequence[str], language: str
) -> str:
    """The replacement and the original, if they share few characters and are not synonyms; else ""."""
    new, old = ("".join(token.text for token in some if is_han(token.text[0])) for some in (mine, theirs))
    shorter = min(len(new), len(old))
    if (
        shorter < HAN_CHANGED_FEWEST
        or max(len(new), len(old)) > HAN_CHANGED_MOST
        or len(set(new) & set(old)) * 2 >= shorter
    ):
        return ""
    knows = wording(language)
    if knows.things(new) & knows.things(old) or any(same_terms(copy, mine, theirs, language)):
        return ""
    at = theirs[0].start
    points = any(knows.points_back.fullmatch(copy.there[at - size : at]) for size in (1, 2) if at >= size)
    if (points or knows.points_back.match(old)) and any(new in read(text).text for text in evidence):
        return ""
    return f"says {new} for {old}"
