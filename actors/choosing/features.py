"""What speaks for a unit as the answer to a question: plain features, the same in every language."""

import heapq
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from actors.choosing.aliases import Alias, is_named
from actors.choosing.asked import CODE, Asked, fine_enough, holds
from actors.choosing.rows import look_up
from actors.choosing.units import Unit
from bus.wire.parts import Passage
from index.languages import union
from index.languages.characters import fold
from index.languages.meaning import nearness
from index.languages.words import WORD, grams, terms_of
from index.model import file_words

#: In the order of a row of values; each is 0 to 1 but `length` and `steps`.
FEATURES = (
    "covered",  # share of the question's terms in the unit, its introduction, headings and title
    "form",  # in its best sentence that has the kind of thing asked for
    "identifiers_missing",  # share of the question's identifiers that it lacks
    "likely_missing",  # the same of numbers, abbreviations, and Latin words in another script
    "near",  # how near it is to the question in meaning, headings and all; of the likeliest units only, as is the next
    "rank",  # 1 / rank of its passage
    "score",  # fused score of its passage
    "heading",  # how nearly the nearest heading is the question (F1)
    "first",  # it stands first below its heading
    "define",  # a definition is asked for, and it stands first below a heading that is the term
    "copula",  # a definition is asked for, and its first words are the term and say that it is something
    "side_first",  # of two things compared it begins with one, or stands below a heading that is one, and does not name the other
    "row_key",  # share of the question in cells of the row that are what it names
    "row_column",  # how surely it asks for another cell of such a row
    "row_without_column",  # share in such cells of a row that has nothing asked for
    "starts",  # share of the question in its first words
    "length",  # log of its weight
    "row",
    "code",
    "list",
    "steps",  # code or list where a manner is asked for; -1 for a row there
    "same_language",
    "asks",  # it ends as a question or with a colon, or introduces what is below it
    "near_body",
    "top",  # covered, less the best unit's
)
_PLACE = {name: place for place, name in enumerate(FEATURES)}
#: Of so many units the nearness in meaning is computed.
LIKELIEST = 30
_STEPS = {"code": 1.0, "list_item": 1.0, "table_row": -1.0}
_BEGINNING = 60
_LONGEST_WORD = 32
_LETTERS = re.compile(r"\A\w*")
_COPULA_WITHIN = 120
#: A term that is not there counts as there in pieces beyond this share.
_PIECES_FROM = 0.3
#: The number of an item or article, which is none that a question asks for.
_NUMBERED = re.compile(
    rf"^\s*(?:(?:[-*+•–]|\d{{1,3}}[.)]|{union(lambda language: language.headings.numbered_line).pattern})\s*)+"
)
_ENDS_OPEN = re.compile(r"[:：?？؟]\s*$")


class Words(NamedTuple):
    """A text folded, and its terms."""

    folded: str
    terms: frozenset[str]


class Read(msgspec.Struct, frozen=True):
    """A unit with its words; `all` takes in what introduces it, its headings and the title."""

    unit: Unit
    bag: frozenset[str]
    context: frozenset[str]
    folded: str
    folded_all: str
    sentences: tuple[frozenset[str], ...]
    sentence_texts: tuple[str, ...]

    def share(self, asked: Asked, at: int) -> float:
        """The share of the question in one of its sentences."""
        return asked.weight_of(self.sentences[at]) / asked.whole

    def fit(self, asked: Asked, at: int) -> float:
        """The same, and 0.5 more for a sentence that has the kind of thing asked for."""
        share = self.share(asked, at)
        return share + 0.5 * (share > 0) * _has_form(asked, self.sentence_texts[at])


def read_units(units: Sequence[Unit], passages: Sequence[Passage], aliases: Sequence[Alias] = ()) -> list[Read]:
    """The units with their words; what has another name of something asked about has that name's words too."""
    read = [_read(unit, passages[unit.passage]) for unit in units]
    return [_with(each, aliases) for each in read] if aliases else read


