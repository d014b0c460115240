"""The gate's terms, compiled from each language's `terms.toml`, and their positions in a text; and which duties, advice,
permissions, bans and limits exclude each other."""

from functools import cache, lru_cache
from typing import Final, Literal

import msgspec

from index.languages import of
from index.languages.characters import normal
from index.languages.negation import negations
from index.languages.tables.kinds import Variants, variants_in
from index.languages.tables.terms import Spelling, StandsAs

Role = Literal[
    "duty", "recommendation", "permission", "ban", "choice", "at_least", "at_most", "absolute", "implied", "opposite",
    "kind", "change", "reservation", "hedge",
]  # fmt: skip

_LISTED: Final[tuple[Role, ...]] = (
    "duty", "recommendation", "permission", "ban", "choice", "at_least", "at_most", "absolute", "implied"
)  # fmt: skip
_IN_ENDINGS: Final = frozenset({"duty", "recommendation", "permission", "ban", "choice", "change"})


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


_NEGATED: Final = {
    "duty": "choice",
    "permission": "ban",
    "ban": "permission",
    "choice": "duty",
    "recommendation": "warning",
    "at_least": "at_most",
    "at_most": "at_least",
}
_EXCLUDES: Final = {
    "duty": ("recommendation", "permission", "ban", "choice"),
    "recommendation": ("duty", "ban", "warning"),
    "permission": ("ban", "duty"),
    "ban": ("permission", "duty", "recommendation"),
    "choice": ("duty",),
    "warning": ("recommendation", "duty"),
    "at_least": ("at_most",),
    "at_most": ("at_least",),
}
SPOKEN: Final = {
    "duty": "a duty",
    "recommendation": "a recommendation",
    "permission": "a permission",
    "ban": "a ban",
    "choice": "no duty",
    "warning": "advice against",
    "at_least": "a lower limit",
    "at_most": "an upper limit",
}


class Force(msgspec.Struct, frozen=True):
    """`name` is a key of SPOKEN; a negated force has the name of its contrary."""

    name: str
    term: Term


def forces(text: str, language: str) -> list[Force]:
    """The duties, advice, permissions and bans of the text, each with its term."""
    result: list[Force] = []
    turned = negations(text, language)
    for term in terms(text, language):
        for sense in term.senses:
            if sense.role not in _NEGATED:
                continue
            # A ban with a negator of its own ("must not", 수 없, the "pas" of "ne … pas autorisé") is reversed by no other one.
            denies = any(
                term.start <= one.at < term.end
                or (one.start <= term.start < one.end and term.text.startswith(f"{one.cue} "))
                for one in turned
            )
            reversed_here = not denies and any(one.start <= term.start < one.end for one in turned)
            result.append(Force(_NEGATED[sense.role] if reversed_here else sense.role, term))
    return result


def exclude(force: str, other: str) -> bool:
    """Whether something with the one force cannot have the other."""
    return other in _EXCLUDES[force]
