"""Choose what to show for a question among the blocks of the passages found, with the probability that it answers.

The units of all passages are ranked by learned weights (features.py). The likeliest are shown, as far as MOST lets; a second,
logistic model says how probable it is that they answer (signs.py). A question of several parts is chosen for in follow_ups.py;
what is out of date in in_force.py; what becomes of a choice in actors/selecting/chosen.py.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import mul

import msgspec
from msgspec.structs import replace

from actors.choosing.aliases import aliases, listed
from actors.choosing.asked import Asked, has_telephone, holds, read_question, telephone_terms, tells_time
from actors.choosing.features import FEATURES, Read, add_nearness, lacking, read_units, values, with_terms, words_of
from actors.choosing.in_force import changes, in_force, warnings
from actors.choosing.rows import MOST_OF_ROW, TOLD, look_up
from actors.choosing.signs import DEEP, LEAST_SHARE, Ranked, lacks_measure, probability, signs
from actors.choosing.undone import NOTHING, Undone, asks_leave, undone
from actors.choosing.units import LONG_STEPS, MAIL, MOST, Unit, units_of
from actors.choosing.weights import Weights, given_weights, weights
from actors.evidence.spans import Slice
from bus.wire.parts import Collection, Passage, Question, Span
from index.languages.negation import excludes, is_negated
from index.languages.words import terms
from index.text.passages import weigh
from index.text.units import STOPS, says_nothing

#: How many units are shown at most; a list counts as one.
MOST_UNITS = 5
#: A unit of another section than the best one's, or a row where the best one is none, also needs that part of its share.
_BESIDE = 0.07
#: A choice is clear if what it shows has at least this share of the probability.
CLEAR_SHARE = 0.6
#: In the scores of the ranking: what counts against a row that has what the question denies, and for a row that lacks it.
DENIED, LACKS = 6.0, 2.0
#: What a sentence with a full stop has more than a line without one, where the sentence of a unit that answers is chosen.
_ENDS = 0.25
#: What counts against a row without a column that is asked for, where the question is whether something is allowed.
NO_RULE = 6.0
_COLUMN = FEATURES.index("row_column")
#: What a numbered step below a heading with all words of the question has more, in the scores of the ranking.
STEP = 2.0
#: Units that are no entries of a table of contents.
_DATA = ("table_row", "code")
#: Units whose neighbours speak of other things.
_ONE_OF_MANY = ("table_row", "definition")
#: A definition, or lines below this weight that end in no full stop, need that share to be shown with another unit.
_SHORT, _LEAST_ALONE = 16, 0.1
#: How many likely ones those that are shown are chosen from.
_MOST_LIKELY = 10
#: Sentences so far apart are of two paragraphs.
_NEW_PARAGRAPH = 2


class Choice(msgspec.Struct, frozen=True):
    """`ranked` best first; `shown` are those to show, as `to_show` orders them; `leads`: of each of these the sentence that
    answers, as a slice of its passage; `probability`: that what is shown answers. `compares`: the question compares two things.
    """

    asked: Asked
    ranked: tuple[Ranked, ...]
    shown: tuple[Ranked, ...]
    leads: tuple[Slice, ...]
    probability: float
    compares: bool = False

    @property
    def clear(self) -> bool:
        """Whether no other units are nearly as likely as those that are shown."""
        return sum(each.share for each in self.shown) >= CLEAR_SHARE

    def slices(self) -> list[Slice]:
        """What is shown, the best first; neighbours of one section are one slice, but for rows."""
        runs: list[list[Unit]] = []
        for unit in sorted((each.unit for each in self.shown), key=lambda unit: unit.order):
            if runs and unit.kind != "table_row" and _touch(runs[-1][-1], unit):
                runs[-1].append(unit)
            else:
                runs.append([unit])
        place = {each.unit.order: at for at, each in enumerate(self.shown)}
        runs.sort(key=lambda run: min(place[unit.order] for unit in run))
        return [(run[0].passage, run[0].start, run[-1].end) for run in runs]


def _touch(one: Unit, other: Unit) -> bool:
    """Whether one stands directly above the other, in one section."""
    near = other.order == one.order + 1
    return near and one.passage == other.passage and one.section == other.section and one.kind == other.kind


def choose(
    question: Question,
    passages: Sequence[Passage],
    collection: Collection,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    most: float = MOST,
    ranks: tuple[int, ...] = (),
) -> Choice | None:
    """What to show of `passages`, which are best first; None when they hold nothing that can be read.

    `synonyms`: other names of things, by one of their names. `most`: the weight of all that is shown. `ranks`: of the
    passages, from 0, where that is not their order.
    """
    asked = read_question(question, collection)
    asked = replace(asked, synonyms=listed(question.text, synonyms or {}), ranks=ranks)
    ranked, old = in_force(asked, rank(asked, passages, weights()), passages)
    if not ranked:
        return None
    valid = [each for each in ranked if passages[each.unit.passage].source_id not in old]
    shown = to_show(asked, valid if valid[:1] == ranked[:1] else ranked, most)
    if more := changes(asked, ranked, passages) or warnings(asked, ranked, passages):
        shown = _fitting([shown[0], *more], shown[1:], most)
    return choice_of(asked, ranked, shown, passages)


def choice_of(asked: Asked, ranked: Sequence[Ranked], shown: Sequence[Ranked], passages: Sequence[Passage]) -> Choice:
    learned = given_weights() if asked.given else weights()
    return Choice(
        asked=asked,
        ranked=tuple(ranked),
        shown=tuple(shown),
        leads=tuple(
            (each.unit.passage, *lead_of(asked.in_language(passages[each.unit.passage].language), each.read))
            for each in shown
        ),
        probability=0.0
        if shown[0].unit.order in undone(asked, (each.unit for each in ranked), passages).has
        or _says_no_more(asked, shown)
        or lacks_measure(asked, shown)
        else round(probability(signs(asked, ranked, shown, passages), learned), 3),
        compares=bool(asked.sides),
    )


def _says_no_more(asked: Asked, shown: Sequence[Ranked]) -> bool:
    """Whether what is shown for a manner or reason has hardly a word of its own."""
    new = frozenset().union(*(each.read.bag for each in shown)) - asked.terms.keys()
    return asked.kind in ("manner", "reason") and len(new) <= len(asked.terms) // 2


def choice_in(choice: Choice, evidence: Sequence[Span], passages: Sequence[Passage]) -> Choice | None:
    """The choice as if the units in that evidence had been chosen; None where it holds none."""
    shown = [each for each in choice.ranked if any(_is_in(each.unit, passages[each.unit.passage], s) for s in evidence)]
    return choice_of(choice.asked, choice.ranked, shown, passages) if shown else None


def _is_in(unit: Unit, passage: Passage, span: Span) -> bool:
    start, end = passage.char_start + unit.start, passage.char_start + unit.end
    return passage.source_id == span.source_id and start < span.source_end and span.source_start < end


def rank(asked: Asked, passages: Sequence[Passage], learned: Weights) -> list[Ranked]:
    """Every unit of the passages, best first; equals in reading order."""
    return rank_units(asked, units_of(passages), passages, learned)


def rank_units(asked: Asked, units: Sequence[Unit], passages: Sequence[Passage], learned: Weights) -> list[Ranked]:
    """The same of these units, which are cut from the passages."""
    read = without_entries(read_units(units, passages, aliases(asked, passages)), passages)
    read = _without_heads(asked, read, passages)
    if asking := telephone_terms(asked.text):
        read = [
            with_terms(each, asking) if has_telephone(each.unit.text, only_long=each.unit.kind == "table_row") else each
            for each in read
        ]
    denied = undone(asked, units, passages)
    if denied.lacks:
        read = [with_terms(each, denied.terms) if each.unit.order in denied.lacks else each for each in read]
    rows = values(asked, read, passages)
    weighing = by_place(learned)
    add_nearness(asked, read, rows, [sum(map(mul, weighing, row)) for row in rows])
    scores = copies_as_one([sum(map(mul, weighing, row)) for row in rows], read)
    scores = _steps_as_one(asked, scores, read)
    if denied is not NOTHING:
        scores = [_with_denied(score, each.unit.order, denied) for score, each in zip(scores, read, strict=True)]
    if asks_leave(asked.text, asked.language):  # what was done is no rule
        scores = [
            score - NO_RULE * (each.unit.kind == "table_row" and not row[_COLUMN])
            for score, each, row in zip(scores, read, rows, strict=True)
        ]
    highest = max((*scores, learned.none))
    odds = [math.exp(score - highest) for score in scores]
    whole = sum(odds) + math.exp(learned.none - highest)
    found = [
        Ranked(each.unit, score, chance / whole, tuple(row), each)
        for each, score, chance, row in zip(read, scores, odds, rows, strict=True)
    ]
    return sorted(found, key=lambda each: -each.score)


def copies_as_one(scores: list[float], read: Sequence[Read]) -> list[float]:
    """The scores, of units with the same words the best one's for all of them; the others are never chosen."""
    same: dict[str, list[int]] = {}
    for at, each in enumerate(read):
        same.setdefault(each.folded, []).append(at)
    for copies in same.values():
        if len(copies) > 1:
            whole = math.log(sum(math.exp(scores[at]) for at in copies))
            best = max(copies, key=scores.__getitem__)
            for at in copies:
                scores[at] = whole if at == best else -math.inf
    return scores


