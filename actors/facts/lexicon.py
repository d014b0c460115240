"""The gate's terms, compiled from each language's `terms.toml`, and their positions in a text."""

from functools import cache, lru_cache
from typing import Final, Literal

import msgspec

from index.languages import of
from index.languages.characters import normal
from index.languages.tables.kinds import Variants, variants_in
from index.languages.tables.terms import Spelling, StandsAs

Role = Literal[
    "duty", "recommendation", "permission", "ban", "at_least", "at_most", "absolute", "implied", "opposite", "kind",
    "change", "reservation", "hedge",
]  # fmt: skip

_LISTED: Final[tuple[Role, ...]] = (
    "duty", "recommendation", "permission", "ban", "at_least", "at_most", "absolute", "implied"
)  # fmt: skip
_IN_ENDINGS: Final = frozenset({"duty", "recommendation", "permission", "ban", "change"})


class Sense(msgspec.Struct, frozen=True):
    """The meaning of a term: its role, its pair or kind, and its side of that."""

    role: Role
    group: int
    side: int


class Term(msgspec.Struct, frozen=True):
    start: int
    end: int
    text: str
    senses: tuple[Sense, ...]


class Lexicon(msgspec.Struct, frozen=True):
    """The terms of a language, compiled. `longest` is how many characters the terms that begin with a letter have at most."""

    senses: dict[str, tuple[Sense, ...]]
    longest: dict[str, int]
    stands_as: StandsAs
    prefixes: tuple[str, ...]
    after_one_letter: str


@cache
def lexicon(language: str) -> Lexicon:
    tables = of(language).terms
    senses: dict[str, list[Sense]] = {}

    def add(variants: Variants, sense: Sense) -> None:
        for term in variants_in(variants):
            senses.setdefault(normal(term), []).append(sense)

    listed = msgspec.structs.asdict(tables.forces) | msgspec.structs.asdict(tables.denials)
    for role in _LISTED:
        add(listed[role], Sense(role, 0, 0))
    for group, line in enumerate(tables.exclusive.opposites):
        for side, variants in enumerate(line.split(" / ")):
            add(variants, Sense("opposite", group, side))
    for group, line in enumerate(tables.exclusive.kinds):
        for side, variants in enumerate(line.split()):
            add(variants, Sense("kind", group, side))
    return _compiled(senses, tables.spelling)


@cache
def copy_lexicon(language: str) -> Lexicon:
    """The terms that change the claim of a copied sentence: lines of sides, and reservations."""
    tables = of(language).terms
    senses: dict[str, list[Sense]] = {}
    for group, line in enumerate(tables.copies.changes):
        for side, variants in enumerate(line.split(" / ")):
            for term in variants_in(variants):
                senses.setdefault(normal(term), []).append(Sense("change", group, side))
    for term in variants_in(tables.copies.reservations):
        senses.setdefault(normal(term), []).append(Sense("reservation", 0, 0))
    for term in variants_in(tables.copies.hedges):
        senses.setdefault(normal(term), []).append(Sense("hedge", 0, 0))
    return _compiled(senses, tables.spelling)


def _compiled(senses: dict[str, list[Sense]], spelling: Spelling) -> Lexicon:
    frozen = {term: tuple(meanings) for term, meanings in senses.items()}
    longest = {term[0]: len(term) for term in sorted(frozen, key=len)}
    return Lexicon(frozen, longest, spelling.stands_as, tuple(spelling.prefixes.split()), spelling.after_one_letter)


@lru_cache(maxsize=2048)
def terms(text: str, language: str) -> tuple[Term, ...]:
    """The terms of `language` in a text in normal form, in order; where two begin together, the longest."""
    return _terms_in(text, lexicon(language))


@lru_cache(maxsize=2048)
def copy_terms(text: str, language: str) -> tuple[Term, ...]:
    """The same for the terms that change a copied sentence."""
    return _terms_in(text, copy_lexicon(language))


def sides(term: Term) -> set[Sense]:
    """The sides of a term that changes the claim of a copied sentence."""
    return {sense for sense in term.senses if sense.role == "change"}


def _terms_in(text: str, known: Lexicon) -> tuple[Term, ...]:
    result: list[Term] = []
    at = 0
    while at < len(text):
        term = _term_at(text, at, known) if text[at].isalnum() else None
        if term is not None:
            result.append(term)
        at = term.end if term is not None else at + 1
    return tuple(result)


def _term_at(text: str, at: int, known: Lexicon) -> Term | None:
    begins = at == 0 or not text[at - 1].isalnum()
    if not begins and known.stands_as == "words":
        return None
    starts = [at, *[at + len(prefix) for prefix in known.prefixes if text.startswith(prefix, at)]]
    for start in starts:
        longest = known.longest.get(text[start : start + 1], 0)
        for end in range(min(len(text), start + longest), start, -1):
            senses = known.senses.get(text[start:end])
            if senses is None or not _whole(text, start, end, known):
                continue
            # Endings that oblige or permit are inside a word (신청해야); other stems begin one.
            if not begins and known.stands_as == "stems":
                senses = tuple(sense for sense in senses if sense.role in _IN_ENDINGS) if end - start > 1 else ()
            if senses:
                return Term(start, end, text[start:end], senses)
    return None


def _whole(text: str, start: int, end: int, known: Lexicon) -> bool:
    """Whether the term may end here: always in character-based scripts and after longer stems, else only at a word's end."""
    after = text[end : end + 1]
    if known.stands_as == "characters" or not after.isalnum():
        return True
    return known.stands_as == "stems" and (end - start > 1 or after in known.after_one_letter)
