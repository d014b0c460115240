"""Sentences of documents, verbatim and with one thing changed: a number, a negation, a quotation, a citation."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from index.languages.characters import normal, visible
from index.languages.detection import detect
from index.masking import mask
from index.text.sentences import split


class Passage(msgspec.Struct):
    """A line of a file of passages."""

    text: str
    language: str = ""
    source_id: str = ""
    title: str = ""


def passages_in(paths: Sequence[Path]) -> Iterator[Passage]:
    """The passages of JSONL files, and the paragraphs of the texts in folders, each with its language."""
    for path in paths:
        for each in _told_in(path):
            each.language = each.language or detect(each.text)
            yield each


def _told_in(path: Path) -> Iterator[Passage]:
    if path.is_file():
        yield from msgspec.json.Decoder(Passage).decode_lines(path.read_bytes())
        return
    for file in sorted(each for each in path.rglob("*") if each.suffix in (".md", ".rst", ".txt", ".mdx")):
        for at, part in enumerate(re.split(r"\n\s*\n", file.read_text("utf-8", errors="replace"))):
            if len(part) > 60 and part[0].isalpha():
                yield Passage(part, source_id=f"{file}#{at}", title=file.stem)


Kind = Literal["true", "true_quote", "number", "swapped", "negation", "quote", "citation", "miscited"]
#: `swapped` is a number of the same passage in another's place. `miscited` names another source that there is: by its words
#: alone that is a doubt and no proof, so it is counted apart.
LIES: tuple[Kind, ...] = ("number", "swapped", "negation", "quote", "citation")

SAYS = {
    "en": "The text says: “{}” {}.",
    "es": "El texto dice: «{}» {}.",
    "fr": "Le texte dit : « {} » {}.",
    "ko": "본문에는 “{}”라고 적혀 있다 {}.",
    "zh": "文中写道：“{}”{}。",
    "ar": "يقول النص: «{}» {}.",
}
#: What turns a sentence's meaning, the first that fits; whole words only where the script has spaces.
NEGATIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"\b(is|was|are|were|can|could|will|would|must|should|may|has been|had been|have been) (?!not\b)", r"\1 not "),
        (r"\b(?:did not|does not|do not|cannot|not) ", ""),
    ),
    "fr": (
        (r"\b(sont|peut|peuvent|doit|doivent|permet|permettent|reste|devra|seront|sera) (?!pas\b)", r"ne \1 pas "),
        (r"(?<!n')\b(est|était|a été|êtes|avez) (?!pas\b)", r"n'\1 pas "),
    ),
    "es": (
        (
            r"(?<!no )\b(es|son|era|eran|fue|fueron|puede|pueden|debe|deben|permite|permiten|será|está|están|hay|tiene|tienen) ",
            r"no \1 ",
        ),
        (r"\bno (?=se|es|puede|debe)", ""),
    ),
    "ko": (
        (r"할 수 있(다|습니다)$", r"할 수 없\1"),
        (r"(?<=[^지고 ]) 있(다|습니다|었다)$", r" 없\1"),
        (r"(?:하였|했)(다|습니다)$", r"하지 않았\1"),
        (r"(?:되었|됐)(다|습니다)$", r"되지 않았\1"),
        (r"한다$", "하지 않는다"),
        (r"합니다$", "하지 않습니다"),
        (r"된다$", "되지 않는다"),
        (r"됩니다$", "되지 않습니다"),
        (r"(?<=[가-힣])이다$", "이 아니다"),
        (r"(?<=[가-힣])입니다$", "이 아닙니다"),
        (r"(?<=[가-힣])이었다$", "이 아니었다"),
    ),
    "zh": (
        (r"(?<!不)(可以|应当|能够|需要|必须|允许)", r"不\1"),
        (r"(?<![但于就而还只不也都总要若凡可])是(?!否|不|因|为了)", "不是"),
        (r"(?<![没具含拥只还所享占持])有(?!关|效|些|时|人|的|一|所|限|机|利|害)", "没有"),
        (r"(?<![不社协大机学])会(?!议|员|计|社)", "不会"),
    ),
    "ar": (
        (r"(?<!\w)(يجب|يمكن|يحق|يجوز|يوجد|توجد|تعتبر|يعتبر|تشمل|يشمل)(?!\w)", r"لا \1"),
        (r"(?<!\w)كانت(?!\w)", "لم تكن"),
        (r"(?<!\w)كان(?!\w)", "لم يكن"),
    ),
}
_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,])|(?<![\w.,])\d+(?![\d]|[.,]\d)")
_WORDS = re.compile(r"[^\W\d_]{4,}")
_HAN_WORDS = re.compile(r"[\u4e00-\u9fff]{2}")
_LIST_SIGN = re.compile(r"^(?:[-*•]\s+)?(?:\d{1,3}[.)]\s+)?")
_END = re.compile(r"[.。!！]+$")
_LONG_ENOUGH = re.compile(r"^(?=.*[가-힣\u4e00-\u9fff]).{12}|^.{30}")
_CHECKED_AROUND = 14


@dataclass(frozen=True)
class Said:
    """`text` is the engine's output, without white space at its ends; `change` is the changed part of it."""

    kind: Kind
    language: str
    text: str
    change: str

    def shown_in(self, shown: str) -> bool:
        """Whether a client that was shown `shown` was shown this sentence: a lie by what it turned, a truth as a whole."""
        return visible(mask(self.change)) in shown or visible(self.change) in shown