def _with(read: Read, aliases: Sequence[Alias]) -> Read:
    above = read.folded_all[len(read.folded) :]
    own = [alias.name for alias in aliases if is_named(alias.other, read.folded)]
    other = [alias.name for alias in aliases if is_named(alias.other, above)]
    if not own and not other:
        return read
    return replace(
        read,
        bag=read.bag.union(*map(_terms, own)),
        context=read.context.union(*map(_terms, other)),
        folded=" ".join((read.folded, *own)),
        folded_all=" ".join((read.folded_all, *own, *other)),
        sentences=tuple(
            words.union(*(_terms(alias.name) for alias in aliases if is_named(alias.other, fold(text))))
            for words, text in zip(read.sentences, read.sentence_texts, strict=True)
        ),
    )


def with_terms(read: Read, more: frozenset[str]) -> Read:
    """The unit as if it, and each of its sentences, had these terms too."""
    return replace(read, bag=read.bag | more, sentences=tuple(words | more for words in read.sentences))


def _read(unit: Unit, passage: Passage) -> Read:
    sentences = tuple(passage.text[start:end] for start, end in unit.sentences)
    above = " \n ".join((*unit.path, passage.title, file_words(passage.source_id, passage.title), unit.intro))
    return Read(unit, *_words_read(sentences, above))


@lru_cache(maxsize=4096)
def _words_read(
    sentences: tuple[str, ...], above: str
) -> tuple[frozenset[str], frozenset[str], str, str, tuple[frozenset[str], ...], tuple[str, ...]]:
    """The fields of Read from `bag` on. `above`: the headings, the title and what introduces the unit."""
    own = [words_of(sentence) for sentence in sentences]
    context = words_of(above)
    folded = " \n ".join(each.folded for each in own)
    return (
        frozenset().union(*(each.terms for each in own)),
        context.terms,
        folded,
        f"{folded} \n {context.folded}",
        tuple(each.terms for each in own),
        tuple(_NUMBERED.sub("", sentence) for sentence in sentences),
    )


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    folded = fold(text)
    found = itertools.chain.from_iterable(map(terms_of, WORD.findall(folded)))
    return Words(folded, frozenset((*found, *CODE.findall(folded))))


def _terms(text: str) -> frozenset[str]:
    return words_of(text).terms


@lru_cache(maxsize=4096)
def _grams(term: str) -> tuple[str, ...]:
    return tuple(piece.removeprefix("^") for piece in frozenset(grams(term)))


def values(asked: Asked, read: Sequence[Read], passages: Sequence[Passage]) -> list[list[float]]:
    """One row for each unit, in the order of FEATURES; `near` and `near_body` are still 0."""
    rows = [_row(asked.in_language(passages[each.unit.passage].language), each, passages) for each in read]
    best = max((row[0] for row in rows), default=0.0)
    introduce = {(each.unit.passage, each.unit.intro) for each in read}
    for row, each in zip(rows, read, strict=True):
        row[_PLACE["top"]] = row[0] - best
        if (each.unit.passage, each.unit.text) in introduce:
            row[_PLACE["asks"]] = 1.0
    return rows


def add_nearness(asked: Asked, read: Sequence[Read], rows: Sequence[list[float]], scores: Sequence[float]) -> None:
    """Fill in `near` and `near_body` for the units with the highest scores; every other unit gets the least value of these."""
    least = min(heapq.nlargest(LIKELIEST, scores), default=0.0)
    likely = {at: number for number, at in enumerate(at for at, score in enumerate(scores) if score >= least)}
    texts = [*(read[at].folded_all for at in likely), *(read[at].folded for at in likely)]
    near = nearness(asked.text, texts)
    for name, shares in (("near", near[: len(likely)]), ("near_body", near[len(likely) :])):
        place, others = _PLACE[name], min(shares, default=0.0)
        for at, row in enumerate(rows):
            row[place] = shares[likely[at]] if at in likely else others