def _with_denied(score: float, order: int, denied: Undone) -> float:
    return score + LACKS * denied.lacks.get(order, 0) - DENIED * (order in denied.has)


def _steps_as_one(asked: Asked, scores: list[float], read: Sequence[Read]) -> list[float]:
    """The scores for a manner: the best step of a list below a heading that has the question's words has those of all."""
    lists: dict[tuple[int, int], list[int]] = {}
    for at, each in enumerate(read if asked.kind == "manner" else ()):
        if each.unit.kind == "list_item" and each.unit.text[:1].isdigit() and asked.terms.keys() <= each.context:
            lists.setdefault((each.unit.passage, each.unit.section), []).append(at)
    for steps in lists.values():
        if len(steps) > 1:
            best = max(steps, key=scores.__getitem__)
            scores[best] = STEP + math.log(sum(math.exp(scores[at]) for at in steps))
    return scores


def statistics(texts: Iterable[str], units: Sequence[Unit]) -> Collection:
    """What an index would know of passages that are in none: how rare each term of the texts is among their units."""
    bags = [words_of(unit.text).terms for unit in units]
    wanted = frozenset(itertools.chain.from_iterable(map(terms, texts)))
    most = _rarity(0, len(bags))
    return Collection(
        rarity={term: _rarity(sum(term in bag for bag in bags), len(bags)) / most for term in sorted(wanted)}
    )


