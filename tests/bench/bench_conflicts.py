"""How often a disagreement of two documents is noticed, and how often one is reported without reason.

    uv run python -m tests.bench.bench_conflicts PASSAGES… [--each 60] [--show KIND]

PASSAGES: JSONL of `{source_id, title, text, language}`, or folders of Markdown and text. A sentence of a passage occurs twice, the
second time with one name, term, duty or negation exchanged (a conflict), or reworded, about another thing, as a neighbouring
row or item, or as an entry of a history (none).
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from groundwire.wire import Block

from actors.evidence.conflicts import conflicts_in
from actors.facts.stems import stems
from bus.wire.parts import Span
from index.languages.characters import normal
from index.text.sentences import split
from tests.lies import NEGATIONS, Passage, passages_in, tellable

SEED = 11
LATIN = ("en", "fr", "es")
NAME = re.compile(r"(?<=[a-zà-ÿ,] )[A-Z][a-zà-ÿ’'-]{2,}(?: [A-Z][a-zà-ÿ’'-]+)*")
#: A noun or name, by its neighbouring words.
TERM = {
    "en": r"(?<=\b(?:the|its) )[a-z]{5,}(?=[ ,])|(?<=\ba )[a-z]{5,}(?=[ ,])",
    "fr": r"(?<=\b(?:les|des|aux) )[a-zà-ÿ]{5,}(?=[ ,])|(?<=\b(?:le|la) )[a-zà-ÿ]{5,}(?=[ ,])",
    "es": r"(?<=\b(?:los|las|del) )[a-zà-ÿ]{5,}(?=[ ,])|(?<=\b(?:el|la) )[a-zà-ÿ]{5,}(?=[ ,])",
    "ko": r"(?<= )[가-힣]{2,5}(?=(?:을|를|에서|에게|으로) )",
    "zh": r"(?<=[，的在由为])[一-龥]{2,4}(?=[的和是，])",
    "ar": r"(?<= )ال[\u0621-\u064a]{4,}(?=[ ،])",
}
#: Each as in a text, with its replacement.
DUTIES = {
    "en": (("must", "may"), ("should", "must"), ("may", "must"), ("can", "must"), ("required", "optional")),
    "fr": (("doit", "peut"), ("doivent", "peuvent"), ("peut", "doit"), ("peuvent", "doivent"), ("devez", "pouvez")),
    "es": (("debe", "puede"), ("deben", "pueden"), ("puede", "debe"), ("pueden", "deben")),
    "ko": (("해야", "할 수"), ("해야 한다", "할 수 있다"), ("할 수 있", "해야 하"), ("의무", "권장")),
    "zh": (("必须", "可以"), ("可以", "必须"), ("应当", "可以"), ("不得", "可以"), ("需要", "可以")),
    "ar": (("يجب", "يجوز"), ("يمكن", "يجب"), ("يجوز", "يجب"), ("ينبغي", "يجوز")),
}
#: The same in other words.
SYNONYMS = {
    "en": (("many", "numerous"), ("used", "employed"), ("show", "display"), ("also", "as well"), ("about", "around"),
           ("help", "assist"), ("use", "make use of"), ("because", "since"), ("often", "frequently"), ("large", "big")),
    "fr": (("utiliser", "employer"), ("aussi", "également"), ("ainsi", "de cette manière"), ("mais", "toutefois"),
           ("afin de", "pour"), ("obtenir", "recevoir"), ("demander", "solliciter"), ("aide", "assistance")),
    "es": (("también", "asimismo"), ("usar", "utilizar"), ("grande", "extenso"), ("pero", "sin embargo"),
           ("muchos", "numerosos"), ("comenzó", "empezó"), ("obtener", "conseguir"), ("mostrar", "enseñar")),
    "ko": (("하지만", "그러나"), ("사용", "이용"), ("또한", "아울러"), ("시작", "개시"), ("때문에", "까닭에")),
    "zh": (("使用", "采用"), ("但是", "不过"), ("因为", "由于"), ("非常", "十分"), ("许多", "很多"), ("也", "亦")),
    "ar": (("أيضا", "كذلك"), ("لكن", "غير أن"), ("استخدام", "استعمال"), ("كبير", "ضخم"), ("بسبب", "نتيجة")),
}  # fmt: skip
OPENINGS = {
    "en": ("Please note: ", "As already said, "),
    "fr": ("À noter : ", "Comme déjà indiqué, "),
    "es": ("Atención: ", "Como ya se ha dicho, "),
    "ko": ("참고로 ", "앞서 말했듯이 "),
    "zh": ("请注意，", "如前所述，"),
    "ar": ("للعلم، ", "كما ذكر سابقا، "),
}
OF_ONE_THING = {
    "en": "In {}, ",
    "fr": "Pour {}, ",
    "es": "En {}, ",
    "ko": "{}의 경우 ",
    "zh": "在{}，",
    "ar": "في {}، ",
}


class Told(msgspec.Struct, frozen=True):
    """A sentence with its passage."""

    sentence: str
    title: str
    text: str
    language: str
    source: str


class Pair(msgspec.Struct, frozen=True):
    kind: str
    language: str
    conflict: bool
    spans: tuple[Span, Span]
    changed: str = ""


def told(passages: Iterable[Passage], rng: random.Random) -> dict[str, list[Told]]:
    """The sentences of each language, in random order."""
    found: dict[str, list[Told]] = defaultdict(list)
    for each in passages:
        if each.language in TERM:
            found[each.language] += [
                Told(one, each.title, each.text, each.language, each.source_id) for one in tellable(each.text)
            ]
    for sentences in found.values():
        rng.shuffle(sentences)
    return found


def span(n: int, text: str, language: str, source: str, title: str = "", kind: str = "", at: int = 0) -> Span:
    return Span(
        n=n, source_id=source, title=title, url="", text=text, source_start=at, source_end=at + len(text), language=language,
        score=1.0, blocks=(Block(start=at, end=at + len(text), kind=kind),) if kind else (),
    )  # fmt: skip


def around(one: Told) -> str:
    """The sentence with the one before and the one after it."""
    parts = [" ".join(one.text[a:b].split()) for a, b in split(one.text)]
    at = next((k for k, part in enumerate(parts) if one.sentence in part), 0)
    return " ".join(parts[max(0, at - 1) : at + 2]) if one.sentence in " ".join(parts) else one.sentence


def two(one: Told, other: str, changed: str, kind: str, rng: random.Random) -> Pair:
    """The sentence in its document, and its second telling in another: alone, or among the same neighbours."""
    first = around(one)
    second = other if rng.random() < 0.5 else first.replace(one.sentence, other)
    title = one.title if rng.random() < 0.5 else ""
    sides = (
        span(1, first, one.language, one.source, one.title),
        span(2, second, one.language, "other", title),
    )
    return Pair(kind, one.language, True, sides, changed)


def conflicting(sentences: list[Told], kind: str, rng: random.Random) -> Iterator[Pair]:
    pool = [match for one in sentences for match in _places(one, kind)]
    for one in sentences:
        for start, end, word in _places(one, kind):
            alike = [w for _, _, w in rng.sample(pool, min(len(pool), 100)) if len(w.split()) == len(word.split())]
            held = normal(one.text)
            new = next((w for w in alike if normal(w) not in held and w[:3] != word[:3]), None)
            if kind in ("duty", "negation"):
                new = word
            if new is not None and (made := _made(one, start, end, new, kind)):
                yield two(one, made, f"{one.sentence[start:end]} -> {new}", kind, rng)
                break


def _places(one: Told, kind: str) -> list[tuple[int, int, str]]:
    """The stretches of a sentence that this kind exchanges, with what they hold; for a duty with what takes its place."""
    if kind == "duty":
        edge = r"\b" if one.language not in ("ko", "zh") else ""
        return [
            (m.start(), m.end(), new)
            for old, new in DUTIES[one.language]
            for m in re.finditer(f"{edge}{old}{edge}", one.sentence)
        ][:1]
    if kind == "negation":
        return [(0, 0, "")]
    pattern = NAME if kind == "name" else re.compile(TERM[one.language])
    return [(m.start(), m.end(), m[0]) for m in pattern.finditer(one.sentence)]


def _made(one: Told, start: int, end: int, new: str, kind: str) -> str:
    if kind != "negation":
        return one.sentence[:start] + new + one.sentence[end:]
    bare = re.sub(r"[.。!！]+$", "", one.sentence)
    for pattern, turned in NEGATIONS[one.language]:
        changed = re.sub(pattern, turned, bare, count=1)
        if changed != bare:
            return changed + one.sentence[len(bare) :]
    return ""


def agreeing(sentences: list[Told], kind: str, rng: random.Random) -> Iterator[Pair]:
    names = [w for one in sentences for _, _, w in _places(one, "name" if one.language in LATIN else "term")]
    held = [frozenset(s.stem for s in stems(normal(one.sentence))) for one in sentences]
    for at, one in enumerate(sentences):
        places = (
            _places(one, "name" if one.language in LATIN else "term") if kind not in ("topic", "paraphrase") else []
        )
        sides: tuple[Span, Span] | None = None
        if kind == "topic":
            others = [k for k in range(len(sentences)) if sentences[k].source != one.source and held[k] != held[at]]
            near = max(others, key=lambda k: len(held[at] & held[k]) / (len(held[at] | held[k]) or 1))
            other = sentences[near]
            sides = (
                span(1, around(one), one.language, one.source, one.title),
                span(2, around(other), one.language, other.source, other.title),
            )
        elif kind == "paraphrase":
            other_words = _reworded(one, rng)
            if other_words != one.sentence:
                sides = two(one, other_words, "", kind, rng).spans
        elif kind == "detail":
            clause = rng.choice(sentences).sentence.split(",")[0].rstrip(".。")
            end = re.search(r"[.。!！]+$", one.sentence)
            if end:
                longer = f"{one.sentence[: end.start()]} ({clause}){end[0]}"
                sides = two(one, longer, "", kind, rng).spans
        elif places and names:
            start, end_, word = places[0]
            new = rng.choice([w for w in names if w != word] or [word])
            beside = one.sentence[:start] + new + one.sentence[end_:]
            sides = _beside(one, beside, word, new, kind)
        if sides is not None:
            yield Pair(kind, one.language, False, sides)


def _reworded(one: Told, rng: random.Random) -> str:
    said = one.sentence
    edge = r"\b" if one.language not in ("ko", "zh") else ""
    for old, new in SYNONYMS[one.language]:
        said = re.sub(f"{edge}{old}{edge}", new, said, count=1)
    if said == one.sentence or rng.random() < 0.3:
        said = rng.choice(OPENINGS[one.language]) + (said[0].lower() + said[1:] if said[1:2].islower() else said)
    return said


def _beside(one: Told, beside: str, word: str, new: str, kind: str) -> tuple[Span, Span] | None:
    """The sentence about two things: in two items or rows, on the pages of either, or in two entries of a history."""
    if word == new:
        return None
    language, far = one.language, 5000
    if kind == "items":
        return (
            span(1, one.sentence, language, one.source, one.title, "list_item"),
            span(2, beside, language, one.source, one.title, "list_item", far),
        )
    if kind == "rows":
        bare = re.sub(r"[.。]$", "", one.sentence)
        return (
            span(1, f"{word} | {bare}", language, one.source, one.title, "table_row"),
            span(2, f"{new} | {bare.replace(word, new)}", language, "other", one.title, "table_row"),
        )
    if kind == "pages":
        return (span(1, one.sentence, language, "a", word), span(2, beside, language, "b", new))
    if kind == "opening":
        opening = OF_ONE_THING[language]
        return (
            span(1, opening.format(word) + one.sentence.replace(word, "X"), language, "a", one.title),
            span(2, opening.format(new) + one.sentence.replace(word, "X"), language, "b", one.title),
        )
    return (
        span(1, f"2.4.0: {one.sentence}", language, one.source, one.title, "list_item"),
        span(2, f"2.5.0: {beside}", language, one.source, one.title, "list_item", far),
    )


CONFLICTS = ("name", "term", "duty", "negation")
NONE = ("topic", "paraphrase", "detail", "items", "rows", "pages", "opening", "history")


def planted(sentences: dict[str, list[Told]], each: int) -> Iterator[Pair]:
    for language in sorted(sentences):
        of = sentences[language][: each * 12]
        for kind in (*CONFLICTS, *NONE):
            if kind == "name" and language not in LATIN:
                continue
            rng = random.Random(f"{SEED} {language} {kind}")
            make = conflicting if kind in CONFLICTS else agreeing
            for _, pair in zip(range(each), make(of, kind, rng), strict=False):
                yield pair


def report(pairs: Iterator[Pair], show: str) -> None:
    noticed: Counter[tuple[bool, str, str]] = Counter()
    of: Counter[tuple[bool, str, str]] = Counter()
    for pair in pairs:
        claimed = conflicts_in(pair.spans)
        for kind, language in {(pair.kind, pair.language), (pair.kind, ""), ("", pair.language), ("", "")}:
            of[pair.conflict, kind, language] += 1
            noticed[pair.conflict, kind, language] += bool(claimed)
        if pair.kind == show and bool(claimed) != pair.conflict:
            print(f"- {pair.changed}\n    {pair.spans[0].text}\n    {pair.spans[1].text}\n    {claimed}")
    for conflict in (True, False):
        print("noticed" if conflict else "claimed where there is none")
        languages = sorted({language for (c, _, language) in of if c == conflict and language})
        for kind in (*(CONFLICTS if conflict else NONE), ""):
            cells = [
                f"{language or 'all'} {noticed[key]}/{of[key]}"
                for language in (*languages, "")
                if (key := (conflict, kind, language)) in of
            ]
            print(f"  {kind or 'all':11} {'  '.join(cells)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How often a disagreement of two documents is noticed.")
    parser.add_argument("passages", type=Path, nargs="+", help="JSONL of passages, or folders of text files")
    parser.add_argument("--each", type=int, default=60, help="pairs of each kind and language")
    parser.add_argument("--show", default="", help="print what went wrong with this kind")
    given = parser.parse_args()
    report(planted(told(passages_in(given.passages), random.Random(SEED)), given.each), given.show)