def _row(asked: Asked, read: Read, passages: Sequence[Passage]) -> list[float]:
    unit, passage = read.unit, passages[read.unit.passage]
    whole = asked.whole
    covered = 0.0
    for term, weight in asked.terms.items():
        if term in read.bag:
            covered += weight
        else:
            covered += weight * (1.0 if term in read.context else _in_pieces(term, read.folded_all))
    shares = [asked.weight_of(words) / whole for words in read.sentences]
    fits = [share and share * _has_form(asked, text) for share, text in zip(shares, read.sentence_texts, strict=True)]
    heading = _f1(asked, unit.path[-1] if unit.path else passage.title)
    is_definition = asked.kind == "definition"
    beginning = _terms(unit.text[:_BEGINNING])
    starts = asked.weight_of(beginning) / whole
    looked = look_up(asked, unit.text) if unit.kind == "table_row" else None
    row = dict.fromkeys(FEATURES, 0.0)
    row |= {
        "covered": covered / whole,
        "form": 0.0 if looked and looked.key and not looked.column else max(fits, default=0.0),
        "identifiers_missing": lacking(asked.identifiers, read.folded_all),
        "rank": 1 / (1 + (asked.ranks[unit.passage] if asked.ranks else unit.passage)),
        "score": 0.0 if asked.given else passage.score,  # its scale is the caller's
        "heading": heading,
        "first": float(unit.first),
        "define": heading if is_definition and unit.first else 0.0,
        "starts": starts,
        "likely_missing": lacking(asked.likely, read.folded_all),
        "copula": starts if is_definition and holds(asked.kind, unit.text[:_COPULA_WITHIN], asked.text) else 0.0,
        "side_first": max((_first_of(asked, read, side) for side in asked.sides), default=0.0),
        "row_key": looked.key if looked else 0.0,
        "row_column": looked.column if looked else 0.0,
        "row_without_column": looked.key if looked and not looked.column else 0.0,
        "length": math.log(1 + unit.weight / 100),
        "row": float(unit.kind == "table_row"),
        "code": float(unit.kind == "code"),
        "list": float(unit.kind == "list_item"),
        "steps": _STEPS.get(unit.kind, 0.0) if asked.kind == "manner" else 0.0,
        "same_language": float(passage.language in (asked.language, "und", "")),
        "asks": float(bool(_ENDS_OPEN.search(unit.text))),
    }
    return list(row.values())


def _has_form(asked: Asked, text: str) -> float:
    """1 for a sentence that has the kind of thing asked for, 0.5 for one that has it in a shorter unit of time than it names."""
    if not holds(asked.kind, text, asked.text):
        return 0.0
    return 1.0 if fine_enough(text, asked.text) else 0.5


def _in_pieces(term: str, folded: str) -> float:
    """How much of a term stands somewhere in a text: 0 to 1, and 0 below _PIECES_FROM; a function word stands in none.

    A term in Latin letters inside a word counts as much as it has of that word: "burn" is half of "burnout".
    """
    pieces = _grams(term)
    if pieces and term in folded:
        return max(_part_of_word(term, folded)) if term.isascii() else 1.0
    held = sum(map(folded.__contains__, pieces)) / (len(pieces) or 1)
    return max(held - _PIECES_FROM, 0.0)


def _part_of_word(term: str, folded: str) -> Iterator[float]:
    """The share that a term has of each word that contains it; at most _LONGEST_WORD letters on each side count."""
    for found in re.finditer(re.escape(term), folded):
        before, behind = (
            folded[max(found.start() - _LONGEST_WORD, 0) : found.start()],
            folded[found.end() : found.end() + _LONGEST_WORD],
        )
        letters = len(_LETTERS.findall(before[::-1])[0]) + len(_LETTERS.findall(behind)[0])
        yield len(term) / (len(term) + letters)


def lacking(identifiers: Sequence[str], folded: str) -> float:
    """The share of the identifiers that a folded text does not have as wholes."""
    if not identifiers:
        return 0.0
    return sum(one not in folded or not _whole(one).search(folded) for one in identifiers) / len(identifiers)


@lru_cache(maxsize=1024)
def _whole(identifier: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(identifier)}(?!\w|-\w)", re.ASCII)


def _f1(asked: Asked, heading: str) -> float:
    """How nearly a heading is the question: the harmonic mean of what each holds of the other."""
    words = _terms(heading)
    shared = asked.weight_of(words)
    if not shared:
        return 0.0
    recall = shared / asked.whole
    precision = len(words & asked.terms.keys()) / len(words)
    return 2 * precision * recall / (precision + recall)


def _first_of(asked: Asked, read: Read, side: frozenset[str]) -> float:
    """The share of a side of a comparison in a unit's first words or nearest heading, if it does not name the other side."""
    if any(other & read.bag for other in asked.sides if other != side):
        return 0.0
    whole = asked.weight_of(side) or 1.0
    texts = (read.unit.text[:_BEGINNING], *read.unit.path[-1:])
    return max(asked.weight_of(side & _terms(text)) for text in texts) / whole
