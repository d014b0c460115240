"""From an address to an index, which may be a folder: the start of every search and build."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from index.backend import Snapshots
from index.documents.report import Skipped, read_skipped, write_skipped
from index.model import Entry
from index.plugins import installed
from index.search.local_backend import LocalSnapshots
from index.sink import USUAL, Sink, SinkOptions
from index.snapshot import snapshot
from index.snapshot.catalogue import read_catalogue

if TYPE_CHECKING:
    from index.check import Stats


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """What opens an index at a URL. `ca`: the file of the authorities that its certificate is checked by; empty: the system's."""

    user: str = ""
    password: str = ""
    ca: str = ""


_NONE = Credentials()


class Index(Snapshots, Protocol):
    """An index to search and to build. Every method raises IndexProblem."""

    @property
    def folder(self) -> Path | None:
        """Its own folder, which contains no documents; None without a folder."""

    def exists(self) -> bool:
        """Whether there is a snapshot, readable or not."""

    def check(self) -> None:
        """Raises IndexProblem where the newest snapshot cannot be built upon, OlderFormat where it is of an older version."""

    def writing(self) -> AbstractContextManager[None]:
        """Become its only writer."""

    def sink(self, options: SinkOptions = USUAL) -> Sink:
        """Where a build writes; inside `writing`."""

    def skipped(self) -> Skipped:
        """The files that were last found but not read."""

    def keep_skipped(self, skipped: Skipped) -> None: ...

    def entries(self, name: str | None = None) -> list[Entry]:
        """The documents of a snapshot, by default of the newest."""

    def stats(self, name: str | None = None) -> "Stats": ...

    def verify(self, name: str | None = None) -> list[str]:
        """The defects of a snapshot, one line each; empty when it is intact."""


class LocalIndex(LocalSnapshots):
    """A folder."""

    def exists(self) -> bool:
        return snapshot.exists(self.folder)

    def check(self) -> None:
        self.entries()

    def writing(self) -> AbstractContextManager[None]:
        return snapshot.writing(self.folder)

    def sink(self, options: SinkOptions = USUAL) -> Sink:
        from index.build.local_sink import LocalSink  # a search needs none of it

        return LocalSink(self.folder, options)

    def skipped(self) -> Skipped:
        return read_skipped(self.folder)

    def keep_skipped(self, skipped: Skipped) -> None:
        write_skipped(self.folder, skipped)

    def entries(self, name: str | None = None) -> list[Entry]:
        with snapshot.hold(self.folder, name) as handle:
            return list(read_catalogue(handle.directory).values())

    def stats(self, name: str | None = None) -> "Stats":
        from index.check import stats  # a search needs none of it

        return stats(self.folder, name)

    def verify(self, name: str | None = None) -> list[str]:
        from index.check import verify

        return verify(self.folder, name)


def is_url(address: str) -> bool:
    """Whether an index of a plug-in has this address: the entry points of `groundwire.indexes` are named after URL schemes."""
    scheme, separator, _ = address.partition("://")
    return bool(separator) and scheme in installed("indexes")


def index_at(address: str | Path, credentials: Credentials = _NONE) -> Index:
    """The index in a folder or at a URL. Raises IndexProblem."""
    if isinstance(address, str) and is_url(address):
        index: Index = installed("indexes")[address.partition("://")[0]].load()(address, credentials)
        return index
    return LocalIndex(Path(address))
