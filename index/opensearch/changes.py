"""What a build changes of a generation, and the documents that it holds until then.

The changes follow from the catalogue before the build and the one after. The documents wait on disk until the build is
published: what they are embedded with is known only then.
"""

import tempfile
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from index.model import Entry, Metadata, Passage, first_places
from index.opensearch.layout import PassageRecord, asked_of, edition_of
from index.snapshot.prepared import Hashes


class KnownEntry(NamedTuple):
    """A document of the catalogue before: its entry, the edition of its passages, and the id of what holds the entry."""

    entry: Entry
    edition: str
    name: str


class EntryChange(NamedTuple):
    """A document of the catalogue after, and the edition of its passages.

    `before` is what it takes the place of. `entered`: the entry is to be written. `fresh`: its passages are new ones.
    `again`: they are those of `before`, to be written again, as something is asked of them that is another now.
    """

    entry: Entry
    edition: str
    before: KnownEntry | None
    entered: bool = False
    fresh: bool = False
    again: bool = False


class WritePlan(NamedTuple):
    """`dead` are the entries that are replaced or removed; `gone` those with passages that are removed, too."""

    changes: list[EntryChange]
    dead: list[KnownEntry]
    gone: list[KnownEntry]


def plan(
    known: Iterable[KnownEntry], after: Iterable[Entry], fresh: Container[int], build: int, *, afresh: bool
) -> WritePlan:
    """`fresh`: the first numbers of documents with new passages. `afresh`: everything is written again."""
    before = list(known)
    by_number = {one.entry.first: one for one in before if one.entry.count}
    by_id = {one.entry.source_id: one for one in before}
    changes: list[EntryChange] = []
    kept: set[str] = set()
    staying: set[str] = set()
    for entry in after:
        change = _change(entry, by_number, by_id, fresh, build, afresh=afresh)
        changes.append(change)
        if change.before is not None:
            if not change.entered:
                staying.add(change.before.name)
            if change.edition == change.before.edition:
                kept.add(change.edition)
    return WritePlan(
        changes,
        [one for one in before if one.name not in staying],
        [one for one in before if one.entry.count and one.edition not in kept],
    )


def _change(
    entry: Entry,
    by_number: dict[int, KnownEntry],
    by_id: dict[str, KnownEntry],
    fresh: Container[int],
    build: int,
    *,
    afresh: bool,
) -> EntryChange:
    edition = edition_of(entry, build)
    before = by_number.get(entry.first) if entry.count else by_id.get(entry.source_id)
    if before is None or entry.first in fresh or before.entry.count != entry.count:
        return EntryChange(entry, edition, None, entered=True, fresh=entry.count > 0)
    if afresh or _shown(entry) != _shown(before.entry):
        return EntryChange(entry, edition, before, entered=True, again=entry.count > 0)
    return EntryChange(entry, before.edition, before, entered=entry != before.entry)


def _shown(entry: Entry) -> object:
    return entry.title, entry.url, entry.metadata, asked_of(entry)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[PassageRecord]).decode


class Spool:
    """By the number of a document's first passage; the last one put under it counts."""

    def __init__(self) -> None:
        self._owned = tempfile.TemporaryDirectory(prefix="groundwire-build-")
        self.folder = Path(self._owned.name)
        self._file = (self.folder / "passages").open("w+b")
        self._places: dict[int, tuple[int, int]] = {}

    def put(self, entry: Entry, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> None:
        if not passages:
            return
        record = _encode(list(_held(entry.metadata, passages, hashes)))
        self._places[entry.first] = (self._file.seek(0, 2), len(record))
        self._file.write(record)

    def __contains__(self, first: object) -> bool:
        return first in self._places

    def get(self, first: int) -> list[PassageRecord]:
        start, size = self._places[first]
        self._file.seek(start)
        return _decode(self._file.read(size))

    def close(self) -> None:
        self._file.close()
        self._owned.cleanup()


def _held(metadata: Metadata, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> Iterator[PassageRecord]:
    leads = [hashes[position].lead for position in first_places(passages)]
    for ordinal, (passage, of, lead) in enumerate(zip(passages, hashes, leads, strict=True)):
        yield PassageRecord(passage, ordinal, metadata, of.grams, of.phrases, lead, of.sketch, of.codes, b"")
