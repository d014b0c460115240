"""Bring an index of an older format forward without its documents: their passages are read as that format kept them.

Each format that can still be read has a function here; what it yields is written by today's sink into a new snapshot. Terms,
sets and vectors are made again, so the vectors are as after `--refit`. An older format has to be built from the documents.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from index.build.local_sink import LocalSink
from index.build_job import Tell, no_progress
from index.embedders.embedder import Embedder
from index.errors import IndexProblem
from index.model import FORMAT, Entry, Passage
from index.sink import check_embedder
from index.snapshot import snapshot
from index.snapshot.prepared import hashes
from index.snapshot.snapshot import Manifest, OlderFormat
from index.snapshot.store import read_renamed

Documents = Iterator[tuple[Entry, list[Passage]]]
_passage = msgspec.msgpack.Decoder(Passage).decode
_entries = msgspec.msgpack.Decoder(list[Entry]).decode


def migrate(index: Path, embedder: Embedder | None = None, progress: Tell = no_progress) -> Manifest | None:
    """Make a snapshot in today's format of the current one and publish it; None if that is of today's format already.

    `embedder` is the one that the index was built with, None for LSA. The older snapshots stay until later builds prune them.
    Raises IndexProblem where it cannot be done.
    """
    with snapshot.writing(index):
        directory = index / "snapshots" / snapshot.current(index)
        try:
            snapshot.read_manifest(directory)
            return None
        except OlderFormat as older:
            its_format = older.found.format
        if its_format not in READERS:
            raise IndexProblem(
                f"format {its_format} of {index} is too old to be brought forward;"
                f" read everything again with 'groundwire index build PATH --out {index}'"
            )
        return _rewritten(index, directory, READERS[its_format], embedder, progress)


def _rewritten(
    index: Path, directory: Path, read: Callable[[Path], Documents], embedder: Embedder | None, progress: Tell
) -> Manifest:
    try:
        manifest = msgspec.json.decode((directory / "manifest.json").read_bytes(), type=Manifest)
        if problems := snapshot.verify_files(directory, manifest):
            raise IndexProblem(f"{directory}: {problems[0]}; build the index again")
        check_embedder(manifest, embedder)
        sink = LocalSink(index, embedder, progress, afresh=True)
        try:
            catalogue: dict[str, Entry] = {}
            number = 0
            for old, passages in read(directory):
                entry = msgspec.structs.replace(old, first=number)
                numbered = [msgspec.structs.replace(one, number=n) for n, one in enumerate(passages, number)]
                sink.put(entry, numbered, hashes(numbered))
                catalogue[entry.source_id] = entry
                number += entry.count
            return sink.publish(catalogue, manifest.roots, refit=False)
        finally:
            sink.close()
    except (OSError, ValueError, KeyError, msgspec.MsgspecError) as error:
        raise IndexProblem(
            f"{directory} cannot be read as what it says it is ({error}); build the index again"
        ) from error


def _format_4(directory: Path) -> Documents:
    """documents.msgpack is a list of entries; each segment has its records in NAME.bin and where they start in NAME.npz."""
    renamed = {one.first: one for one in read_renamed(directory / "passages")}
    segments = sorted(map(_Segment4, (directory / "passages").glob("*.bin")), key=lambda one: one.first)
    firsts = [one.first for one in segments]
    entries = _entries((directory / "documents.msgpack").read_bytes())
    for entry in sorted(entries, key=lambda one: one.first):
        passages = segments[bisect_right(firsts, entry.first) - 1].read(entry) if entry.count else []
        if (now := renamed.get(entry.first)) is not None:
            passages = [msgspec.structs.replace(one, source_id=now.source_id, url=now.url) for one in passages]
        yield entry, passages


class _Segment4:
    def __init__(self, path: Path) -> None:
        with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
            self._numbers, self._starts = arrays["numbers"], arrays["starts"]
        self.first = int(self._numbers[0])
        self._records = np.memmap(path, np.uint8, "r")

    def read(self, entry: Entry) -> list[Passage]:
        """The passages of a document, which stand together. Raises ValueError."""
        at = int(np.searchsorted(self._numbers, entry.first))
        found = [
            _passage(self._records[self._starts[n] : self._starts[n + 1]].tobytes())
            for n in range(at, min(at + entry.count, len(self._numbers)))
        ]
        if [one.number for one in found] != list(range(entry.first, entry.first + entry.count)):
            raise ValueError(f"passages of {entry.source_id} are missing")
        return found


#: How to read the documents of each older format. Whoever raises FORMAT adds the one before, or drops those that no longer can.
READERS: dict[int, Callable[[Path], Documents]] = {4: _format_4}
assert FORMAT not in READERS
