"""The passages of a snapshot on disk: segments that are written once and shared by the snapshots that contain them.

A segment is five files: `NAME.bin`, msgpack records in sequence; `NAME.grams` and `NAME.phrases`, each passage's two sets of
hashes (coverage.py) in sequence; `NAME.leads`, the set of each document's lead; and `NAME.npz` with each record's passage
number, its start in the four, the start of its document, its sketch (duplicates.py), and how many of the segment's passages
contain each hash. Reading maps the records and decodes one at a time.

`renamed.msgpack` beside the segments holds the documents whose id or url is another now than when their passages were written.
"""

import mmap
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.coverage import SLOTS, GramSet, rarity
from index.duplicates import SKETCH_WIDTH
from index.errors import IndexProblem
from index.model import Passage, first_places
from index.prepared import Hashes

#: The ending of what a build keeps beside a segment until it is done.
CODES = ".codes"
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Passage)


class _Head(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a passage's record."""

    number: int
    source_id: str
    title: str
    url: str
    language: str


_language = msgspec.msgpack.Decoder(_Head).decode


class Renamed(msgspec.Struct, frozen=True, array_like=True):
    """A document that was moved: what its passages `first .. first+count-1` belong to now."""

    first: int
    count: int
    source_id: str
    url: str


_RENAMED = "renamed.msgpack"
_renamed = msgspec.msgpack.Decoder(list[Renamed])


def read_renamed(directory: Path) -> list[Renamed]:
    """In the order of their passages. Raises IndexProblem."""
    path = directory / _RENAMED
    try:
        return _renamed.decode(path.read_bytes()) if path.exists() else []
    except (OSError, msgspec.DecodeError) as error:
        raise IndexProblem(f"{path} cannot be read ({error}); build the index again") from error


def write_renamed(directory: Path, renamed: Iterable[Renamed]) -> None:
    if ordered := sorted(renamed, key=lambda one: one.first):
        (directory / _RENAMED).write_bytes(_encoder.encode(ordered))


class HashSets:
    """One set of hashes per passage, in the order of the segment."""

    def __init__(self, path: Path, starts: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
        """`counts`: how many of the passages contain each hash. Raises OSError."""
        self._starts = starts.tolist()
        self.counts = counts.astype(np.int64)
        self._hashes: GramSet = np.fromfile(path, dtype=np.uint16)

    def at(self, place: int) -> GramSet:
        return self._hashes[self._starts[place] : self._starts[place + 1]]

    def counts_among(self, places: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of the passages at these places contain each hash."""
        held = self._hashes[np.repeat(places, np.diff(self._starts))]
        return np.bincount(held, minlength=SLOTS).astype(np.int64)


class Segment:
    """One segment opened for reading; safe for any number of threads."""

    def __init__(self, path: Path) -> None:
        """Raises IndexProblem when the segment is incomplete."""
        try:
            with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
                self.numbers: NDArray[np.int64] = arrays["numbers"]
                self._starts: NDArray[np.int64] = arrays["starts"]
                self.sketches: NDArray[np.uint32] = arrays["sketches"]
                self.grams = HashSets(path.with_suffix(".grams"), arrays["gram_starts"], arrays["gram_counts"])
                self.phrases = HashSets(path.with_suffix(".phrases"), arrays["phrase_starts"], arrays["phrase_counts"])
                self._leads = HashSets(path.with_suffix(".leads"), arrays["lead_starts"], arrays["lead_counts"])
                self._firsts: list[int] = arrays["firsts"].tolist()
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, KeyError) as error:
            raise IndexProblem(f"passages {path.name} cannot be read ({error}); build the index again") from error

        self.first, self._end = int(self.numbers[0]), int(self.numbers[-1]) + 1
        # Passages written together have consecutive numbers, so finding one takes a subtraction, not a search.
        self._dense = self._end - self.first == len(self.numbers)

    def place(self, number: int) -> int | None:
        if not self.first <= number < self._end:
            return None
        if self._dense:
            return number - self.first
        at = int(np.searchsorted(self.numbers, number))
        return at if self.numbers[at] == number else None

    def lead(self, place: int) -> GramSet:
        """The grams of the lead of the document that this passage belongs to."""
        return self._leads.at(self._firsts[place])

    def begins(self, place: int) -> bool:
        """Whether this passage is the first of its document."""
        return self._firsts[place] == place

    def record(self, place: int) -> bytes:
        return self._map[self._starts[place] : self._starts[place + 1]]

    def read(self, place: int) -> Passage:
        return _decoder.decode(self.record(place))

    def __iter__(self) -> Iterator[Passage]:
        return (self.read(place) for place in range(len(self.numbers)))


def read_codes(segment: Path) -> list[str]:
    """The words of each passage's codes; kept only while the build lasts that wrote the segment."""
    return msgspec.msgpack.decode(segment.with_suffix(CODES).read_bytes(), type=list[str])


class PassageStore:
    """All segments of a snapshot. Passages of removed documents stay in their segment until it is rewritten."""

    def __init__(self, directory: Path) -> None:
        self.segments = sorted((Segment(path) for path in directory.glob("*.bin")), key=lambda segment: segment.first)
        self._firsts = [segment.first for segment in self.segments]
        self._renamed = read_renamed(directory)
        self._renamed_firsts = [one.first for one in self._renamed]
        #: Weight of every gram, by rarity; passages of removed documents still count until their segment is rewritten.
        self.rarity = self._rarity(segment.grams for segment in self.segments)
        self.phrase_rarity = self._rarity(segment.phrases for segment in self.segments)

    def _rarity(self, sets: Iterable[HashSets]) -> NDArray[np.float32]:
        counts = sum((one.counts for one in sets), np.zeros(SLOTS, dtype=np.int64))
        return rarity(counts, sum(len(segment.numbers) for segment in self.segments))

    def rarities_among(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The weights of grams and phrases by their rarity in these passages alone; reads the sets of all."""
        among = [np.isin(segment.numbers, numbers) for segment in self.segments]
        zeros = np.zeros(SLOTS, dtype=np.int64)
        grams = sum((one.grams.counts_among(held) for one, held in zip(self.segments, among, strict=True)), zeros)
        phrases = sum((one.phrases.counts_among(held) for one, held in zip(self.segments, among, strict=True)), zeros)
        return rarity(grams, len(numbers)), rarity(phrases, len(numbers))

    def languages(self, numbers: Iterable[int]) -> dict[str, int]:
        """How many of these passages there are in each language."""
        return Counter(_language(segment.record(place)).language for segment, place in map(self._find, numbers))

    def _find(self, number: int) -> tuple[Segment, int]:
        at = bisect_right(self._firsts, number) - 1
        place = self.segments[at].place(number) if at >= 0 else None
        if place is None:
            raise IndexProblem(f"passage {number} is not in the index; run 'groundwire index verify'")
        return self.segments[at], place

    def get(self, number: int) -> Passage:
        """Raises IndexProblem for a number that no segment holds."""
        segment, place = self._find(number)
        passage = segment.read(place)
        at = bisect_right(self._renamed_firsts, number) - 1
        if at >= 0 and number < self._renamed[at].first + self._renamed[at].count:
            now = self._renamed[at]
            return msgspec.structs.replace(passage, source_id=now.source_id, url=now.url)
        return passage

    def sketches(self, numbers: Iterable[int]) -> NDArray[np.uint32]:
        """One row per number, in that order."""
        rows = [segment.sketches[place] for segment, place in map(self._find, numbers)]
        return np.array(rows, dtype=np.uint32).reshape(-1, SKETCH_WIDTH)

    def grams(self, numbers: Iterable[int]) -> list[GramSet]:
        """One gram set per number, in that order."""
        return [segment.grams.at(place) for segment, place in map(self._find, numbers)]

    def leads(self, numbers: Iterable[int]) -> list[GramSet]:
        """The gram set of the lead of each number's document, in that order."""
        return [segment.lead(place) for segment, place in map(self._find, numbers)]

    def beginnings(self, numbers: Iterable[int]) -> frozenset[int]:
        """Those that are the first passage of their document."""
        return frozenset(
            number for number in numbers for segment, place in [self._find(number)] if segment.begins(place)
        )

    def phrases(self, numbers: Iterable[int]) -> list[GramSet]:
        """One set of phrases per number, in that order."""
        return [segment.phrases.at(place) for segment, place in map(self._find, numbers)]

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and self.segments[at].place(number) is not None


def write_segment(path: Path, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> int:
    """Write one segment of whole documents, passages in ascending number; returns how many. Writes nothing if there are
    none.
    """
    if not passages:
        return 0
    starts = [0]
    with path.open("wb") as file:
        for passage in passages:
            record = _encoder.encode(passage)
            file.write(record)
            starts.append(starts[-1] + len(record))
    path.with_suffix(CODES).write_bytes(_encoder.encode([one.codes for one in hashes]))
    gram_starts, gram_counts = _write_sets(path.with_suffix(".grams"), [one.grams for one in hashes])
    phrase_starts, phrase_counts = _write_sets(path.with_suffix(".phrases"), [one.phrases for one in hashes])
    lead_starts, lead_counts = _write_sets(path.with_suffix(".leads"), [one.lead for one in hashes])
    np.savez(
        path.with_suffix(".npz"),
        numbers=np.array([passage.number for passage in passages], dtype=np.int64),
        starts=np.array(starts, dtype=np.int64),
        sketches=np.frombuffer(b"".join(one.sketch for one in hashes), dtype=np.uint32).reshape(-1, SKETCH_WIDTH),
        gram_starts=gram_starts,
        gram_counts=gram_counts,
        phrase_starts=phrase_starts,
        phrase_counts=phrase_counts,
        lead_starts=lead_starts,
        lead_counts=lead_counts,
        firsts=np.array(first_places(passages), dtype=np.int32),
    )
    return len(passages)


def _write_sets(path: Path, sets: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The start of each set in the file, and how many sets contain each hash."""
    joined = b"".join(sets)
    path.write_bytes(joined)
    hashes: GramSet = np.frombuffer(joined, dtype=np.uint16)
    starts = np.cumsum([0, *map(len, sets)], dtype=np.int64) // hashes.itemsize
    return starts, np.bincount(hashes, minlength=SLOTS).astype(np.int32)
