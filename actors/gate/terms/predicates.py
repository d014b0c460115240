"""What a sentence says a thing is, where its evidence says that it is something else; in English and French."""

import re
from typing import Final

from actors.gate.stems import stems

_SAYS_WHAT: Final = {
    "en": re.compile(r"\b(?:is|was|are|were|as) (?:only |solely |also |exclusively )?(?:an?|the) ([^,.;:()\n]+)"),
    "fr": re.compile(
        r"\b(?:est|sont|était|étaient|fut) (?:aussi |uniquement |seulement )?(?:une?|des|le|la|les) ([^,.;:()\n]+)"
    ),
}
# The noun ends where what it is of, in or for begins.
_OF: Final = re.compile(
    r"\b(?:in|of|by|on|at|for|with|from|who|that|which|and|to|de|du|des|d'|en|dans|par|sur|pour|avec|qui|que|et)\b"
)
# Too general to be wrong of anything.
_GENERAL: Final = frozenset(
    ("plac", "spac", "kind", "typ", "sort", "form", "exampl", "work", "part", "group", "memb", "writ", "genr", "lieu")
)


def other_predicate(text: str, there: str, language: str) -> tuple[str, str] | None:
    """What `text` says its subject is and what `there` says instead, when they share no word; both in normal form."""
    pattern = _SAYS_WHAT.get(language)
    mine = pattern.search(text) if pattern else None
    theirs = pattern.search(there) if pattern and mine else None
    if not mine or not theirs:
        return None
    noun = _OF.split(mine[1])[0].strip()
    said = {stem.stem for stem in stems(noun)} - _GENERAL
    if not said or said & {stem.stem for stem in stems(there)}:
        return None
    return noun, _OF.split(theirs[1])[0].strip()
