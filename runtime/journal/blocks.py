"""One block of a stream's file store, read record by record; what is not as its checksum says is damage.

A record is its length (4 bytes, the highest bit set where it has headers), its sequence and time in nanoseconds (8 each), the
length of its subject (2), the subject, the headers with their length, the data, and a checksum of all but the lengths. A sequence
with its second highest bit set marks another record as removed.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from runtime.journal.highway_hash import hashes, key_of

_HEAD = struct.Struct("<IQqH")
_SUM = struct.Struct("<Q")
_HAS_HEADERS, _LENGTH = 1 << 31, (1 << 30) - 1
_ERASED, _TOMBSTONE = 1 << 63, 1 << 62
_SEQUENCE = _TOMBSTONE - 1
_LONGEST = 32 * 1024 * 1024
#: Where a record may begin anew after damage: its subject is ours.
_SUBJECT = re.compile(rb"gw\.[a-z_]+\.")


@dataclass(frozen=True, slots=True)
class Entry:
    """A record's place in its block. `sequence` is 0 for one that only marks another as removed."""

    start: int
    end: int
    sequence: int
    subject: bytes


@dataclass(frozen=True, slots=True)
class Hole:
    """Damaged bytes. The sequences after `after` and before `before` are lost, as far as there were any; `before` is 0 at the end.

    `subjects`: those of its records that can still be read.
    """

    start: int
    end: int
    after: int
    before: int
    subjects: tuple[str, ...] = ()


def read(data: bytes, stream: str, number: int) -> tuple[list[Entry], list[Hole]]:
    """The sound records of a block, and the damage between them."""
    key = key_of(f"{stream}-{number}")
    entries, end = _walk(data), len(data)
    sound = _sound(data, entries, key)
    subjects = [entry for entry in entries if entry not in sound]
    found = sorted(sound, key=lambda entry: entry.start)
    for start, stop in list(_between(found, end)):
        inside = [e for at in _SUBJECT.finditer(data, start, stop) if (e := _entry(data, at.start() - _HEAD.size))]
        found += (e for e in _sound(data, inside, key) if e.start >= start and e.end <= stop)
    found.sort(key=lambda entry: entry.start)
    return found, [_hole(found, subjects, start, stop) for start, stop in _between(found, end)]


def without(data: bytes, entries: list[Entry]) -> bytes:
    """The block with nothing but these records."""
    return b"".join(data[entry.start : entry.end] for entry in entries)


def _walk(data: bytes) -> list[Entry]:
    """What looks like records, each after the other."""
    entries: list[Entry] = []
    at = 0
    while at < len(data):
        entry = _entry(data, at)
        if entry is None:
            following = (n.start() - _HEAD.size for n in _SUBJECT.finditer(data, at + 1))
            at = next((n for n in following if n > at and _entry(data, n)), len(data))
            continue
        entries.append(entry)
        at = entry.end
    return entries


def _entry(data: bytes, at: int) -> Entry | None:
    if at < 0 or at + _HEAD.size + _SUM.size > len(data):
        return None
    length, sequence, _, subject = _HEAD.unpack_from(data, at)
    size = length & _LENGTH
    least = _HEAD.size + subject + _SUM.size + (4 if length & _HAS_HEADERS else 0)
    if not least <= size <= _LONGEST or at + size > len(data):
        return None
    own = 0 if sequence & (_ERASED | _TOMBSTONE) else sequence & _SEQUENCE
    return Entry(at, at + size, own, data[at + _HEAD.size : at + _HEAD.size + subject])


def _sound(data: bytes, entries: list[Entry], key: bytes) -> set[Entry]:
    """Those whose checksum is right."""
    texts = [_hashed(data, entry) for entry in entries]
    told = [_SUM.unpack_from(data, entry.end - _SUM.size)[0] for entry in entries]
    return {e for e, made, there in zip(entries, hashes(key, texts), told, strict=True) if made == there}


def _hashed(data: bytes, entry: Entry) -> bytes:
    (length,) = struct.unpack_from("<I", data, entry.start)
    body = entry.start + _HEAD.size + len(entry.subject) + (4 if length & _HAS_HEADERS else 0)
    return data[entry.start + 4 : entry.start + 20] + entry.subject + data[body : entry.end - _SUM.size]


def _between(entries: list[Entry], end: int) -> Iterator[tuple[int, int]]:
    at = 0
    for entry in entries:
        if entry.start > at:
            yield at, entry.start
        at = max(at, entry.end)
    if at < end:
        yield at, end


def _hole(sound: list[Entry], damaged: list[Entry], start: int, stop: int) -> Hole:
    after = max((e.sequence for e in sound if e.end <= start), default=0)
    before = next((e.sequence for e in sound if e.start >= stop and e.sequence), 0)
    names = (e.subject.decode("ascii", errors="replace") for e in damaged if start <= e.start < stop)
    return Hole(start, stop, after, before, tuple(name for name in names if name.startswith("gw.")))
