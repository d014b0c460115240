"""Sentences of documents with one word changed that changes what they say, and the same sentences told truly in other ways.

The kinds are those in which answers go wrong without a number or a quotation: who it is, who does it, why, who says so,
what comes first, whether at all, of what unit, and with which reservation.
"""

import random
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from babel import Locale

from index.languages.scripts import HANGUL
from tests.lies import NEGATIONS

Lie = Literal["entity", "role", "cause", "attribution", "order", "negation", "unit", "qualifier"]
Truth = Literal["copy", "shortened", "retold", "synonym"]
LIES: tuple[Lie, ...] = get_args(Lie)
TRUTHS: tuple[Truth, ...] = get_args(Truth)

SEEN = True
UNSEEN = False

_SPACED: frozenset[str] = frozenset({"en", "fr", "es", "ar"})
_CAPITALISED: frozenset[str] = frozenset({"en", "fr", "es"})
_CAPITAL = re.compile(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*")
# Names of people, places and bodies where no capital letter shows them.
_SAID = {
    "en": re.compile(
        r"(?:[Aa]ccording to|[Cc]ited by|[Rr]eported by) (?:the )?(?P<name>[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*)|(?P<who>[A-ZÀ-Þ][\w'’-]+) (?:said|says|argued|argues|claimed|claims|stated|wrote|believed|suggested|noted)\b"
    ),
    "fr": re.compile(
        r"(?:[Ss]elon|[Dd]'après) (?:le |la |l'|les )?(?P<name>[A-ZÀ-Þ][\w'’-]+)|(?P<who>[A-ZÀ-Þ][\w'’-]+) (?:affirme|déclare|précise|estime|indique)\b"
    ),
    "es": re.compile(
        r"(?:[Ss]egún|[Dd]e acuerdo con) (?:el |la |los )?(?P<name>[A-ZÀ-Þ][\w'’-]+)|(?P<who>[A-ZÀ-Þ][\w'’-]+) (?:dijo|afirmó|afirma|sostiene|argumentó|sugirió|señaló|escribió|creía)\b"
    ),
}
_CAUSE = {
    "en": re.compile(r"(?:because of|due to|as a result of|owing to|because) (?P<why>[^,.;]{12,})$"),
    "fr": re.compile(r"(?:en raison de|à cause de|grâce à|parce que|car) (?P<why>[^,.;]{12,})$"),
    "es": re.compile(r"(?:debido a|a causa de|gracias a|porque|ya que) (?P<why>[^,.;]{12,})$"),
    "ar": re.compile(r"(?:بسبب|نتيجة|بفضل) (?P<why>[^،,.]{12,})$"),
    "ko": re.compile(r"(?:^|, )(?P<why>[^,.]{6,30}) (?:때문에|인해|덕분에)"),
    "zh": re.compile(r"(?:由于|因为)(?P<why>[^，,。]{5,20})"),
}
_CLAUSE = re.compile(r"(?<!\d)[,，、،;；] ?(?!\d)")
_PARENTHESIS = re.compile(r" ?[(（][^()（）]{3,}[)）]")
_END = re.compile(r"[.。!！]+$")


def lies(
    sentence: str, language: str, kind: Lie, names: Sequence[str], others: Sequence[str], rng: random.Random
) -> list[str]:
    """The sentence with one thing of that kind changed, in every way that is known.

    `names` may take the place of who it is and who says so, and what the sentences `others` say that of the reason.
    """
    bare = _END.sub("", sentence)
    if kind == "negation":
        return _negated(bare, language)
    if kind == "entity":
        return _other_entity(bare, language, names, rng)
    found = [
        changed for old, new in pairs(language, kind) for changed in _put(bare, old, new, language, unit=kind == "unit")
    ]
    if kind == "role":
        found += _exchanged(bare, language)
    elif kind == "attribution":
        found += _other_source(bare, language, names, rng)
    elif kind == "cause":
        found += _other_reason(bare, language, others, rng)
    elif kind == "qualifier":
        found += [left for old in _table()[language]["left_out"] for left in _put(bare, old, "", language)]
    return found


def truths(sentence: str, language: str, kind: Truth) -> list[str]:
    """The sentence as it is, without a part of it, in a frame, or with a word for another that means the same."""
    bare = _END.sub("", sentence)
    if kind == "copy":
        return [bare]
    if kind == "synonym":
        return [changed for old, new in pairs(language, "synonyms") for changed in _put(bare, old, new, language)]
    if kind == "retold":
        return [f"- {bare}", f"**{bare}**", re.sub(r"\s+", " ", bare).replace("’", "'")]
    shorter = [_PARENTHESIS.sub("", bare)] if _PARENTHESIS.search(bare) else []
    parts = _CLAUSE.split(bare)
    least = 14 if language in ("zh", "ko") else 40
    for cut in (_CLAUSE.search(bare), [*_CLAUSE.finditer(bare)][-1] if len(parts) > 2 else None):
        if cut and len(bare[: cut.start()]) >= least:
            shorter.append(bare[: cut.start()])
    return [one for one in shorter if one != bare]


@cache
def pairs(language: str, kind: str) -> tuple[tuple[str, str], ...]:
    """What stands for what, one way each."""
    found: list[tuple[str, str]] = []
    table = _table()[language]
    for line in [*(table[kind] if SEEN else ()), *(table["unseen"].get(kind, ()) if UNSEEN else ())]:
        old, new = line.removeprefix("> ").split(" / ")
        found.append((old, new))
        if not line.startswith("> "):
            found.append((new, old))
    return tuple(found)


def names_in(text: str, language: str) -> list[str]:
    """The names of a text that can be told by their looks: capitals, or a list and the countries of CLDR."""
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


def _other_entity(sentence: str, language: str, names: Sequence[str], rng: random.Random) -> list[str]:
    own = names_in(sentence, language)
    others = [name for name in names if name not in sentence and not any(one in name or name in one for one in own)]
    return [sentence.replace(name, rng.choice(others), 1) for name in own] if others else []


def _exchanged(sentence: str, language: str) -> list[str]:
    """Two names of the sentence in each other's place, unless they stand in one enumeration."""
    own = [name for name in names_in(sentence, language) if sentence.count(name) == 1]
    for one, two in zip(own, own[1:], strict=False):
        first, second = sorted((one, two), key=sentence.find)
        between = sentence[sentence.find(first) + len(first) : sentence.find(second)]
        if len(between) >= (3 if language in ("zh", "ko") else 8) and not re.search(
            r"[,，、،()]| (?:and|or|et|ou|y|o|و) ", between
        ):
            at, after = sentence.find(first), sentence.find(second)
            return [sentence[:at] + second + between + first + sentence[after + len(second) :]]
    return []


def _other_source(sentence: str, language: str, names: Sequence[str], rng: random.Random) -> list[str]:
    found = _SAID[language].search(sentence) if language in _SAID else None
    others = [name for name in names if name not in sentence]
    if not found or not others:
        return []
    group = "name" if found["name"] else "who"
    return [sentence[: found.start(group)] + rng.choice(others) + sentence[found.end(group) :]]


def _other_reason(sentence: str, language: str, others: Sequence[str], rng: random.Random) -> list[str]:
    found = _CAUSE[language].search(sentence)
    if not found:
        return []
    width = len(found["why"])
    reasons = [
        match["why"]
        for other in others
        if other != sentence and (match := _CAUSE[language].search(_END.sub("", other)))
    ]
    near = [why for why in reasons if width / 2 <= len(why) <= width * 2 and why != found["why"]]
    return [sentence[: found.start("why")] + rng.choice(near) + sentence[found.end("why") :]] if near else []


def _negated(sentence: str, language: str) -> list[str]:
    for pattern, turned in NEGATIONS[language]:
        found = re.search(pattern, sentence)
        if found:
            return [sentence[: found.start()] + found.expand(turned) + sentence[found.end() :]]
    return []


def _put(sentence: str, old: str, new: str, language: str, *, unit: bool = False) -> list[str]:
    """The sentence with `new` in the first place where `old` stands as a word; a unit stands behind a number."""
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