def _rarity(count: int, of: int) -> float:
    return math.log(1 + (of + 1) / (count + 0.5))


def by_place(learned: Weights) -> list[float]:
    """The weights of the ranking in the order of FEATURES."""
    return [learned.ranking.get(name, 0.0) for name in FEATURES]


def without_entries(read: list[Read], passages: Sequence[Passage]) -> list[Read]:
    """The units without entries of a table of contents: those that are only the name of a file or a part of one."""
    files = (passage.source_id.rpartition("/")[2] for passage in passages)
    names = (name for each in read for name in (*each.unit.path, passages[each.unit.passage].title))
    parts = {_bare(words_of(name).folded) for name in {*files, *names}}
    return [each for each in read if each.unit.kind in _DATA or _bare(each.folded) not in parts] or read


def _without_heads(asked: Asked, read: list[Read], passages: Sequence[Passage]) -> list[Read]:
    """The units without the heads and signatures of mails, unless a person or a telephone number is asked for: the subject is a
    title, and what it dates is the mail.
    """
    if asked.kind == "person" or telephone_terms(asked.text):
        return read
    heads = [MAIL.search(passage.source_id) is not None for passage in passages]
    return [each for each in read if not (each.unit.kind == "definition" and heads[each.unit.passage])] or read


def _bare(folded: str) -> str:
    return folded.strip(" .:!?#*-–•")


def to_show(asked: Asked, ranked: Sequence[Ranked], most: float = MOST) -> list[Ranked]:
    """The likely units that fit in `most` weights, the likeliest first, with the list that the best one is of, or the rest of
    its paragraph; none that lacks a code of the question which the best one has.

    Where there is room left, what surrounds the best one in its section follows. Where the question only names a section, that
    from its beginning, in its order. Where two things are compared, what speaks of the one that the best unit leaves out comes
    before others, likely or not.
    """
    if asked.sides:
        return _of_both_sides(asked, ranked, most)
    if _names_section(asked, ranked[0].read):
        return _beginning(ranked, most)
    best = ranked[0].unit
    likely: list[Ranked] = []
    for each in ranked[:DEEP]:
        alone = each.unit.kind == "definition" or _is_short(each.unit.text)
        elsewhere = (each.unit.passage, each.unit.section) != (best.passage, best.section)
        elsewhere |= each.unit.kind == best.kind == "list_item" and each.unit.intro != best.intro
        row_beside = each.unit.kind == "table_row" != best.kind
        least = _LEAST_ALONE if likely and alone else LEAST_SHARE
        least = max(least, _BESIDE * ranked[0].share) if elsewhere or row_beside else least
        lacks = each.value("identifiers_missing") > ranked[0].value("identifiers_missing")
        if each.share >= least and not lacks:
            likely.append(each)
    likely = likely[:_MOST_LIKELY] or list(ranked[:1])
    likely[1:1] = [each for each in ranked if _goes_on(best, each.unit)]
    first = _list_around(asked, likely, ranked, most) or likely[:1]
    shown = _fitting(first, likely[1:], most)
    return [*shown, *itertools.islice(_around(shown, ranked, most), MOST_UNITS - 1 + len(first) - len(shown))]


