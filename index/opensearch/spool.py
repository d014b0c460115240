"""The documents of a build until it is published, on this machine's disk: what they are embedded with is known only then."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from index.model import Entry, Metadata, Passage, first_places
from index.opensearch.layout import PassageRecord
from index.snapshot.prepared import Hashes

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
