"""Read a question for choosing its answer: its terms with their weights, its identifiers, the kind of thing asked for.

Also: whether a sentence mentions a thing of that kind, or a telephone number, and whether a Chinese question names things that
the documents do not say.

Chinese has no spaces, so two characters that occur nowhere may be a missing word or the border of two words. At the ends of a
run of characters between words of grammar they are a word.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Set
from functools import cache, lru_cache
from typing import Final, Literal, get_args

import msgspec
from msgspec.structs import replace

from actors.facts.numbers.units import units_in
from bus.wire.parts import Collection, Question
from index.languages import FALLBACK, LANGUAGES, every, of, pattern, spoken, union
from index.languages.characters import fold, is_han, is_hangul
from index.languages.meaning import across_words
from index.languages.words import terms, written, written_terms
from index.text.question_words import without_question_words

Kind = Literal["reason", "count", "time", "person", "place", "definition", "manner", "limit", "yes_no", "other"]

#: In search order: more specific kinds first.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)[:-1]
# Kinds where any mention is enough; of the others, one that the question itself names does not count.
_MENTIONED: Final = ("reason", "manner", "definition", "limit", "yes_no")
#: Kinds of things that a number may be.
_NUMERIC: Final = ("count", "time", "limit")
#: The kinds of questions that may ask for a measure, which no other number answers.
_MEASURED: Final = ("count", "limit")
_ASKS: Final = {
    "phone": union(lambda language: language.questions.asks.phone),
    "price": union(lambda language: language.questions.asks.price),
    "address": union(lambda language: language.questions.asks.address),
    "duration": union(lambda language: language.questions.asks.duration),
}
_MEASURES: Final = {
    # Of an emergency service, or of seven digits and more with what divides them, but no date.
    "phone": re.compile(
        r"(?<![\d.,:/-])(?!(?:\d{4}|\d\d?)[./-]\d\d?[./-]\d)(?:(?:1(?:0[1-9]|1\d|2[0-2])|911|999)(?![\d.,:]\d)|[+(]?\d(?:[\s().\u00a0/-]{0,2}\d){6,})(?!\d)"
    ),
    "price": union(lambda language: language.questions.things.price),
    "address": union(lambda language: language.questions.things.address),
    "duration": union(lambda language: language.questions.things.duration),
}
_FREE: Final = union(lambda language: language.questions.things.free)
#: The units of time, the shortest first.
_TIMES: Final = ("second", "minute", "hour", "day", "week", "months", "year", "decade", "century")
_NUMERAL = re.compile(r"(?<![A-Za-z\d])\d+(?:[.,٫٬]\d+)*")  # behind a letter it is part of a name
#: A day or a time in digits; "3.2 m" is none.
_DATED = re.compile(r"\d[:/-]\d|\d\.\d\d(?!\d)")
_YEAR = r"\b1\d{3}\b|\b20\d{2}\b"
_CAPITALISED = r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-Ý][\w'’.-]+(?:\s+(?:{small})?\s*[A-ZÀ-Ý][\w'’.-]*)*"


def kind_of(question: str) -> Kind:
    """The kind of thing that answers `question`; `other` if nothing in it tells."""
    return _asked(question)[0]


@lru_cache(maxsize=4096)
def holds(kind: Kind, sentence: str, question: str) -> bool:
    """Whether `sentence` mentions a thing of `kind` that the question itself does not already name."""
    if kind == "other":
        return True
    _, language, measure = _asked(question)
    if measure and kind in _MEASURED:
        return _holds_measure(measure, sentence, question)
    if kind in _NUMERIC and set(_NUMERAL.findall(sentence)) - set(_NUMERAL.findall(question)):
        return True
    if kind in _MENTIONED:
        return bool(_things(kind, language).search(sentence))
    if kind == "place" and pattern(of(language).questions.things.place, re.NOFLAG).search(sentence):
        return True
    asked = question.casefold()
    return any(match.group().strip().casefold() not in asked for match in _things(kind, language).finditer(sentence))


def _holds_measure(measure: str, sentence: str, question: str) -> bool:
    """Whether a sentence has a word of the measure beside a number, or one that the question lacks; of a price, free counts."""
    _, language, _ = _asked(question)
    own, has_number = frozenset(terms(question)), bool(_things("count", language).search(sentence))
    measured = [match.group() for match in _MEASURES[measure].finditer(sentence)]
    if measure == "price":
        return (has_number and bool(measured)) or bool(_FREE.search(sentence))
    return any(has_number or own.isdisjoint(terms(word)) for word in measured)


def fine_enough(sentence: str, question: str) -> bool:
    """Whether a sentence has a length of time in the unit that the question names or in a longer one: "how many days" may be
    answered by "two weeks", hardly by "24 hours". True where the question, or a length of time there, names no known unit.
    """
    least = max(_lengths(_asking_for_time(question)), default=0)
    return not least or _longest(sentence) >= least


@lru_cache(maxsize=4096)
def _longest(sentence: str) -> int:
    """The place in _TIMES of the longest unit of a length of time there, from 1; beyond all for an unknown one, 0 for none."""
    found = (_lengths(match[0]) for match in _MEASURES["duration"].finditer(sentence))
    return max((max(each, default=len(_TIMES) + 1) for each in found), default=0)


@lru_cache(maxsize=1024)
def _lengths(text: str) -> tuple[int, ...]:
    """The places in _TIMES of the units that a text names, from 1."""
    return tuple(_TIMES.index(unit) + 1 for unit in units_in(fold(text)) if unit in _TIMES)


@lru_cache(maxsize=256)
def _asking_for_time(question: str) -> str:
    found = _ASKS["duration"].search(question) if measure_of(question) == "duration" else None
    return found[0] if found else ""


def measure_of(question: str) -> str:
    """The measure that a question asks for: "phone", "price", "address", "duration", or "" for none or another."""
    kind, _, measure = _asked(question)
    where = measure == "address" and kind in ("place", "definition")
    return measure if kind in _MEASURED or where else ""


def telephone_terms(question: str) -> frozenset[str]:
    """The terms that ask for a telephone number; empty where none is asked for."""
    found = _ASKS["phone"].search(question) if measure_of(question) == "phone" else None
    return frozenset(terms(found[0])) if found else frozenset()


def has_telephone(text: str, *, only_long: bool = False) -> bool:
    """Whether a text has what may be a telephone number. `only_long`: one of an emergency service is none."""
    return any(not only_long or len(found[0]) > len("112") for found in _MEASURES["phone"].finditer(text))


def has_address(text: str) -> bool:
    """Whether a text has a word that only a postal address has."""
    return bool(_MEASURES["address"].search(text))


def tells_time(text: str) -> bool:
    """Whether a short text has a date or a time of the day in any language; a number alone is none."""
    return bool(_DATED.search(text)) or any(_things("time", language).search(text) for language in LANGUAGES)


@lru_cache(maxsize=1024)
def _asked(question: str) -> tuple[Kind, str, str]:
    """The kind, the language whose words ask for it, and the measure that it is of; empty for none."""
    question = question.strip()
    measure = next((name for name, asks in _ASKS.items() if asks.search(question)), "")
    for kind in KINDS if measure != "phone" else ():
        for language in LANGUAGES:
            if pattern(getattr(of(language).questions.asks, kind)).search(question):
                return kind, language, measure
    return "count" if measure else "other", FALLBACK, measure


@lru_cache(maxsize=256)
def counted(question: str) -> str:
    """The term behind "how many", for a question that asks for a number; empty for others."""
    kind, language, _ = _asked(question)
    found = pattern(of(language).questions.asks.count).search(question.strip()) if kind == "count" else None
    behind = terms(question.strip()[found.end() :]) if found else ()
    return next(iter(behind), "")


@cache
def _things(kind: Kind, language: str) -> re.Pattern[str]:
    """The pattern of a thing of `kind`; a place without a preposition is any capitalised name."""
    things = of(language).questions.things
    capitalised = _CAPITALISED.format(small="|".join(things.in_names.split()))
    match kind:
        case "count":
            return pattern((_NUMERAL.pattern, *things.count))
        case "time":
            return pattern((_YEAR, *things.time))
        case "person":
            return pattern((capitalised, *things.name), re.NOFLAG)
        case "place":
            return pattern((capitalised,), re.NOFLAG)
        case _:
            return pattern(getattr(things, kind))


#: The weight of a term whose rarity is not known, and the least of any.
UNKNOWN, LEAST = 0.5, 0.05
#: What two characters across the border of two words count for, against 1 of a word.
ACROSS = 0.3
#: The rarity of what no passage has.
NOWHERE = 1.0
#: What words of the conversation count for, against 1 of the question itself.
TOPIC = 0.5

#: What must be in the answer letter by letter: an option, a path, a name in a program, a code with a digit or of one letter,
#: something quoted.
_EXACT: Final = re.compile(
    r"`([^`\n]+)`|[\"“«「]([^\"”»」\n]{2,60})[\"”»」]"
    r"|(?<![\w-])(--?[A-Za-z][\w-]*)"
    r"|(?<![\wÀ-ɏ/.-])([\w$@]+(?:[_./:]+[\w$@]+)+|[a-z]+[A-Z]\w*|[A-Za-z]+[-_]?\d[\w.-]*|\d+[A-Za-z]+\w*|[A-Z]+-\d+)(?![\wÀ-ɏ])"
    r"|(?<=[a-z] )([A-HJ-Z])(?![\w'’.&/+#-])",  # "hepatitis B"
    re.ASCII,  # what stands behind a name in Chinese or Korean is no part of it
)
#: A short code in a folded text, "e4" or "12b", which is read as two words otherwise.
CODE: Final = re.compile(r"(?<![\w.-])(?:[a-z]{1,3}\d{1,4}|\d{1,4}[a-z]{1,2})(?![\w-])", re.ASCII)
#: What most likely must be there: a number, an abbreviation.
_LIKELY: Final = re.compile(r"(?<![\wÀ-ɏ.,-])(\d+(?:[.,:]\d+)*|[A-Z][A-Z0-9]+)(?![\w-])", re.ASCII)
_LATIN = re.compile(r"(?<![\w.-])[A-Za-z][A-Za-z0-9_.+#-]*[A-Za-z0-9+#]|(?<![\w.-])[A-Z](?![\w])")

_COMPARES: Final = union(lambda language: language.questions.comparison.compares)
_SIDES: Final = tuple(map(pattern, every(lambda language: language.questions.comparison.sides)))
_TOPICS: Final = tuple(map(pattern, every(lambda language: language.questions.comparison.topics)))
_OWNER: Final = union(lambda language: language.questions.comparison.owner)


class Asked(msgspec.Struct, frozen=True):
    """`terms`: each term and its weight. `identifiers` must be in an answer, `likely` most often are; both are folded.
    `sides` are the terms of the two things compared, `common` those that both have.
    `ranks`: of the passages, from 0, where that is not their order.
    `synonyms`: folded names in the question, each with another name of the same thing. `given`: the passages came with the
    question, and no search has scored them.
    """

    text: str
    language: str
    terms: dict[str, float]
    identifiers: tuple[str, ...]
    likely: tuple[str, ...]
    kind: Kind
    sides: tuple[frozenset[str], ...]
    common: frozenset[str] = frozenset()
    ranks: tuple[int, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    given: bool = False
    variants: Mapping[str, "Asked"] = msgspec.field(default_factory=dict)

    def in_language(self, language: str) -> "Asked":
        """The question with its names as that language writes them, if it has any."""
        variant = self.variants.get(language)
        return self if variant is None else replace(variant, ranks=self.ranks)

    def weight_of(self, held: Set[str]) -> float:
        """The weight of those of its terms; in their order, since a sum of floats must not depend on that of a set."""
        return sum([weight for term, weight in self.terms.items() if term in held])

    @property
    def whole(self) -> float:
        return sum(self.terms.values()) or 1.0


def read_question(question: Question, collection: Collection) -> Asked:
    """The question's own words, and those of its topic at half their weight."""
    asked = read_text(question.text, question.language, collection, question.topic)
    variants = {
        language: replace(
            read_text(text, question.language, collection, question.topic), text=asked.text, kind=asked.kind
        )
        for language, text in collection.variants.items()
    }
    return replace(asked, given=question.contexts is not None, variants=variants)


