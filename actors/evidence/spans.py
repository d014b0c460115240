"""Turn picks into numbered evidence: verbatim slices with exact offsets, long enough to read, in reading order."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from actors.evidence.copied import exactly, nearly
from actors.evidence.section import section_of
from actors.evidence.thresholds import (
    FULL_SPAN_CHARS,
    LIKE_SHARE,
    LIST_SPAN_CHARS,
    SHORT_SPAN_CHARS,
    SURE_PICK_CHARS,
    WINDOW_CHARS,
)
from bus.wire.parts import Passage, Span
from index.text.sentences import split
from index.text.units import Unit, introduced, units
from prompts.contracts import PickedSpan

_WORDS = re.compile(r"\w+")

#: start and end inside passage number `at` (from 0)
Slice = tuple[int, int, int]


def picked(passages: Sequence[Passage], picks: Iterable[PickedSpan]) -> list[Slice]:
    """The picks, each where its words are in its passage, else in another one, or nearly so, grown where short; else the unit of
    its passage that is most like it, or the whole passage. A pick of no passage is dropped.
    """
    slices = []
    for pick in picks:
        words, named = pick.text.strip(), pick.passage - 1
        others = range(len(passages)) if len(words) >= SURE_PICK_CHARS else ()
        order = [at for at in (named, *others) if 0 <= at < len(passages)]
        places = ((at, place(words, passages[at].text)) for place in (exactly, nearly) for at in order)
        found = next(((at, *place) for at, place in places if place is not None), None)
        if found is not None:
            at, start, end = found
            passage = passages[at]
            cut = units(passage.text, passage.blocks, passage.char_start) if passage.blocks else []
            slices.append((at, *(whole(cut, start, end) if cut else grow(passage.text, start, end))))
        elif words and 0 <= named < len(passages):
            slices.append((named, *_most_like(words, passages[named])))
    return slices


def _most_like(words: str, passage: Passage) -> tuple[int, int]:
    """The unit with at least half of the rough terms of these words, else the whole passage: a model may have translated it."""
    cut = [unit for unit in units(passage.text, passage.blocks, passage.char_start) if unit.answers]
    shares = [(share_held(words, passage.text[unit.start : unit.end]), -unit.start, unit.end) for unit in cut]
    share, start, end = max(shares, default=(0.0, 0, 0))
    return (-start, end) if share >= LIKE_SHARE else (0, len(passage.text))


def whole(cut: Sequence[Unit], start: int, end: int) -> tuple[int, int]:
    """A slice of a text grown to the units that it touches; short prose grows to about FULL_SPAN_CHARS.

    The introduction directly above is included, and so is the list that it introduces, as far as LIST_SPAN_CHARS.
    """
    telling = [k for k, unit in enumerate(cut) if unit.answers]
    at = [k for k in telling if cut[k].start < end and start < cut[k].end]
    if not at:  # a heading was picked: its content is below it
        at = [k for k in telling if cut[k].start >= end][:1] or telling[-1:]
    if not at:
        return start, end
    first, last = _longer(cut, at[0], at[-1])
    end = last
    for at_below, unit in enumerate(introduced(cut, last), last + 1):
        if end > last and unit.end - cut[first].start > LIST_SPAN_CHARS:
            break
        end = at_below if unit.answers else end
    last = end
    intro = cut[first].intro
    if first and intro is not None and cut[first - 1].start <= intro[0] < cut[first - 1].end:
        first -= 1
    return cut[first].start, cut[last].end


def _longer(cut: Sequence[Unit], first: int, last: int) -> tuple[int, int]:
    """The units with their neighbours, until they have SHORT_SPAN_CHARS: up to FULL_SPAN_CHARS, else up to twice that."""
    for most in (FULL_SPAN_CHARS, 2 * FULL_SPAN_CHARS):
        while cut[last].end - cut[first].start < SHORT_SPAN_CHARS:
            if _goes_on(cut, last, last + 1) and cut[last + 1].end - cut[first].start <= most:
                last += 1
            elif _goes_on(cut, first - 1, first) and cut[last].end - cut[first - 1].start <= most:
                first -= 1
            else:
                break
    return first, last


def _goes_on(cut: Sequence[Unit], one: int, other: int) -> bool:
    """Whether one unit goes on with the other below it, as prose or as items of one list, and the other introduces nothing."""
    if one < 0 or other >= len(cut) or introduced(cut, other):
        return False
    return cut[one].kind == cut[other].kind and cut[one].kind in ("prose", "quotation", "list_item")


def grow(text: str, start: int, end: int) -> tuple[int, int]:
    """A slice under SHORT_SPAN_CHARS characters grown to about FULL_SPAN_CHARS, to sentence ends where that fits."""
    if end - start >= SHORT_SPAN_CHARS:
        return start, end
    sentences = split(text)
    wide = [s for s in sentences if s[1] > start and s[0] < end]
    if wide and wide[-1][1] - wide[0][0] <= 2 * FULL_SPAN_CHARS:
        start, end = min(start, wide[0][0]), max(end, wide[-1][1])
    for following in sentences:
        if end - start >= SHORT_SPAN_CHARS:
            break
        if following[0] >= end and following[1] - start <= FULL_SPAN_CHARS:
            end = following[1]
    for before in reversed(sentences):
        if end - start >= SHORT_SPAN_CHARS:
            break
        if before[1] <= start and end - before[0] <= FULL_SPAN_CHARS:
            start = before[0]
    if end - start < SHORT_SPAN_CHARS:
        missing = FULL_SPAN_CHARS - (end - start)
        start, end = max(0, start - missing // 2), min(len(text), end + missing - missing // 2)
        start, end = _at_words(text, start, end)
    return start, end


def window(passages: Sequence[Passage], query: str) -> list[Slice]:
    """The stretch of one passage with the most terms of the query; the beginning of the best passage when no term occurs."""
    terms = _rough_terms(query)
    best: Slice | None = None
    most = -1
    for at, passage in enumerate(passages):
        for start, end in _windows(passage):
            shared = len(terms & _rough_terms(passage.text[start:end]))
            if shared > most:
                most, best = shared, (at, start, end)
    return [best] if best is not None else []


def _windows(passage: Passage) -> Iterator[tuple[int, int]]:
    """From each unit, as many of its section as fit in WINDOW_CHARS; the first unit whole if the passage has blocks."""
    cut = units(passage.text, passage.blocks, passage.char_start)
    if not any(unit.answers for unit in cut):
        cut = [Unit(*stretch) for stretch in split(passage.text)] or [Unit(0, len(passage.text))]
    for first, unit in enumerate(cut):
        if not unit.answers:
            continue
        end = unit.end if passage.blocks else min(unit.end, unit.start + WINDOW_CHARS)
        for following in cut[first + 1 :]:
            if following.kind == "heading" or following.end - unit.start > WINDOW_CHARS:
                break
            end = following.end
        yield whole(cut, unit.start, end) if passage.blocks else (unit.start, end)


def numbered(passages: Sequence[Passage], slices: Iterable[Slice]) -> tuple[Span, ...]:
    """Spans 1..n: those of one document together in document order, documents by their first slice; overlapping spans are joined.

    `slices` come best first.
    """
    by_source: dict[str, list[tuple[int, int, Passage]]] = {}
    for at, start, end in slices:
        passage = passages[at]
        by_source.setdefault(passage.source_id, []).append(
            (passage.char_start + start, passage.char_start + end, passage)
        )
    spans: list[Span] = []
    for source, slices_of_source in by_source.items():
        for start, end, passage in _joined(sorted(slices_of_source, key=lambda each: each[:2])):
            spans.append(
                Span(
                    n=len(spans) + 1,
                    source_id=source,
                    title=passage.title,
                    text=passage.text[start - passage.char_start : end - passage.char_start],
                    source_start=start,
                    source_end=end,
                    language=passage.language,
                    score=passage.score,
                    page=passage.page,
                    about=passage.about,
                    **msgspec.structs.asdict(section_of(passage, start, end)),
                )
            )
    return tuple(spans)


def best_first(evidence: tuple[Span, ...], passage: Passage, start: int) -> tuple[Span, ...]:
    """The spans numbered again, with the span at that offset of the passage first."""
    start += passage.char_start

    def holds(span: Span) -> bool:
        return span.source_id == passage.source_id and span.source_start <= start < span.source_end

    return put_last(evidence, lambda span: not holds(span))


def put_last(evidence: Sequence[Span], late: Callable[[Span], bool]) -> tuple[Span, ...]:
    """The spans numbered again, with the `late` ones last."""
    return tuple(msgspec.structs.replace(span, n=n) for n, span in enumerate(sorted(evidence, key=late), 1))


def with_lead(evidence: tuple[Span, ...], passage: Passage, start: int, end: int) -> tuple[Span, ...]:
    """The spans, with that stretch of the passage as the lead of the span that contains it, if it has none yet."""
    start, end = passage.char_start + start, passage.char_start + end
    return tuple(
        msgspec.structs.replace(span, lead=(start, end))
        if span.lead is None
        and span.source_id == passage.source_id
        and span.source_start <= start
        and end <= span.source_end
        else span
        for span in evidence
    )


def _joined(slices: list[tuple[int, int, Passage]]) -> list[tuple[int, int, Passage]]:
    """Slices of one document in order, with overlapping ones from the same passage merged."""
    joined: list[tuple[int, int, Passage]] = []
    for start, end, passage in slices:
        if joined and start < joined[-1][1]:
            first, last, before = joined[-1]
            if end <= last:
                continue
            if end <= before.char_end:
                joined[-1] = (first, end, before)
                continue
            if first >= passage.char_start:
                joined[-1] = (first, end, passage)
                continue
        joined.append((start, end, passage))
    return joined


@lru_cache(maxsize=1024)
def _rough_terms(text: str) -> frozenset[str]:
    """Rough terms for counting overlap: words, and character pairs where words are unspaced or inflected."""
    terms = []
    for word in _WORDS.findall(text.lower()):
        if word.isascii():
            if len(word) > 2:
                terms.append(word[:6])
        else:
            terms += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    return frozenset(terms)


def share_held(query: str, text: str) -> float:
    """Share (0..1) of the query's rough terms that the text contains."""
    terms = _rough_terms(query)
    return len(terms & _rough_terms(text)) / len(terms) if terms else 0.0


def _at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The slice moved inwards to white space where some is near, so that no word is cut."""
    if start > 0 and (space := re.search(r"\s", text[start : start + 15])):
        start += space.end()
    if end < len(text) and (space := re.search(r"\s\S*\Z", text[max(start, end - 15) : end])):
        end = max(start, end - 15) + space.start()
    return start, end