def _goes_on(one: Unit, other: Unit) -> bool:
    """Whether the other unit is the rest of the paragraph that one begins."""
    same = one.kind == other.kind == "prose" and _touch(one, other)
    return same and other.start - one.end < _NEW_PARAGRAPH


def _names_section(asked: Asked, best: Read) -> bool:
    """Whether a question is only the name of what the best unit's section is about."""
    open_ = asked.kind in ("other", "manner") and not asked.identifiers and best.unit.kind not in _DATA
    return open_ and asked.terms.keys() <= best.context


def _beginning(ranked: Sequence[Ranked], most: float) -> list[Ranked]:
    """The best unit's section from its beginning, as far as it fits."""
    return _from_the_first(_section(ranked), most * (LONG_STEPS if _excluded(ranked[0].unit) else 1)) or [ranked[0]]


def _excluded(unit: Unit) -> bool:
    """Whether the unit stands below a heading that excludes: of exclusions none may be missing."""
    return any(map(excludes, unit.path[-1:]))


def _list_around(asked: Asked, likely: Sequence[Ranked], ranked: Sequence[Ranked], most: float) -> list[Ranked]:
    """The list around the best unit, where it fits and has the next likeliest unit; of steps or exclusions, those that fit."""
    items = (each for each in _section(ranked) if each.unit.kind == "list_item")
    # Items that follow one another are equally far from their place among all items.
    lists = itertools.groupby(enumerate(items), lambda placed: placed[1].unit.order - placed[0])
    runs = ([each for _, each in placed] for _, placed in lists)
    around = next((run for run in runs if ranked[0] in run), [])
    may_be_long = (asked.kind == "manner" and ranked[0].unit.text[:1].isdigit()) or _excluded(ranked[0].unit)
    shown = _from_the_first(around, most * (LONG_STEPS if may_be_long else 1))
    whole = len(shown) == len(around) and any(each in around for each in likely[1:2])
    steps = may_be_long or (asked.kind == "manner" and len(shown) == len(around))
    return sorted(shown, key=lambda each: each is not ranked[0]) if whole or steps else []


def _from_the_first(units: Sequence[Ranked], most: float) -> list[Ranked]:
    """Those that fit in `most` weights, from the first one on."""
    weights = itertools.accumulate(_weight(each.unit) for each in units)
    return [each for each, weight in zip(units, weights, strict=True) if weight <= most]