@dataclass(frozen=True)
class Source:
    """A passage that runs as evidence number `n`."""

    n: int
    text: str


def tellable(text: str) -> list[str]:
    """The sentences of a text that are complete; a fragment would be read as the end of another."""
    found = (_LIST_SIGN.sub("", " ".join(text[start:end].split())) for start, end in split(text))
    return [
        s
        for s in found
        if _LONG_ENOUGH.search(s)
        and not s[0].islower()
        and len(s) <= 260
        and _END.search(s)
        and not re.search(r"[\[\]\"“”«»「」:：|#*]|\.\.|https?|@", s)
    ]


def told(
    sentence: str, source: Source, sources: Sequence[Source], language: str, kind: Kind, rng: random.Random
) -> Said | None:
    """The sentence changed in one way; None when it has nothing to change in that way."""
    make: dict[Kind, Callable[[], tuple[str, str] | None]] = {
        "true": lambda: (sentence, ""),
        "true_quote": lambda: (sentence, ""),
        "number": lambda: _number(sentence, sources, rng),
        "swapped": lambda: _swapped(sentence, source, rng),
        "negation": lambda: _negation(sentence, language),
        "quote": lambda: _quote(sentence, source, sources, language, rng),
        "citation": lambda: (sentence, ""),
        "miscited": lambda: (sentence, "") if len(sources) > 1 else None,
    }
    changed = make[kind]()
    if changed is None:
        return None
    body, change = changed
    marker = f"[{source.n}]"
    if kind == "citation":
        marker = f"[{len(sources) + rng.randint(1, 9)}]"
    elif kind == "miscited":
        marker = f"[{rng.choice([other.n for other in sources if other.n != source.n])}]"
    bare = _END.sub("", body).strip()
    if kind in ("quote", "true_quote"):
        text = SAYS[language].format(bare, marker)
    else:
        text = f"{bare}{marker}。" if language == "zh" else f"{bare} {marker}."
    return Said(kind, language, text, _around(text, change) if change else text)


def _around(text: str, change: str) -> str:
    at = text.find(change)
    return text[max(0, at - _CHECKED_AROUND) : at + len(change) + _CHECKED_AROUND]


def _number(sentence: str, sources: Sequence[Source], rng: random.Random) -> tuple[str, str] | None:
    numbers = list(_NUMBER.finditer(sentence))
    if not numbers:
        return None
    there = normal(" ".join(source.text for source in sources)).replace(",", "")
    found = rng.choice(numbers)
    value = int(found[0].replace(",", ""))
    for other in rng.sample([value + 1, value + 3, value + 10, value * 2, value * 10, max(1, value - 2), value + 7], 7):
        new = f"{other:,}" if "," in found[0] else str(other)
        if other != value and not re.search(rf"(?<!\d){other}(?!\d)", there):
            return sentence[: found.start()] + new + sentence[found.end() :], new
    return None


def _swapped(sentence: str, source: Source, rng: random.Random) -> tuple[str, str] | None:
    numbers = list(_NUMBER.finditer(sentence))
    others = [n for n in _NUMBER.findall(source.text) if not any(n == own[0] for own in numbers)]
    if not numbers or not others:
        return None
    found, new = rng.choice(numbers), rng.choice(others)
    return sentence[: found.start()] + new + sentence[found.end() :], new


def _negation(sentence: str, language: str) -> tuple[str, str] | None:
    bare = _END.sub("", sentence)
    for pattern, turned in NEGATIONS[language]:
        found = re.search(pattern, bare)
        if found:
            new = found.expand(turned)
            at = max(0, found.start() - 10)
            changed = bare[: found.start()] + new + bare[found.end() :]
            return changed, changed[at : found.start() + len(new)].strip()
    return None


def _quote(
    sentence: str, source: Source, sources: Sequence[Source], language: str, rng: random.Random
) -> tuple[str, str] | None:
    pattern = _HAN_WORDS if language == "zh" else _WORDS
    words = list(pattern.finditer(sentence))
    others = [w for other in sources if other.n != source.n for w in pattern.findall(other.text)]
    others = [w for w in others if normal(w) not in normal(source.text)]
    if not words or not others:
        return None
    found, new = rng.choice(words), rng.choice(others)
    return sentence[: found.start()] + new + sentence[found.end() :], new