def read_text(text: str, language: str, collection: Collection, topic: str = "") -> Asked:
    bare = without_question_words(text)
    own = dict(written_terms(bare) or written_terms(text))
    asking = _asking(language)
    own = {term: word for term, word in own.items() if (word if word.isascii() else term) not in asking} or own
    rarity = collection.rarity
    # Two characters across the border of words occur nowhere and are no missing word.
    known = [t for t in own if not (is_han(t) and rarity.get(t, 0.0) >= NOWHERE)]
    weights = {t: max(rarity.get(t, UNKNOWN), LEAST) for t in known or own}
    for term in across_words(bare) & weights.keys():
        weights[term] *= ACROSS
    weights |= dict.fromkeys(CODE.findall(fold(text)), NOWHERE)
    for term in dict.fromkeys(terms(topic)):
        if rarity.get(term, 0.0) < NOWHERE:
            weights.setdefault(term, TOPIC * max(rarity.get(term, UNKNOWN), LEAST))
    sides, common = _sides(text, weights)
    return Asked(
        text=text,
        language=language,
        terms=weights,
        identifiers=_folded(_EXACT, text),
        likely=(*_folded(_LIKELY, text), *_latin(text)),
        kind=kind_of(text),
        sides=sides,
        common=common,
    )


@cache
def _asking(language: str) -> frozenset[str]:
    """The words that ask: as written those of Latin letters, since "letter" is no form of "let", and of other scripts the terms."""
    words = spoken(language)
    listed = fold(f"{words.questions.wording.asking} {words.words.gate_words}").split()
    return frozenset(itertools.chain.from_iterable([word] if word.isascii() else terms(word) for word in listed))


