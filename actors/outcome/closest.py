"""End a run with the closest passages: they are shown as passages with the matches marked, and nothing is claimed.

They replace a refusal wherever a passage is near: one with a content word of the question, one that may well answer, one in
another language that is near in meaning, or any passage when all documents are in other languages.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile, zip_longest
from typing import get_args

import msgspec
from groundwire.wire import NearPassage

from actors.choosing.aliases import in_one_name
from actors.evidence.lanes import is_foreign
from actors.evidence.section import SpanSection, section_of
from actors.evidence.spans import Slice
from actors.evidence.standing import out_of_date, replaced_in_part
from actors.outcome.refusals import ended, fit, fit_parts, refuse
from actors.question.exercise import is_exercise
from actors.question.profile import profile_of
from bus.wire.messages import AnswerRequested, AnswerSettled, Draft, PassagesReady, same_fields
from bus.wire.parts import Passage, Question, Span
from index.languages import LANGUAGES
from index.languages.meaning import NEAR_ABROAD, nearness
from index.model import file_words
from index.text.matching import content_words, matches
from index.text.question_words import without_question_words
from index.text.units import units
from prompts import notices
from prompts.vocabulary import QueryType, Reason

#: At most this many passages are shown.
MOST = 5
#: A longer passage is cut around its best unit, at the ends of blocks.
LONGEST = 1200
#: Passages are near, whatever their words, if what was chosen from them answers with this probability.
LIKELY = 0.1


def closest(
    message: PassagesReady | AnswerRequested | Draft,
    reason: Reason,
    passages: Sequence[Passage],
    *,
    best: Sequence[Slice] = (),
    notice: str = "",
    missing: tuple[str, ...] = (),
    refuse_reason: str = "",
    probability: float | None = None,
    languages: Sequence[str] = (),
) -> AnswerSettled:
    """The end of a message's run: the closest passages, best first, each once; a refusal with that reason when nothing is near.

    `best`: of each passage the sentence that answers most likely, which order the passages and where long ones are cut; the
    passages without one follow as given.
    `notice` replaces the words that say why nothing is claimed. `languages`: those of the documents, if not the question's.
    """
    question, snapshot, rounds = message.question, message.snapshot, message.rounds
    if not languages and passages:
        languages = abroad(question, passages)
    likely = bool(passages) and (probability or 0.0) >= LIKELY and not _gets_hint(question)
    if not likely and not near(question, passages, languages=languages):
        return refuse(
            question,
            reason,
            missing=missing,
            refuse_reason=refuse_reason,
            text=notice,
            snapshot=snapshot,
            rounds=rounds,
        )
    missing, refuse_reason = fit_parts(missing, question), fit(refuse_reason, question)
    words = notice or notices.nothing_sure(reason, question.language, missing=missing, refuse_reason=refuse_reason)
    known = [each for each in languages if each in LANGUAGES]
    text = notices.closest(words, question.language, languages=known)
    found = ended(question, "closest", text, reason, refuse_reason or ", ".join(missing), snapshot, rounds)
    shown = near_passages(question, passages, best)
    return AnswerSettled(settled=msgspec.structs.replace(found, passages=shown, probability=probability))


def near(question: Question, passages: Sequence[Passage], *, languages: Sequence[str] = ()) -> bool:
    """Whether a passage is near. None is for an exercise, since a passage may contain the solution."""
    if not passages or _gets_hint(question):
        return False
    return bool(languages) or _has_words(question, passages) or bool(abroad(question, passages))


def abroad(question: Question, passages: Sequence[Passage]) -> tuple[str, ...]:
    """The languages of the passages that are near in meaning; none where a passage has a word of the question."""
    others = [one for one in passages if is_foreign(question, one)]
    if not others or _has_words(question, passages):
        return ()
    return tuple(sorted({one.language for one in _near_in_meaning(question, others)}))


def _has_words(question: Question, passages: Sequence[Passage]) -> bool:
    wanted = content_words(_words_of(question))
    return any(
        matches(" ".join((one.title, file_words(one.source_id, one.title), *one.headings, one.text)), wanted)
        for one in passages
    )


def passage_of(span: Span) -> Passage:
    start, end = span.source_start, span.source_end
    return Passage(**same_fields(span, Passage), score_type="", snapshot="", char_start=start, char_end=end)


def _gets_hint(question: Question) -> bool:
    profile = profile_of(question.profile)
    styles = {profile.style(kind, question.style) for kind in get_args(QueryType)}
    return is_exercise(question) or "hint" in styles


def _words_of(question: Question) -> str:
    return in_one_name(f"{question.text} {question.topic}".strip(), profile_of(question.profile).synonyms)


def near_passages(
    question: Question, passages: Sequence[Passage], best: Sequence[Slice], *, only_best: bool = False
) -> tuple[NearPassage, ...]:
    """The first MOST passages, each stretch of a source once, with what `best` has of it first, and what is out of date behind what
    replaces it.

    `only_best`: no passage without a unit in `best`.
    """
    wanted = content_words(_words_of(question))
    unit_of: dict[int, tuple[int, int]] = {}
    for at, start, end in best:
        unit_of.setdefault(at, (start, end))
    old = out_of_date(passages, question.text)
    in_part = replaced_in_part(passages, old)
    old = {name: by for name, by in old.items() if name not in in_part}
    title = {one.source_id: one.title or one.source_id for one in passages} | {"": ""}
    result: dict[tuple[str, int, int], NearPassage] = {}
    for at in _in_force(list(unit_of) if only_best else _order(question, passages, unit_of), passages, old):
        passage = passages[at]
        if not only_best and is_foreign(question, passage) and (unit := _nearest_unit(question, passage)):
            unit_of[at] = unit
        start, end = cut(passage, unit_of.get(at), wanted)
        section = _section(passage, _below_headings(passage, start, end), end)
        headings = section.headings
        if at in unit_of:
            headings = _shared(headings, _section(passage, *unit_of[at]).headings)
        start = _below_headings(passage, start, end, headings)
        text = passage.text[start:end]
        start, end = passage.char_start + start, passage.char_start + end
        near_passage = NearPassage(
            source_id=passage.source_id,
            title=passage.title,
            url=section.url,
            page=passage.page,
            source_start=start,
            source_end=end,
            text=text,
            marked=matches(text, wanted),
            score=passage.score,
            headings=headings,
            best=_inside(unit_of.get(at), passage, start, end),
            outdated=title[old[passage.source_id]] if passage.source_id in old else msgspec.UNSET,
        )
        result.setdefault((passage.source_id, start, end), near_passage)
        if len(result) == MOST:
            break
    return tuple(result.values())


def _order(question: Question, passages: Sequence[Passage], first: Iterable[int]) -> list[int]:
    """All passages by number: `first`, then the others as given. Those in other languages that are near come in turn with the
    rest, and first where the search found one of them nearest, or no word of the question in the rest.
    """
    order = list(dict.fromkeys([*first, *range(len(passages))]))
    own = [at for at in order if not is_foreign(question, passages[at])]
    near = _near_in_meaning(question, [one for one in passages if is_foreign(question, one)])
    if not own or not near:
        return order
    others = list(map(passages.index, near))
    foreign_first = is_foreign(question, passages[0]) or not _has_words(question, [passages[at] for at in own])
    turns = zip_longest(*((others, own) if foreign_first else (own, others)))
    return list(dict.fromkeys([*(at for at in chain.from_iterable(turns) if at is not None), *order]))


def _in_force(order: Sequence[int], passages: Sequence[Passage], old: Mapping[str, str]) -> list[int]:
    """That order, but before a passage of an `old` document comes the first one of what replaces it."""
    first = {passages[at].source_id: at for at in reversed(order)}
    pairs = ((first.get(old.get(passages[at].source_id, ""), at), at) for at in order)
    return list(dict.fromkeys(chain.from_iterable(pairs)))


def _near_in_meaning(question: Question, others: Sequence[Passage]) -> list[Passage]:
    """Those of some passages in other languages that are near in meaning, in their order."""
    texts = [f"{one.title}\n{one.text}" for one in others]
    nearest = nearness(without_question_words(question.text), texts, together=True)
    return [one for one, near in zip(others, nearest, strict=True) if near >= NEAR_ABROAD]


def _nearest_unit(question: Question, passage: Passage) -> tuple[int, int] | None:
    """The stretch of the sentence or row that is nearest in meaning to a question in another language, if one is near."""
    parts = [(unit.start, unit.end) for unit in units(passage.text, passage.blocks, passage.char_start)]
    nearest = nearness(without_question_words(question.text), [passage.text[start:end] for start, end in parts])
    near, part = max(zip(nearest, parts, strict=True), default=(0.0, None))
    return part if near >= NEAR_ABROAD else None


def _section(passage: Passage, start: int, end: int) -> SpanSection:
    """The section of a stretch of the passage's text."""
    return section_of(passage, passage.char_start + start, passage.char_start + end)


