"""The gate's terms, one commented TOML file a language, and where a text has them."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from actors.gate.normal import normal

Role = Literal[
    "duty", "recommendation", "permission", "ban", "at_least", "at_most", "absolute", "implied", "opposite", "kind"
]

_FOLDER: Final = Path(__file__).parent
# Korean terms are stems: one syllable is one only where a particle or nothing follows.
_AFTER_SHORT_HANGUL: Final = frozenset("은는이가을를의에도와과로만나들")
_IN_ENDINGS: Final = frozenset({"duty", "recommendation", "permission", "ban"})
_ARABIC_HEADS: Final = ("وال", "بال", "فال", "ال", "لل", "و", "ب", "ل", "ف")


class Sense(msgspec.Struct, frozen=True):
    """What a term says: its role, which pair or kind it is of, and which side of that."""

    role: Role
    group: int
    side: int


class Term(msgspec.Struct, frozen=True):
    start: int
    end: int
    text: str
    senses: tuple[Sense, ...]


class Lexicon(msgspec.Struct, frozen=True):
    senses: dict[str, tuple[Sense, ...]]
    longest: int
    negators: frozenset[str]
    not_negating: tuple[str, ...]
    sweeping: bool


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    negators: str
    not_negating: str
    duty: str
    recommendation: str
    permission: str
    ban: str
    at_least: str
    at_most: str
    absolute: str
    implied: str
    sweeping: bool
    opposites: tuple[str, ...]
    kinds: tuple[str, ...]


def _load(path: Path) -> Lexicon:
    read = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _File)
    senses: dict[str, list[Sense]] = {}

    def add(spelled: str, sense: Sense) -> None:
        for term in filter(None, map(str.strip, spelled.split("|"))):
            senses.setdefault(normal(term), []).append(sense)

    for role in ("duty", "recommendation", "permission", "ban", "at_least", "at_most", "absolute", "implied"):
        add(getattr(read, role), Sense(role, 0, 0))
    for group, line in enumerate(read.opposites):
        for side, spelled in enumerate(line.split(" / ")):
            add(spelled, Sense("opposite", group, side))
    for group, line in enumerate(read.kinds):
        for side, spelled in enumerate(line.split()):
            add(spelled, Sense("kind", group, side))
    frozen = {term: tuple(found) for term, found in senses.items()}
    return Lexicon(
        frozen,
        max(map(len, frozen)),
        frozenset(normal(read.negators).split()),
        tuple(normal(term).strip() for term in read.not_negating.split("|") if term.strip()),
        read.sweeping,
    )


# Read at import: a check runs on an event loop, which must never wait for a file.
_LEXICONS: Final = {path.stem: _load(path) for path in sorted(_FOLDER.glob("*.toml"))}


def lexicon(language: str) -> Lexicon:
    """The terms of `language`; those of English where it has no file."""
    return _LEXICONS.get(language, _LEXICONS["en"])


@lru_cache(maxsize=2048)
def terms(text: str, language: str) -> tuple[Term, ...]:
    """The terms of `language` in a text in normal form, in order, the longest where two begin together."""
    known = lexicon(language)
    found: list[Term] = []
    at = 0
    while at < len(text):
        term = _term_at(text, at, known, language) if text[at].isalnum() else None
        if term is not None:
            found.append(term)
        at = term.end if term is not None else at + 1
    return tuple(found)


def _term_at(text: str, at: int, known: Lexicon, language: str) -> Term | None:
    begins = at == 0 or not text[at - 1].isalnum()
    if not begins and language not in ("zh", "ko"):
        return None
    starts = [at]
    if language == "ar":
        starts += [at + len(head) for head in _ARABIC_HEADS if text.startswith(head, at)]
    for start in starts:
        for end in range(min(len(text), start + known.longest), start, -1):
            senses = known.senses.get(text[start:end])
            if senses is None or not _whole(text, start, end, language):
                continue
            # Korean endings oblige and permit inside a word (신청해야); other Korean terms are stems that begin one.
            if not begins and language == "ko":
                senses = tuple(sense for sense in senses if sense.role in _IN_ENDINGS) if end - start > 1 else ()
            if senses:
                return Term(start, end, text[start:end], senses)
    return None


def _whole(text: str, start: int, end: int, language: str) -> bool:
    """Whether what follows lets the term end there: Chinese and longer Korean stems always, others at a word's end."""
    after = text[end : end + 1]
    if language == "zh" or not after.isalnum():
        return True
    if language == "ko":
        return end - start > 1 or after in _AFTER_SHORT_HANGUL
    return False
