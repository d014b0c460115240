"""The passages of a snapshot: its segments (segment.py), how many contain each gram and phrase, and what was renamed.

`counts.npy` has those of all segments together, `renamed.msgpack` the documents with another id or url than when their
passages were written.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.errors import IndexProblem
from index.model import Passage, indexed_text
from index.snapshot.segment import SUFFIX, Segment, merge_segments
from index.text.coverage import SLOTS, GramSet, rarity

Rarities = tuple[NDArray[np.float32], NDArray[np.float32]]
_encoder = msgspec.msgpack.Encoder()
_COUNTS = "counts.npy"
#: A segment of so many passages is not merged with others: to write it takes some 12 MB.
_FULL = 4_000


class MovedDocument(msgspec.Struct, frozen=True, array_like=True):
    """A document that was moved: what its passages `first .. first+count-1` belong to now."""

    first: int
    count: int
    source_id: str
    url: str


#: So many passages are kept as they were read.
REMEMBERED = 512


class StoredPassage(NamedTuple):
    """A passage with what ranking needs of it. `lead` is of its document; `begins`: the passage is its document's first."""

    passage: Passage
    grams: GramSet
    phrases: GramSet
    lead: GramSet
    sketch: NDArray[np.uint32]
    begins: bool


_RENAMED = "renamed.msgpack"
_renamed = msgspec.msgpack.Decoder(list[MovedDocument])


def read_renamed(directory: Path) -> list[MovedDocument]:
    """In the order of their passages. Raises IndexProblem."""
    path = directory / _RENAMED
    try:
        return _renamed.decode(path.read_bytes()) if path.exists() else []
    except (OSError, msgspec.DecodeError) as error:
        raise IndexProblem(f"{path} cannot be read ({error}); build the index again") from error


def write_renamed(directory: Path, renamed: Iterable[MovedDocument]) -> None:
    if ordered := sorted(renamed, key=lambda one: one.first):
        (directory / _RENAMED).write_bytes(_encoder.encode(ordered))


def open_segments(directory: Path) -> list[Segment]:
    """In the order of their passages. Raises IndexProblem."""
    return sorted((Segment(path) for path in directory.glob(f"*{SUFFIX}")), key=lambda segment: segment.first)


class PassageStore:
    """All segments of a snapshot. Passages of removed documents stay in their segment until it is rewritten."""

    def __init__(self, directory: Path) -> None:
        self.segments = open_segments(directory)
        self._directory = directory
        self._firsts = [segment.first for segment in self.segments]
        self._renamed = read_renamed(directory)
        self._renamed_firsts = [one.first for one in self._renamed]
        #: By number; one question finds what the one before it found. Raises IndexProblem for a number that no segment holds.
        self.held = lru_cache(maxsize=REMEMBERED)(self._held)

    @cached_property
    def rarities(self) -> Rarities:
        """The weights of grams and phrases by rarity; passages of removed documents count until their segment is rewritten.

        Raises IndexProblem.
        """
        passages = sum(map(len, self.segments))
        grams, phrases = read_counts(self._directory)
        return rarity(grams, passages), rarity(phrases, passages)

    def rarities_among(self, numbers: NDArray[np.int64]) -> Rarities:
        """The weights of grams and phrases by their rarity in these passages alone, ascending.

        Reads their sets, or those of all others where these are fewer.
        """
        seen = [segment.places(numbers) for segment in self.segments]
        if fewer_hidden := 2 * len(numbers) > sum(map(len, self.segments)):
            seen = [
                np.delete(np.arange(len(segment)), positions)
                for segment, positions in zip(self.segments, seen, strict=True)
            ]
        read = ((segment, positions) for segment, positions in zip(self.segments, seen, strict=True) if len(positions))
        counts = sum((segment.counts(positions) for segment, positions in read), np.zeros((2, SLOTS), dtype=np.int64))
        if fewer_hidden:
            counts = read_counts(self._directory) - counts
        return rarity(counts[0], len(numbers)), rarity(counts[1], len(numbers))

    def languages(self, numbers: NDArray[np.int64]) -> dict[str, int]:
        """How many of these passages, ascending, there are in each language."""
        result = Counter[str]()
        for segment in self.segments:
            of_each = np.bincount(segment.rows["language"][segment.places(numbers)], minlength=len(segment.languages))
            result.update(dict(zip(segment.languages, of_each.tolist(), strict=True)))
        return {name: count for name, count in result.items() if count}

    def within(self, numbers: NDArray[np.int64], language: str) -> NDArray[np.int64]:
        """Those of these passages, ascending, that are in a language."""
        results = [np.zeros(0, dtype=np.int64)]
        for segment in self.segments:
            inside = segment.numbers[segment.in_language(language)]
            results.append(inside[np.isin(inside, numbers, assume_unique=True)])
        return np.concatenate(results)

    def _find(self, number: int) -> tuple[Segment, int]:
        at = bisect_right(self._firsts, number) - 1
        position = self.segments[at].place(number) if at >= 0 else None
        if position is None:
            raise IndexProblem(f"passage {number} is not in the index; run 'groundwire index verify'")
        return self.segments[at], position

    def get(self, number: int) -> Passage:
        """Raises IndexProblem for a number that no segment holds."""
        return self._read(*self._find(number))

    def _read(self, segment: Segment, place: int) -> Passage:
        passage = segment.read(place)
        at = bisect_right(self._renamed_firsts, passage.number) - 1
        if at >= 0 and passage.number < self._renamed[at].first + self._renamed[at].count:
            now = self._renamed[at]
            return msgspec.structs.replace(passage, source_id=now.source_id, url=now.url)
        return passage

    def _held(self, number: int) -> StoredPassage:
        segment, position = self._find(number)
        return StoredPassage(
            self._read(segment, position),
            *segment.sets_at(position),
            segment.sketches[position],
            segment.begins(position),
        )

    def sketch(self, number: int) -> bytes:
        """Raises IndexProblem for a number that no segment holds."""
        segment, position = self._find(number)
        row: NDArray[np.uint32] = segment.sketches[position]
        return row.tobytes()

    def texts(self, numbers: NDArray[np.int64]) -> Iterator[str]:
        """What both searches index of these passages, ascending; no more than a segment's pages stay in memory.

        Raises IndexProblem for a number that no segment holds.
        """
        done = 0
        for segment in self.segments:
            opened = Segment(segment.path)
            positions = opened.places(numbers).tolist()
            yield from (indexed_text(opened.read(position)) for position in positions)
            done += len(positions)
        if done < len(numbers):
            raise IndexProblem("passages are missing from the index; run 'groundwire index verify'")


