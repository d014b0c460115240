"""Update an index from files: the work behind `groundwire index build`, `add` and `remove`."""

import io
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import msgspec

from index import passages, snapshot
from index.build import Build, no_progress
from index.build_job import Tell
from index.embedder import Embedder
from index.errors import IndexProblem
from index.files import RECORDS, Found, find
from index.model import Entry
from index.readers.formats import Source, read
from index.readers.records import read_records
from index.readers.unreadable import Unreadable

STDIN = "-"
_MAX_LISTED = 1000


class Skip(msgspec.Struct, frozen=True):
    """What was skipped and why. `failed`: it should have been indexed but could not be."""

    name: str
    reason: str
    failed: bool


class Report(msgspec.Struct, kw_only=True):
    """`skipped` holds the first 1,000; `skipped_count` counts all. `megabytes` is the amount read, in 10^6 bytes."""

    snapshot: str = ""
    files: int = 0
    unchanged_files: int = 0
    documents: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    passages: int = 0
    languages: dict[str, int] = {}
    megabytes: float = 0.0
    seconds: float = 0.0
    skipped: list[Skip] = []
    skipped_count: int = 0
    failed_count: int = 0

    def skip(self, name: str, reason: Unreadable) -> None:
        self.skipped_count += 1
        self.failed_count += reason.failed
        if len(self.skipped) < _MAX_LISTED:
            self.skipped.append(Skip(name, str(reason), reason.failed))


def bring_in(
    index: Path,
    patterns: list[str],
    *,
    only: bool,
    refit: bool = False,
    embedder: Embedder | None = None,
    progress: Tell = no_progress,
    stdin: IO[bytes] | None = None,
    stdin_name: str = "stdin.jsonl",
) -> Report:
    """Index the files of `patterns` and publish a snapshot if anything changed; the pattern `-` is standard input.

    `only`: remove documents that come from elsewhere or whose file is gone. Raises IndexProblem when nothing at all can
    be read.
    """
    began = time.monotonic()
    with snapshot.writing(index):
        build = Build(index, embedder, progress)
        try:
            work = _Intake(build, progress)
            if STDIN in patterns:
                work.take_stream(stdin or io.BytesIO(), stdin_name)
            work.take_files(list(find([pattern for pattern in patterns if pattern != STDIN])))
            if not work.seen and (only or not build.catalogue):
                reasons = "; ".join(f"{skip.name}: {skip.reason}" for skip in work.report.skipped[:3])
                raise IndexProblem(
                    f"nothing to index in {', '.join(patterns)}{f' ({reasons})' if reasons else ''}; the index is as it was"
                )
            work.drop_vanished(everything_else=only)
            manifest = build.publish(refit=refit)
        finally:
            build.close()
    return finish(work.report, build, manifest, began)


def take_out(index: Path, source_ids: Iterable[str], progress: Tell = no_progress) -> Report:
    """Remove documents. Raises IndexProblem, and removes nothing, when one does not exist or none would be left."""
    began = time.monotonic()
    snapshot.current(index)
    with snapshot.writing(index):
        build = Build(index, foreign_vectors=True, progress=progress)
        try:
            for source_id in source_ids:
                if not build.remove(source_id):
                    raise IndexProblem(f"no document {source_id!r} in {index}; 'groundwire index list' names them")
            if not build.catalogue:
                raise IndexProblem(f"that would leave {index} empty; delete the folder instead")
            manifest = build.publish()
        finally:
            build.close()
    return finish(Report(), build, manifest, began)


def finish(report: Report, build: Build, manifest: snapshot.Manifest, began: float) -> Report:
    report.snapshot = manifest.snapshot
    report.documents = manifest.documents
    report.added, report.changed, report.removed = build.added, build.changed, build.removed
    report.passages, report.languages = manifest.passages, manifest.languages
    report.seconds = round(time.monotonic() - began, 3)
    report.megabytes = round(report.megabytes, 3)
    return report


class _Intake:
    """Feeds new and changed documents into a build, and remembers what it has seen."""

    def __init__(self, build: Build, progress: Tell) -> None:
        self.report = Report()
        self.seen: dict[str, str] = {}  # source id -> origin
        self._touched: set[str] = set()  # origins
        self._build = build
        self._progress = progress
        self._known: dict[str, list[Entry]] = {}
        for entry in build.catalogue.values():
            self._known.setdefault(entry.origin, []).append(entry)

    def take_files(self, files: list[Found]) -> None:
        for done, found in enumerate(files):
            if done % 20 == 0:
                self._progress("read", done, len(files))
            if found.problem is not None:
                self.report.skip(found.source_id, found.problem)
                continue
            try:
                self._take_file(found)
            except (OSError, MemoryError) as error:
                self.report.skip(found.source_id, Unreadable(f"cannot be read ({error})"))
        self._progress("read", len(files), len(files))

    def _take_file(self, found: Found) -> None:
        status = found.path.stat()
        stamp = f"{status.st_size}.{status.st_mtime_ns}.{passages.VERSION}"
        self._touched.add(found.origin)
        known = self._known.get(found.origin, [])
        if known and all(entry.stamp == stamp for entry in known):
            self.report.unchanged_files += 1
            for entry in known:
                self.seen[entry.source_id] = found.origin
            return
        self.report.files += 1
        self.report.megabytes += status.st_size / 1e6
        suffix = found.path.suffix.lower()
        with found.path.open("rb") as file:
            if suffix in RECORDS:
                self._take_records(file, found.source_id, found.origin, stamp, status.st_size)
            else:
                self._take_data(file.read(), found.source_id, found.origin, stamp)

    def take_stream(self, stream: IO[bytes], name: str) -> None:
        self.report.files += 1
        origin = f"-/{name}"
        self._touched.add(origin)
        if Path(name).suffix.lower() in RECORDS:
            self._take_records(stream, name, origin, "", 0)
        else:
            self._take_data(stream.read(), name, origin, "")

    def _take_data(self, data: bytes, source_id: str, origin: str, stamp: str) -> None:
        path = Path(source_id)
        try:
            document = read(Source(data, source_id, path.stem.replace("_", " "), path.suffix.lower()))
        except Unreadable as reason:
            self.report.skip(source_id, reason)
            return
        if self._is_new_here(source_id, origin, source_id):
            self._build.put(document, origin, stamp)

    def _take_records(self, file: IO[bytes], name: str, origin: str, stamp: str, size: int) -> None:
        for number, document in read_records(file):
            if number % 500 == 0 and size:
                self._progress("records", min(file.tell(), size), size)
            if isinstance(document, Unreadable):
                self.report.skip(f"{name} line {number}", document)
            elif self._is_new_here(document.source_id, origin, f"{name} line {number}"):
                self._build.put(document, origin, stamp)

    def _is_new_here(self, source_id: str, origin: str, name: str) -> bool:
        if source_id in self.seen:
            self.report.skip(name, Unreadable(f"source_id {source_id} was given before, by {self.seen[source_id]}"))
            return False
        self.seen[source_id] = origin
        return True

    def drop_vanished(self, *, everything_else: bool) -> None:
        """Remove documents that a re-read file no longer contains and, if asked, all that were not seen."""
        for source_id, entry in list(self._build.catalogue.items()):
            if source_id not in self.seen and (everything_else or entry.origin in self._touched):
                self._build.remove(source_id)
