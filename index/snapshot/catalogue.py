"""The catalogue of a snapshot: one entry for each document, by source id.

It is a folder of files, each of which holds entries by id and the ids that are gone; of two that know an id, the later counts. An
update writes a file of what changed and links the others; a file is merged with the one before once that is not twice as large, so
there are few of them. Files are mapped into memory, and an entry is decoded when it is asked for.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, ValuesView
from functools import lru_cache
from heapq import merge
from pathlib import Path

import msgspec
import numpy as np

from index.errors import IndexProblem
from index.model import Entry
from index.snapshot import mapped

FOLDER = "documents"
_MARK = b"document"
_KEPT = 4096
_encode = msgspec.msgpack.Encoder().encode
_entry = msgspec.msgpack.Decoder(Entry).decode


class _Id(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of an entry."""

    source_id: str


_id = msgspec.msgpack.Decoder(_Id).decode


class _CatalogueHead(msgspec.Struct, frozen=True, array_like=True):
    """`documents` of the snapshot that the file was written for; `gone` are ids that older files hold."""

    documents: int
    gone: tuple[str, ...]


def _damaged(path: Path, error: Exception) -> IndexProblem:
    return IndexProblem(f"{path} cannot be read ({error}); build the index again")


class _File:
    """One file of a catalogue; a sequence of ids, ascending."""

    def __init__(self, path: Path) -> None:
        """Raises OSError or ValueError."""
        self.path = path
        value, (starts, self._records) = mapped.read(path, _MARK, _CatalogueHead)
        self.documents, self.gone = value.documents, frozenset(value.gone)
        self._starts = np.frombuffer(starts, dtype="<i8")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: int) -> str:
        """Raises IndexProblem."""
        try:
            return _id(self.record(place)).source_id
        except msgspec.DecodeError as error:
            raise _damaged(self.path, error) from error

    def record(self, place: int) -> memoryview:
        return self._records[self._starts[place] : self._starts[place + 1]]

    def find(self, source_id: str) -> memoryview | None:
        at = bisect_left(self, source_id)
        return self.record(at) if at < len(self) and self[at] == source_id else None


class Catalogue(Mapping[str, Entry]):
    """Safe for any number of threads. Ids come ascending."""

    def __init__(self, folder: Path) -> None:
        """Raises IndexProblem, as every method does where an entry cannot be decoded."""
        self._folder = folder
        try:
            self.files = [_File(path) for path in sorted(folder.iterdir())]
            self._documents = self.files[-1].documents
        except (OSError, ValueError, IndexError) as error:
            raise _damaged(folder, error) from error
        self._find = lru_cache(_KEPT)(self._look_up)

    def _look_up(self, source_id: str) -> Entry | None:
        for file in reversed(self.files):
            if (record := file.find(source_id)) is not None:
                return self._decoded(record)
            if source_id in file.gone:
                break
        return None

    def _decoded(self, record: memoryview) -> Entry:
        try:
            return _entry(record)
        except msgspec.DecodeError as error:
            raise _damaged(self._folder, error) from error

    def __getitem__(self, source_id: str) -> Entry:
        if (entry := self._find(source_id)) is None:
            raise KeyError(source_id)
        return entry

    def __len__(self) -> int:
        return self._documents

    def __iter__(self) -> Iterator[str]:
        return (source_id for source_id, _ in self._records(""))

    def values(self) -> ValuesView[Entry]:
        return _Entries(self)

    def after(self, source_id: str) -> Iterator[Entry]:
        """The entries with an id behind this one, by id; decoded one at a time."""
        return (self._decoded(record) for _, record in self._records(source_id))

    def _records(self, after: str) -> Iterator[tuple[str, memoryview]]:
        """The ids behind this one, ascending, and the entry of each from the last file that knows the id."""
        last = after
        for source_id, position, record in merge(*(self._of(position, after) for position in range(len(self.files)))):
            if source_id != last:
                last = source_id
                if record >= 0:
                    yield source_id, self.files[-position].record(record)

    def _of(self, place: int, after: str) -> Iterator[tuple[str, int, int]]:
        """What a file knows: the id, the file counted from the end, so that the last comes first, and its place there, or -1."""
        file, rank = self.files[place], len(self.files) - place
        live = ((file[at], rank, at) for at in range(bisect_right(file, after), len(file)))
        return merge(live, ((gone, rank, -1) for gone in sorted(file.gone) if gone > after))


class _Entries(ValuesView[Entry]):
    """All entries, decoded one at a time, each time again: to keep them would take a kilobyte a document."""

    _mapping: Catalogue

    def __iter__(self) -> Iterator[Entry]:
        return self._mapping.after("")


def read_catalogue(directory: Path) -> dict[str, Entry]:
    """The documents of a snapshot by source id. Raises IndexProblem."""
    return {entry.source_id: entry for entry in Catalogue(directory / FOLDER).values()}


def write_catalogue(
    directory: Path,
    now: Mapping[str, Entry],
    parent: Path | None,
    before: Mapping[str, Entry],
    link: Callable[[Path, Path], None],
) -> None:
    """`parent` is the previous snapshot, with the documents `before`; its files are linked, or merged with what changed."""
    folder = directory / FOLDER
    folder.mkdir()
    changed = {name: _encode(entry) for name, entry in now.items() if before.get(name) != entry}
    gone = set(before) - set(now)
    files = Catalogue(parent / FOLDER).files if parent is not None else []
    while files and len(files[-1]) + len(files[-1].gone) < 2 * (len(changed) + len(gone)):
        older = files.pop()
        for position in range(len(older)):
            record = older.record(position)
            name = older[position]
            if name not in gone:
                changed.setdefault(name, bytes(record))
        gone |= older.gone - changed.keys()
    for file in files:
        link(file.path, folder / file.path.name)
    if changed or gone or len(now) != (files[-1].documents if files else -1):
        name = f"{int(files[-1].path.stem) + 1 if files else 0:06d}.msgpack"
        ordered = sorted(changed)
        starts = np.cumsum([0, *(len(changed[one]) for one in ordered)], dtype="<i8")
        value = _CatalogueHead(len(now), tuple(sorted(gone)) if files else ())
        mapped.write(folder / name, _MARK, value, (starts.tobytes(), b"".join(changed[one] for one in ordered)))