def read_counts(directory: Path) -> NDArray[np.int64]:
    """How many passages of all segments contain each gram, and each phrase: two rows. Raises IndexProblem."""
    try:
        counts: NDArray[np.int64] = np.load(directory / _COUNTS).astype(np.int64).reshape(2, SLOTS)
        return counts
    except (OSError, ValueError) as error:
        raise IndexProblem(f"{directory / _COUNTS} cannot be read ({error}); build the index again") from error


def complete(
    target: Path, parent: Path | None, live: Sequence[tuple[int, int]], link: Callable[[Path, Path], None]
) -> None:
    """Link the segments of a parent snapshot into a new one, with the new segments; `live` are ranges (first, count), ascending.

    Segments are linked as they are. One of which more than half was removed is written again without that, and small ones are
    merged, each time with no more than about their own size: so a segment is written but a few times, however many builds come.
    """
    counts = sum((segment.counts() for segment in open_segments(target)), np.zeros((2, SLOTS), dtype=np.int64))
    if parent is not None:
        counts += read_counts(parent)
        firsts = np.array([first for first, _ in live], dtype=np.int64)
        ends = np.array([0, *(first + count for first, count in live)], dtype=np.int64)
        groups: list[list[tuple[Segment, NDArray[np.int64]]]] = []
        for segment in open_segments(parent):
            alive = segment.numbers < ends[firsts.searchsorted(segment.numbers, "right")]
            kept = np.arange(len(segment))
            if 2 * np.count_nonzero(alive) < len(segment):
                counts -= segment.counts(np.flatnonzero(~alive))
                kept = np.flatnonzero(alive)
            if len(kept):
                groups.append([(segment, kept)])
                while len(groups) > 1 and _sized(groups[-2]) < min(_FULL, 2 * _sized(groups[-1]) + 1):
                    groups[-2:] = [groups[-2] + groups[-1]]
        for group in groups:
            segment, kept = group[0]
            if len(group) == 1 and len(kept) == len(segment):
                link(segment.path, target / segment.path.name)
            else:
                merge_segments(target / f"{segment.numbers[kept[0]]:012d}{SUFFIX}", group)
    np.save(target / _COUNTS, counts.astype(np.int32))


def _sized(group: list[tuple[Segment, NDArray[np.int64]]]) -> int:
    return sum(len(kept) for _, kept in group)