def _section(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The units of the best one's section in its passage, in reading order."""
    best = ranked[0].unit
    section = (each for each in ranked if (each.unit.passage, each.unit.section) == (best.passage, best.section))
    return sorted(section, key=lambda each: each.unit.order)


def _around(shown: Sequence[Ranked], ranked: Sequence[Ranked], most: float) -> Iterator[Ranked]:
    """What surrounds the best unit in its section, the nearest first, as far as it is not shown, says something and still fits.

    A row, a definition or a line of a mail's head needs no others, and next to a sentence it would answer something else; so
    would an item next to another one, and what does not stand directly above or below a list.
    """
    if shown[0].unit.kind == "table_row":
        return
    best, room = shown[0].unit, most - sum(_weight(each.unit) for each in shown)
    beside = {order + step for order in (each.unit.order for each in shown) for step in (-1, 1)}
    for each in sorted(_section(ranked), key=lambda each: abs(each.unit.order - best.order)):
        if each.unit.kind in _ONE_OF_MANY:
            continue
        if best.kind == "list_item" and (each.unit.kind == best.kind or each.unit.order not in beside):
            continue
        if each.unit.kind == "prose" and (_adds_nothing(each.unit) or each.unit.text == best.intro):
            continue
        if _weight(each.unit) <= room and not _among(each, shown):
            room -= _weight(each.unit)
            yield each


def _adds_nothing(unit: Unit) -> bool:
    """Whether a sentence is a heading, a question, a greeting or a signature."""
    return _is_short(unit.text) or says_nothing(unit.text)


@lru_cache(maxsize=4096)
def _is_short(text: str) -> bool:
    return all(weigh(line) < _SHORT and not line.rstrip().endswith(STOPS) for line in text.splitlines())


def _fitting(first: Sequence[Ranked], likely: Sequence[Ranked], most: float) -> list[Ranked]:
    """The `first` ones, and of the likely ones those that still fit."""
    taken = list(first)
    for each in likely:
        room = most - sum(_weight(one.unit) for one in taken)
        if len(taken) < MOST_UNITS - 1 + len(first) and _weight(each.unit) <= room and not _among(each, taken):
            taken.append(each)
    return taken


def _of_both_sides(asked: Asked, ranked: Sequence[Ranked], most: float) -> list[Ranked]:
    """The best unit, the best one for each side that it leaves out, however likely, and the likely ones that still fit.

    Each has half of what both sides have in common, if any unit has.
    """
    half = asked.weight_of(asked.common) / 2
    fit = [
        each for each in ranked[:DEEP] if asked.weight_of(asked.common & (each.read.bag | each.read.context)) >= half
    ]
    best, *others = fit or ranked[:DEEP]
    others = [each for each in others if _weight(each.unit) <= most - _weight(best.unit)]
    likely = [each for each in others if each.share >= LEAST_SHARE]
    return _fitting([best], [*_other_sides(asked, best, others), *likely], most)


def _other_sides(asked: Asked, best: Ranked, fit: Sequence[Ranked]) -> list[Ranked]:
    """Of each side of a comparison of which the best unit does not speak, the first that does, alone before with the other."""
    sides = [side for side in asked.sides if not _speaks(asked, best.read, side)]
    found = ([each for each in fit if _speaks(asked, each.read, side)] for side in sides)
    return [
        min(of, key=lambda each: sum(_speaks(asked, each.read, side) for side in asked.sides)) for of in found if of
    ]


def _speaks(asked: Asked, read: Read, side: frozenset[str]) -> bool:
    """Whether a unit has at least half of a side, by weight; headings count too unless they name all that is compared."""
    above = frozenset() if all(each & read.context for each in asked.sides) else read.context
    return asked.weight_of(side & (read.bag | above)) >= asked.weight_of(side) / 2


def _weight(unit: Unit) -> float:
    """What a unit weighs as shown: of a row that is too wide only a part is."""
    if unit.kind == "table_row" and unit.weight > MOST_OF_ROW:
        return TOLD
    above = unit.intro or (unit.path[-1] if unit.kind == "code" and unit.path else "")
    return unit.weight + weigh(above)


def _among(one: Ranked, others: Sequence[Ranked]) -> bool:
    """Whether one of the others has the same words."""
    return any(one.read.folded == other.read.folded for other in others)


def lead_of(asked: Asked, read: Read) -> tuple[int, int]:
    """The sentence of a unit that holds most of the question, one with its codes and one with the kind of thing asked for before
    others; of a row the cell asked for.
    """
    unit = read.unit
    if unit.kind == "table_row" and (cell := look_up(asked, unit.text).best):
        return unit.start + cell.start, unit.start + cell.end
    codes = (*asked.identifiers, *asked.likely)
    lacks = [lacking(codes, words_of(text).folded) for text in read.sentence_texts]
    stops = [unit.kind != "prose" or text.rstrip().endswith(STOPS) for text in read.sentence_texts]
    fits = [read.fit(asked, at) for at in range(len(lacks))]
    if asked.kind == "time":
        fits = [read.share(asked, at) + _dated(asked, text) for at, text in enumerate(read.sentence_texts)]
    return unit.sentences[max(range(len(lacks)), key=lambda at: (fits[at] - lacks[at] + _ENDS * stops[at], -at))]


def _dated(asked: Asked, text: str) -> float:
    """What a sentence gains by a date, which answers without a word of the question; less where it may be cancelled there."""
    told = tells_time(text) and holds("time", text, asked.text)
    return (0.4 if is_negated(text) else 0.5) if told else 0.0