def _shared(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """What both paths of headings begin with."""
    return tuple(each for each, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _inside(
    unit: tuple[int, int] | None, passage: Passage, start: int, end: int
) -> tuple[int, int] | msgspec.UnsetType:
    """A unit of a passage as a stretch of what is shown of it; UNSET where it is not all there."""
    first, last = (passage.char_start + at - start for at in unit or (0, 0))
    return (first, last) if unit and first >= 0 and last <= end - start else msgspec.UNSET


def cut(passage: Passage, unit: tuple[int, int] | None, wanted: frozenset[str]) -> tuple[int, int]:
    """The stretch of a passage to show: all of it, or as much around its best unit as fits in LONGEST.

    Without a best unit it is the stretch with most of the `wanted` words.
    """
    text = passage.text
    if len(text) <= LONGEST:
        return 0, len(text)
    parts = _parts(passage)
    if unit is None:
        first, last = _densest(text, parts, wanted)
    else:
        inside = [at for at, (start, end) in enumerate(parts) if start < unit[1] and unit[0] < end] or [0]
        first, last = inside[0], inside[-1]
    while True:
        if last + 1 < len(parts) and parts[last + 1][1] - parts[first][0] <= LONGEST:
            last += 1
        elif first and parts[last][1] - parts[first - 1][0] <= LONGEST:
            first -= 1
        else:
            break
    start, end = parts[first][0], parts[last][1]
    if end - start > LONGEST:  # a single piece: code, or a text without any full stop
        end = max(text.rfind("\n", start, start + LONGEST), text.rfind(" ", start, start + LONGEST))
        end = end if end > start else start + LONGEST
    return start, end


def _below_headings(passage: Passage, start: int, end: int, shown: Sequence[str] | None = None) -> int:
    """The start of the stretch below its first headings, by default all, that are `shown` separately; unchanged if it has only
    headings.
    """
    for block in passage.blocks:
        line = passage.text[block.start - passage.char_start : block.end - passage.char_start]
        apart = block.kind == "heading" and (shown is None or " ".join(line.lstrip("# ").split()) in shown)
        if not apart and block.end - passage.char_start > start:
            first = max(start, block.start - passage.char_start)
            return first if first < end else start
    return start


def _densest(text: str, parts: list[tuple[int, int]], wanted: frozenset[str]) -> tuple[int, int]:
    """The first and last piece of the stretch with most different words that match; of equals, the first."""
    words = [(start, text[start:end].casefold()) for start, end in matches(text, wanted)]
    best, most = (0, 0), -1
    for first, (start, _) in enumerate(parts):
        last = max([first, *(at for at in range(first, len(parts)) if parts[at][1] - start <= LONGEST)])
        different = len({word for at, word in words if start <= at < parts[last][1]})
        if different > most:
            best, most = (first, last), different
    return best


def _parts(passage: Passage) -> list[tuple[int, int]]:
    """The parts between which a passage may be cut: its blocks, and the units of blocks that are too long."""
    small = [(unit.start, unit.end) for unit in units(passage.text, passage.blocks, passage.char_start)]
    parts: list[tuple[int, int]] = []
    for block in passage.blocks:
        start = max(0, block.start - passage.char_start)
        end = min(len(passage.text), block.end - passage.char_start)
        if end - start > LONGEST:
            parts += [unit for unit in small if start <= unit[0] and unit[1] <= end]
        elif start < end:
            parts.append((start, end))
    return sorted(parts) or small or [(0, len(passage.text))]
