"""Passages on disk: a segment is one file that is written once, shared by the snapshots that contain it, and mapped into memory.

A segment holds whole documents, passages in ascending number. Its parts (mapped.py) are a row for each passage; its sketch
(near_duplicates.py); its sets of hashes, grams and phrases (coverage.py), and the lead of each document; last the passages
themselves, msgpack records in sequence. A row has the start of each of them, and one more row where the last ends.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.errors import IndexProblem
from index.model import Passage, first_places
from index.snapshot import mapped
from index.snapshot.prepared import Hashes
from index.text.coverage import SLOTS, GramSet
from index.text.near_duplicates import SKETCH_WIDTH

SUFFIX = ".bin"
#: The suffix of a build's temporary file for a segment.
CODES = ".codes"
_MARK = b"passages"
#: `first`: the row of the document's first passage. `language`: its place among the segment's languages.
_ROW = np.dtype(
    [("number", "<i8"), ("grams", "<i8"), ("phrases", "<i8"), ("lead", "<i8"), ("record", "<i8"), ("first", "<i4"),
     ("language", "<i4")]
)  # fmt: skip
_SETS = ("grams", "phrases", "lead")
_PLACED = (*_SETS, "record")
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Passage)


class Segment:
    """One segment opened for reading; safe for any number of threads."""

    def __init__(self, path: Path) -> None:
        """Raises IndexProblem when the segment is incomplete."""
        try:
            self.languages, parts = mapped.read(path, _MARK, tuple[str, ...])
            rows, sketches, *sets, self._records = parts
            all_rows = np.frombuffer(rows, dtype=_ROW)
            self.sketches: NDArray[np.uint32] = np.frombuffer(sketches, dtype="<u4").reshape(-1, SKETCH_WIDTH)
            self.sets: list[GramSet] = [np.frombuffer(one, dtype="<u2") for one in sets]
            self.rows: NDArray[np.void] = all_rows[:-1]
            self.numbers: NDArray[np.int64] = self.rows["number"]
            self.first, self.end = int(self.numbers[0]), int(self.numbers[-1]) + 1
        except (OSError, ValueError, IndexError) as error:
            raise IndexProblem(f"passages {path.name} cannot be read ({error}); build the index again") from error
        self.path = path
        self.starts: dict[str, NDArray[np.int64]] = {name: all_rows[name] for name in _PLACED}
        self._firsts: NDArray[np.int32] = self.rows["first"]
        # Passages written together have consecutive numbers, so finding one takes a subtraction, not a search.
        self._dense = self.end - self.first == len(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, number: int) -> int | None:
        if not self.first <= number < self.end:
            return None
        if self._dense:
            return number - self.first
        at = int(np.searchsorted(self.numbers, number))
        return at if self.numbers[at] == number else None

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where those of these, ascending, are that this segment holds."""
        inside = numbers[numbers.searchsorted(self.first) : numbers.searchsorted(self.end)]
        if self._dense:
            return inside - self.first
        return np.flatnonzero(np.isin(self.numbers, inside, assume_unique=True))

    def in_language(self, language: str) -> NDArray[np.int64]:
        """The places of the passages in a language, ascending."""
        if language not in self.languages:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.rows["language"] == self.languages.index(language))

    def sets_at(self, place: int) -> tuple[GramSet, GramSet, GramSet]:
        """The grams and the phrases of a passage, and the grams of the lead of its document."""
        places = (place, place, int(self._firsts[place]))
        starts = [self.starts[name][at : at + 2] for name, at in zip(_SETS, places, strict=True)]
        grams, phrases, lead = (one[start:end] for one, (start, end) in zip(self.sets, starts, strict=True))
        return grams, phrases, lead

    def counts(self, places: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """How many of the passages at these places, by default of all, contain each gram, and each phrase: two rows."""
        counted = []
        for kind, hashes in zip(_SETS[:2], self.sets, strict=False):
            listed = hashes if places is None else hashes[_ranges(self.starts[kind], places)]
            counted.append(np.bincount(listed, minlength=SLOTS))
        return np.array(counted, dtype=np.int64)

    def begins(self, place: int) -> bool:
        """Whether this passage is the first of its document."""
        return bool(self._firsts[place] == place)

    def record(self, place: int) -> memoryview:
        starts = self.starts["record"]
        return self._records[starts[place] : starts[place + 1]]

    def read(self, place: int) -> Passage:
        return _decoder.decode(self.record(place))

    def __iter__(self) -> Iterator[Passage]:
        return (self.read(position) for position in range(len(self)))


def read_codes(segment: Path) -> list[str]:
    """The words of each passage's codes; kept only while the build lasts that wrote the segment."""
    return msgspec.msgpack.decode(segment.with_suffix(CODES).read_bytes(), type=list[str])


def write_segment(path: Path, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> int:
    """Write one segment of whole documents, passages in ascending number; returns how many. Writes nothing if there are
    none.
    """
    if not passages:
        return 0
    languages = tuple(dict.fromkeys(passage.language for passage in passages))
    sets: list[list[bytes]] = [[getattr(one, name) for one in hashes] for name in _SETS]
    records = [_encoder.encode(passage) for passage in passages]
    rows = np.zeros(len(passages) + 1, dtype=_ROW)
    rows["number"][:-1] = [passage.number for passage in passages]
    rows["first"][:-1] = first_places(passages)
    rows["language"][:-1] = [languages.index(passage.language) for passage in passages]
    for name, items, width in zip(_PLACED, (*sets, records), (2, 2, 2, 1), strict=True):
        rows[name] = np.cumsum([0, *map(len, items)]) // width
    path.with_suffix(CODES).write_bytes(_encoder.encode([one.codes for one in hashes]))
    parts = [one.sketch for one in hashes], *sets, records
    mapped.write(path, _MARK, languages, [rows.tobytes(), *map(b"".join, parts)])
    return len(passages)


def merge_segments(path: Path, parts: Sequence[tuple[Segment, NDArray[np.int64]]]) -> None:
    """Write one segment of the passages at these places of others; of each document all or none, numbers ascending."""
    languages = tuple(dict.fromkeys(name for segment, _ in parts for name in segment.languages))
    fragments: list[NDArray[np.void]] = []
    for segment, positions in parts:
        rows = segment.rows[positions]
        rows["first"] = positions.searchsorted(rows["first"]) + sum(map(len, fragments))
        rows["language"] = np.array([languages.index(name) for name in segment.languages])[rows["language"]]
        for name in _PLACED:
            # For now how long each is.
            rows[name] = segment.starts[name][positions + 1] - segment.starts[name][positions]
        fragments.append(rows)
    joined = np.concatenate([*fragments, np.zeros(1, dtype=_ROW)])
    for name in _PLACED:
        joined[name] = np.cumsum([0, *joined[name][:-1]])
    sketches = b"".join(segment.sketches[positions].tobytes() for segment, positions in parts)
    sets = [
        b"".join(segment.sets[kind][_ranges(segment.starts[name], positions)].tobytes() for segment, positions in parts)
        for kind, name in enumerate(_SETS)
    ]
    records = b"".join(segment.record(int(position)) for segment, positions in parts for position in positions)
    mapped.write(path, _MARK, languages, [joined.tobytes(), sketches, *sets, records])


def _ranges(starts: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every index of the ranges that begin at `starts` of these places and end where the next begins."""
    begins, lengths = starts[places], starts[places + 1] - starts[places]
    ends = np.cumsum(lengths)
    return np.repeat(begins - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