def _folded(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = (next(filter(None, match.groups())) for match in pattern.finditer(text))
    return tuple(dict.fromkeys(fold(one).strip() for one in found if one.strip()))


def _latin(text: str) -> tuple[str, ...]:
    """The Latin words of a text in another script, which are names there."""
    words = _LATIN.findall(text)
    return tuple(map(fold, words)) if len("".join(words)) < sum(map(str.isalpha, text)) / 2 else ()


def named_sides(question: str) -> tuple[str, ...]:
    """The two things that a comparison compares, as it names them; empty for other questions."""
    if not _COMPARES.search(question):
        return ()
    found = next(filter(None, (split.search(question) for split in _SIDES)), None)
    return () if found is None else _with_topic(found["one"].strip(), found["two"].strip())


def _with_topic(one: str, two: str) -> tuple[str, str]:
    """The sides, each with what is compared where only one names it: "the fee at A", "at B" -> "the fee at A", "the fee at B"."""
    for topics in _TOPICS:
        first, second = topics.search(one), topics.search(two)
        if first and not second and first.start("topic") == 0:
            return one, f"{first['topic']} {_OWNER.sub('', two)}"
        if second and not first and second.start("topic"):
            return f"{one}{second['topic']}", two
    return one, two


def _sides(text: str, weights: dict[str, float]) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    """The terms of each of the two things that a question compares, without those that both have; and these. Empty for others.

    A term with what joins it to the other, as Korean writes it, is replaced by the term alone.
    """
    named = tuple(map(terms, named_sides(text)))
    for term in named[0] if named else ():
        joined = next((w for w in weights if w.startswith(term) and is_hangul(w)), term)
        if term not in weights and joined in weights:
            weights[term] = weights.pop(joined)
    one, two = (frozenset(each) & weights.keys() for each in named or ((), ()))
    return ((one - two, two - one), one & two) if one - two and two - one else ((), frozenset())


#: The share of the runs that are not said.
_MOST: Final = 0.5
_LIGHT: Final = re.compile(
    "|".join(map(re.escape, every(lambda language: language.questions.wording.light.split()))) or r"(?!)"
)


def unsaid(question: str, texts: Iterable[str], *, only_first: bool = False) -> bool:
    """Whether what the question names first, its subject, or half of all that it names is in none of the texts."""
    said = "\n".join(texts)
    runs = [run for run in written(_LIGHT.sub(" ", question)) if is_han(run[:1])]
    missing = [run for run in runs if run[:2] not in said or run[-2:] not in said]
    first = bool(runs) and runs[0][:2] not in said
    return first or (not only_first and bool(missing) and len(missing) >= _MOST * len(runs))
