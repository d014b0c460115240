"""Turn picks into numbered evidence: verbatim slices with exact offsets, long enough to read, in reading order."""

import re
from collections.abc import Iterable, Sequence

from bus.messages import Passage, Span
from index.sentences import split
from prompts.contracts import PickedSpan

#: A span shorter than SHORT characters grows to about FULL around itself.
SHORT = 80
FULL = 120
#: Longest window chosen when there is no usable pick.
WINDOW = 400

_WORDS = re.compile(r"\w+")

#: start and end inside passage number `at` (from 0)
Slice = tuple[int, int, int]


def picked(passages: Sequence[Passage], picks: Iterable[PickedSpan]) -> list[Slice]:
    """The picks that stand word for word in their passage, grown where short; the others are dropped."""
    slices = []
    for pick in picks:
        at = pick.passage - 1
        text = pick.text.strip()
        if not (0 <= at < len(passages)) or not text:
            continue
        start = passages[at].text.find(text)
        if start >= 0:
            slices.append((at, *grow(passages[at].text, start, start + len(text))))
    return slices


def grow(text: str, start: int, end: int) -> tuple[int, int]:
    """A slice under SHORT characters grown to about FULL, to sentence ends where that fits."""
    if end - start >= SHORT:
        return start, end
    sentences = split(text)
    wide = [s for s in sentences if s[1] > start and s[0] < end]
    if wide and wide[-1][1] - wide[0][0] <= 2 * FULL:
        start, end = min(start, wide[0][0]), max(end, wide[-1][1])
    for following in sentences:
        if end - start >= SHORT:
            break
        if following[0] >= end and following[1] - start <= FULL:
            end = following[1]
    for before in reversed(sentences):
        if end - start >= SHORT:
            break
        if before[1] <= start and end - before[0] <= FULL:
            start = before[0]
    if end - start < SHORT:
        missing = FULL - (end - start)
        start, end = max(0, start - missing // 2), min(len(text), end + missing - missing // 2)
        start, end = _at_words(text, start, end)
    return start, end


def window(passages: Sequence[Passage], query: str) -> list[Slice]:
    """The stretch of one passage with the most terms of the query; the beginning of the best passage when no term occurs."""
    terms = set(_pieces(query))
    best: Slice | None = None
    most = -1
    for at, passage in enumerate(passages):
        sentences = split(passage.text) or [(0, len(passage.text))]
        for first, (start, _) in enumerate(sentences):
            reached = [last for _, last in sentences[first:] if last - start <= WINDOW]
            end = max(reached, default=start + WINDOW)
            held = len(terms & set(_pieces(passage.text[start:end])))
            if held > most:
                most, best = held, (at, start, end)
    return [best] if best is not None else []


def numbered(passages: Sequence[Passage], slices: Iterable[Slice]) -> tuple[Span, ...]:
    """Spans 1..n: those of one document together in document order, documents by best score; overlapping spans are joined."""
    by_source: dict[str, list[tuple[int, int, Passage]]] = {}
    for at, start, end in slices:
        passage = passages[at]
        by_source.setdefault(passage.source_id, []).append(
            (passage.char_start + start, passage.char_start + end, passage)
        )
    rank = {source: min(passages.index(p) for _, _, p in found) for source, found in by_source.items()}
    spans: list[Span] = []
    for source in sorted(by_source, key=lambda s: (-max(p.score for _, _, p in by_source[s]), rank[s])):
        for start, end, passage in _joined(sorted(by_source[source], key=lambda each: each[:2])):
            spans.append(
                Span(
                    n=len(spans) + 1,
                    source_id=source,
                    title=passage.title,
                    url=passage.url,
                    text=passage.text[start - passage.char_start : end - passage.char_start],
                    source_start=start,
                    source_end=end,
                    language=passage.language,
                    score=passage.score,
                    page=passage.page,
                    about=passage.about,
                )
            )
    return tuple(spans)


def _joined(found: list[tuple[int, int, Passage]]) -> list[tuple[int, int, Passage]]:
    """Slices of one document in order, with overlapping ones from the same passage merged."""
    joined: list[tuple[int, int, Passage]] = []
    for start, end, passage in found:
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


def _pieces(text: str) -> list[str]:
    """Rough terms for counting overlap: words, and character pairs where words are unspaced or inflected."""
    pieces = []
    for word in _WORDS.findall(text.lower()):
        if word.isascii():
            if len(word) > 2:
                pieces.append(word[:6])
        else:
            pieces += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    return pieces


def share_held(query: str, text: str) -> float:
    """Share (0..1) of the query's rough terms that the text contains."""
    terms = set(_pieces(query))
    return len(terms & set(_pieces(text))) / len(terms) if terms else 0.0


def _at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The slice moved inwards to white space where some is near, so that no word is cut."""
    if start > 0 and (space := re.search(r"\s", text[start : start + 15])):
        start += space.end()
    if end < len(text) and (space := re.search(r"\s\S*\Z", text[max(start, end - 15) : end])):
        end = max(start, end - 15) + space.start()
    return start, end
