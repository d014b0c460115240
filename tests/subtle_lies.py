"""Sentences of documents with one word changed that changes their meaning, and true variants of the same sentences.

The kinds are those in which answers go wrong without a number or a quotation: entity, role, cause, attribution,
order, negation, unit and reservation.
"""

import random
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from babel import Locale

from index.languages.characters import HANGUL
from tests.lies import NEGATIONS

Lie = Literal["entity", "role", "cause", "attribution", "order", "negation", "unit", "qualifier"]
Truth = Literal["copy", "shortened", "retold", "synonym"]
LIES: tuple[Lie, ...] = get_args(Lie)
TRUTHS: tuple[Truth, ...] = get_args(Truth)

_SPACED: frozenset[str] = frozenset({"en", "fr", "es", "ar"})
_CAPITALISED: frozenset[str] = frozenset({"en", "fr", "es"})
_CAPITAL = re.compile(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*")
_CLAUSE = re.compile(r"(?<!\d)[,，、،;；] ?(?!\d)")
_PARENTHESIS = re.compile(r" ?[(（][^()（）]{3,}[)）]")
_END = re.compile(r"[.。!！]+$")


@dataclass(frozen=True)
class Material:
    """The material of lies: `names` for entities and attributions, and other `reasons`.

    `unseen` takes words that were not used while the gate's tables were made.
    """

    language: str
    names: Sequence[str]
    reasons: Sequence[str]
    rng: random.Random
    unseen: bool = False


def lies(sentence: str, kind: Lie, of: Material) -> list[str]:
    """The sentence with one thing of that kind changed, in every way that is known."""
    bare = _END.sub("", sentence)
    found = [
        changed
        for old, new in pairs(of.language, kind, unseen=of.unseen)
        for changed in _put(bare, old, new, of.language, unit=kind == "unit")
    ]
    match kind:
        case "negation":
            found += _negated(bare, of.language)
        case "entity":
            found += _other_entity(bare, of)
        case "role":
            found += _exchanged(bare, of.language)
        case "attribution":
            found += _other_part(bare, "said", of.names, of)
        case "cause":
            found += _other_part(bare, "why", of.reasons, of)
        case "qualifier" if not of.unseen:
            found += [left for old in _table()[of.language]["left_out"] for left in _put(bare, old, "", of.language)]
        case _:
            pass
    return found


def truths(sentence: str, language: str, kind: Truth, *, unseen: bool = False) -> list[str]:
    """The sentence as it is, without a part of it, in other typesetting, or with a word for another that means the same."""
    bare = _END.sub("", sentence)
    if kind == "copy":
        return [bare]
    if kind == "synonym":
        words = pairs(language, "synonyms", unseen=unseen)
        return [changed for old, new in words for changed in _put(bare, old, new, language)]
    if kind == "retold":
        return [f"- {bare}", f"**{bare}**", re.sub(r"\s+", " ", bare).replace("’", "'")]
    shorter = [_PARENTHESIS.sub("", bare)] if _PARENTHESIS.search(bare) else []
    cuts = [*_CLAUSE.finditer(bare)]
    least = 14 if language in ("zh", "ko") else 40
    shorter += [bare[: cut.start()] for cut in (*cuts[:1], *cuts[-1:]) if cut.start() >= least]
    return [one for one in shorter if one != bare]


@cache
def pairs(language: str, kind: str, *, unseen: bool = False) -> tuple[tuple[str, str], ...]:
    """Replacements, one way each."""
    found: list[tuple[str, str]] = []
    table = _table()[language]
    for line in (table["unseen"] if unseen else table).get(kind, ()):
        old, new = line.removeprefix("> ").split(" / ")
        found.append((old, new))
        if not line.startswith("> "):
            found.append((new, old))
    return tuple(found)


def names_in(text: str, language: str) -> list[str]:
    """The names of a text with a recognisable form: capitals, or a list and the countries of CLDR."""
    if language in _CAPITALISED:
        return [found[0] for found in _CAPITAL.finditer(text) if len(found[0]) > 3]
    return [match[0] for match in _known(language).finditer(text)]


@cache
def _known(language: str) -> re.Pattern[str]:
    countries = [name for code, name in Locale(language).territories.items() if len(code) == 2 and 2 <= len(name) <= 8]
    names = sorted({*_table()[language]["names"].split(), *countries}, key=len, reverse=True)
    around = (
        ("(?<![\\w])", "(?!\\w)") if language in _SPACED else (f"(?<![{HANGUL}])", "") if language == "ko" else ("", "")
    )
    return re.compile(f"{around[0]}(?:{'|'.join(map(re.escape, names))}){around[1]}")


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _other_entity(sentence: str, of: Material) -> list[str]:
    own = names_in(sentence, of.language)
    others = [name for name in of.names if name not in sentence and not any(one in name or name in one for one in own)]
    return [sentence.replace(name, of.rng.choice(others), 1) for name in own] if others else []


def _exchanged(sentence: str, language: str) -> list[str]:
    """Two names of the sentence exchanged, unless they are in one enumeration."""
    own = [name for name in names_in(sentence, language) if sentence.count(name) == 1]
    for one, two in pairwise(own):
        first, second = sorted((one, two), key=sentence.find)
        between = sentence[sentence.find(first) + len(first) : sentence.find(second)]
        if len(between) >= (3 if language in ("zh", "ko") else 8) and not re.search(
            r"[,，、،()]| (?:and|or|et|ou|y|o|و) ", between
        ):
            at, after = sentence.find(first), sentence.find(second)
            return [sentence[:at] + second + between + first + sentence[after + len(second) :]]
    return []


def _other_part(sentence: str, pattern: str, parts: Sequence[str], of: Material) -> list[str]:
    """The sentence with another of `parts`, about as long, for its attribution or its reason."""
    found = _pattern(of.language, pattern).search(sentence)
    if not found or found.lastgroup is None:
        return []
    start, end = found.span(found.lastgroup)
    width = end - start
    near = [
        part for part in parts if part not in sentence and (pattern == "said" or width / 2 <= len(part) <= width * 2)
    ]
    return [sentence[:start] + of.rng.choice(near) + sentence[end:]] if near else []


def reasons_in(sentences: Sequence[str], language: str) -> list[str]:
    found = (_pattern(language, "why").search(_END.sub("", sentence)) for sentence in sentences)
    return [match[match.lastgroup] for match in found if match and match.lastgroup]


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    return re.compile(_table()[language].get(name, "(?!)"))


def _negated(sentence: str, language: str) -> list[str]:
    for pattern, turned in NEGATIONS[language]:
        found = re.search(pattern, sentence)
        if found:
            return [sentence[: found.start()] + found.expand(turned) + sentence[found.end() :]]
    return []


def _put(sentence: str, old: str, new: str, language: str, *, unit: bool = False) -> list[str]:
    """The sentence with `new` for the first `old` that is a word; a unit follows a number."""
    before = r"(?:(?<=\d )|(?<=\d))" if unit else (r"(?<!\w)" if language in _SPACED or language == "ko" else "")
    if language == "ko" and len(old) == 1 and not unit:
        before, after = r"(?<= )", r"(?= )"
    else:
        after = r"(?!\w)" if language in _SPACED else ""
    if language == "ko" and re.match("에|으로써|부터|때문|따라|덕분", old):
        before = f"(?<=[{HANGUL}\\d ])"
    found = re.search(before + re.escape(old) + after, sentence, re.I)
    if not found:
        return []
    if old == "%" and found.start() and sentence[found.start() - 1] != " ":
        new = f" {new}"
    if not new:
        return [" ".join((sentence[: found.start()] + sentence[found.end() :]).split())] if found.start() else []
    put = new.capitalize() if found[0][:1].isupper() and language in _CAPITALISED else new
    return [sentence[: found.start()] + put + sentence[found.end() :]]
