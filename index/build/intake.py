"""Feed files into a build: an unchanged file is not read again, a moved file keeps its passages, nothing is lost silently."""

import io
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from index.build.build import Build
from index.build_job import Tell
from index.documents import archives
from index.documents.access import ACCESS_FILE, AccessRules, is_access_file
from index.documents.files import RECORDS, FileToRead, Ignoring, too_large, unsupported
from index.documents.report import Report, Skip
from index.model import Entry, Groups
from index.readers import Unreadable
from index.reading.job import Outcome, Task
from index.reading.pool import Pool
from index.reading.readings import Readings
from index.snapshot.roots import Root
from index.snapshot.snapshot import sha256_of
from index.source_paths import printable
from index.text import passages

_STDIN = "-/"
#: A task to read, if any, and the function for its outcomes.
Work = tuple[Callable[[list[Outcome]], None], Task | None]


class Intake:
    """`exactly`: the index gets these files and nothing else; otherwise documents of other files stay.

    `earlier` is what was skipped the last time. `again`: try files that could not be read then, though they are the same.
    `kept` is what a build that was stopped had read, and where this one keeps what it reads.
    """

    def __init__(
        self,
        build: Build,
        pool: Pool,
        progress: Tell,
        *,
        exactly: bool,
        earlier: Iterable[Skip] = (),
        again: bool = True,
        kept: Readings | None = None,
    ) -> None:
        self.report = Report()
        self.exactly = exactly
        self.seen: dict[str, str] = {}  # source id -> origin
        self.looked_at: set[str] = set()  # origins
        self.left_out: Counter[str] = Counter()
        self._build = build
        self._pool = pool
        self._progress = progress
        self._kept = kept
        self._roots: Sequence[Root] = ()
        self._planned: dict[str, str] = {}  # origin -> the id of its document or archive
        self._shut: list[str] = []  # folders that cannot be listed
        self._known: dict[str, list[Entry]] = {}  # by origin
        self._access = AccessRules()
        self._paths: dict[str, Path] = {}  # by origin, of the files that were looked at
        self._again = again
        self._earlier: dict[str, list[Skip]] = {}  # by origin
        for skip in earlier:
            self._earlier.setdefault(skip.origin, []).append(skip)
        self._contents: dict[str, list[str]] = {}  # digest of bytes -> source ids
        for entry in build.catalogue.values():
            self._known.setdefault(entry.origin, []).append(entry)
            if entry.content:
                self._contents.setdefault(entry.content.partition(".")[0], []).append(entry.source_id)

    def take_files(self, files: list[FileToRead], roots: Sequence[Root]) -> None:
        """Raises IndexProblem when their groups are not known."""
        self._roots = roots
        self._paths |= {file.origin: file.path for file in files}
        self._access.check({file.path.parent for file in files})
        self._rename(files)
        self._do(self._work(files))
        self._progress("read", len(files), len(files))

    def _do(self, work: Iterable[Work]) -> None:
        for step, outcomes in self._pool.read(work, self._kept, self._progress):
            step(outcomes)

    def _work(self, files: list[FileToRead]) -> Iterator[Work]:
        """Tasks to read, each with the function for its outcomes. Tasks run ahead of outcomes, so nothing is decided here."""
        for done, result in enumerate(files):
            if done % 20 == 0:
                yield _just(self._progress, "read", done, len(files))
            self.looked_at.add(result.origin)
            if result.closed:
                self._shut.append(result.origin)
            if result.problem is not None:
                yield _just(self.report.skip, result.source_id, result.problem, result.origin)
                continue
            try:
                yield from self._file_work(result)
            except (OSError, MemoryError) as error:
                yield _just(self._keep_unreadable, result, error)

    def _rename(self, files: list[FileToRead]) -> None:
        """After the roots have changed, move documents to their new ids."""
        for file in files:
            if file.problem is None:
                self._planned.setdefault(file.origin, file.source_id)
        ids: dict[str, str] = {}  # new -> old
        for origin, now in self._planned.items():
            for entry in self._known.get(origin, ()):
                new = _id_now(entry, now)
                holder = self._build.catalogue.get(new)
                if new != entry.source_id and new not in ids and (holder is None or not self._is_still_there(holder)):
                    ids[new] = entry.source_id
        if ids:
            self._move({old: new for new, old in ids.items()})

    def _move(self, ids: dict[str, str]) -> None:
        self._build.move(ids)
        self._known = {}
        for entry in self._build.catalogue.values():
            self._known.setdefault(entry.origin, []).append(entry)

    def _file_work(self, found: FileToRead) -> Iterator[Work]:
        status = found.path.stat()
        stamp = f"{status.st_size}.{status.st_mtime_ns}.{_basis(found.root)}"
        known = self._known.get(found.origin, [])
        if known and all(
            entry.stamp == stamp
            and _id_now(entry, found.source_id) == entry.source_id
            and _member(entry, found.source_id) is not None
            for entry in known
        ):
            yield _just(self._unchanged, known, stamp)
            return
        if not self._again and any(skip.stamp == stamp for skip in self._earlier.get(found.origin, ())):
            yield _just(self._see, known)
            yield _just(self._skip_as_before, found.origin)
            return
        suffix = found.path.suffix.lower()
        if archives.is_archive(found.path.name):
            yield from self._archive_work(found, stamp)
        elif suffix in RECORDS:
            content = _content(found.path, found.root)
            if known and all(entry.content == content for entry in known):
                yield _just(self._unchanged, known, stamp)
                return
            yield from self._record_work(found.path, found.source_id, found.origin, stamp, content)
        else:
            work = self._document_work(found, found.inside, stamp, found.path)
            yield work
            if work[1] is None:
                self.report.unchanged_files += 1
                return
        self.report.files += 1
        self.report.megabytes += status.st_size / 1e6

    def _archive_work(self, found: FileToRead, stamp: str) -> Iterator[Work]:
        rules = Ignoring(found.root)
        try:
            if any(is_access_file(Path(member.name).name) for member in archives.members(found.path)):
                raise Unreadable(f"holds an {ACCESS_FILE}, which counts in a folder only; unpack it")
            for member in archives.members(found.path):
                inside = f"{found.inside}/{member.name}"
                name = found.root.id_of(inside)
                if why := rules.leaves_out_wherever(inside) if member.name else "members without a name":
                    self.left_out[why] += 1
                    continue
                problem = member.problem or _unfit(member)
                if problem is not None:
                    yield _just(self.report.skip, name, problem, found.origin)
                    continue
                path = self._build.spooled(io.BytesIO(member.read()))
                if Path(member.name).suffix.lower() in RECORDS:
                    content = _content(path, found.root)
                    yield from self._record_work(path, name, found.origin, stamp, content, member.name)
                else:
                    yield self._document_work(found, inside, stamp, path)
                yield _just(path.unlink)
        except Unreadable as reason:
            yield _just(self.report.skip, found.source_id, reason, found.origin, stamp)

    def _document_work(self, found: FileToRead, inside: str, stamp: str, path: Path) -> Work:
        """One file or member of an archive, which `path` holds; not to be read when its bytes are those that were read before."""
        content = _content(path, found.root)
        source_id = found.root.id_of(inside)
        known = self._build.catalogue.get(source_id)
        if known is not None and known.origin == found.origin and known.content == content:
            return _just(self._same, source_id, found.origin, stamp)
        published = (
            inside
            if inside == found.inside
            else f"{Path(found.inside).parent.as_posix()}/{inside[len(found.inside) + 1 :]}"
        )
        url = found.root.url_of(published.removeprefix("./"))
        self._build.warm_up()
        task = _task(path, source_id, url, content)
        return partial(self._take_document, found.origin, stamp, content), task

    def _same(self, source_id: str, origin: str, stamp: str) -> None:
        if source_id in self.seen:
            self._is_free(source_id, origin, source_id)  # names the owner
        else:
            self._build.touch(source_id, stamp)
            self.seen[source_id] = origin

    def _take_document(self, origin: str, stamp: str, content: str, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.read is None:
                self._skip_document(outcome, origin, stamp)
            elif self._is_free(outcome.name, origin, outcome.name):
                self._take_over(outcome.name, content)
                self._build.put(outcome.read, origin, stamp, content)

    def _skip_document(self, outcome: Outcome, origin: str, stamp: str) -> None:
        """What the index holds of a document stays when only this reading of it was too much."""
        reason = outcome.reason
        known = self._build.catalogue.get(outcome.name)
        if outcome.this_time and known is not None and known.origin == origin:
            self.seen[outcome.name] = origin
            reason += "; what was read of it before stays"
        self.report.skip(outcome.name, Unreadable(reason, failed=outcome.failed), origin, stamp)

    def take_stream(self, stream: IO[bytes], name: str) -> None:
        self.report.files += 1
        origin = f"{_STDIN}{name}"
        self.looked_at.add(origin)
        self._planned[origin] = name
        path = self._build.spooled(stream)
        if Path(name).suffix.lower() in RECORDS:
            self._do(self._record_work(path, name, origin, "", ""))
        else:
            task = _task(path, name)
            self._do([(partial(self._take_document, origin, "", ""), task)])
        path.unlink()

    def _record_work(
        self, path: Path, name: str, origin: str, stamp: str, content: str, member: str = ""
    ) -> Iterator[Work]:
        self._build.warm_up()
        whole = _task(path, name, content=content)
        for task in whole.stretches():
            yield _just(self._progress, "records", task.start, whole.size_bytes)
            yield partial(self._take_records, origin, stamp, content, member), task

    def _take_records(self, origin: str, stamp: str, content: str, member: str, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.read is None:
                self.report.skip(outcome.name, Unreadable(outcome.reason, failed=outcome.failed), origin)
            elif self._is_free(outcome.read.entry.source_id, origin, outcome.name, record=True):
                self._build.put(outcome.read, origin, stamp, content, member)

    def _is_free(self, source_id: str, origin: str, name: str, *, record: bool = False) -> bool:
        """Whether a document may have this id; an earlier document keeps it, and the other is named."""
        holder = self._build.catalogue.get(source_id)
        by = self.seen.get(source_id)
        if by is None and holder is not None and holder.origin != origin and self._is_still_there(holder):
            replaces = record and _is_record(holder)
            by = None if replaces else holder.origin
        if by is not None:
            reason = f"source_id {source_id} was given before, by {by}; rename one of the two"
            self.report.skip(name, Unreadable(reason), origin)
            return False
        self.seen[source_id] = origin
        return True

    def _is_still_there(self, entry: Entry) -> bool:
        """Whether the file of this document still gives it this id."""
        if entry.origin in self._planned:
            return _id_now(entry, self._planned[entry.origin]) == entry.source_id
        return not self.exactly and (entry.origin.startswith(_STDIN) or _exists(entry.origin))

    def _take_over(self, source_id: str, content: str) -> None:
        """Identify a new document with a document of the same bytes that has lost its file."""
        if source_id in self._build.catalogue or not content:
            return
        name = Path(source_id).name
        gone = [
            entry
            for old in self._contents.get(content.partition(".")[0], ())
            if (entry := self._build.catalogue.get(old)) is not None
            and old not in self.seen
            and not _is_record(entry)
            and entry.origin not in self._planned
            and (self.exactly or self._has_gone(entry))
        ]
        if gone:
            best = min(gone, key=lambda entry: (Path(entry.source_id).name != name, entry.source_id))
            self._move({best.source_id: source_id})

    def _has_gone(self, entry: Entry) -> bool:
        """Whether the file is gone and its folder is not, which could come back."""
        root = next((root for root in self._roots if root.holds(entry.origin)), None)
        return root is not None and os.path.isdir(root.folder) and not _exists(entry.origin)

    def _keep_unreadable(self, found: FileToRead, error: OSError | MemoryError) -> None:
        """A file that is there but cannot be opened now: what the index holds of it stays."""
        self.report.skip(
            found.source_id,
            Unreadable(f"cannot be read ({getattr(error, 'strerror', '') or 'out of memory'})"),
            found.origin,
        )
        self._see(self._known.get(found.origin, ()))

    def _skip_as_before(self, origin: str) -> None:
        for skip in self._earlier.get(origin, ()):
            self.report.add(skip)

    def _unchanged(self, entries: Iterable[Entry], stamp: str) -> None:
        self.report.unchanged_files += 1
        for entry in entries:
            self._build.touch(entry.source_id, stamp)
        self._see(entries)
        self._skip_as_before(next((entry.origin for entry in entries), ""))

    def _see(self, entries: Iterable[Entry]) -> None:
        self.seen |= {entry.source_id: entry.origin for entry in entries}

    def drop_vanished(self, *, below: Sequence[str] = ()) -> None:
        """Remove documents that their file no longer contains, and those of files that are gone from below these folders, or from
        anywhere if the index is to hold exactly what was taken in.
        """
        roots = [Root(folder=folder) for folder in below]
        shut = [Root(folder=folder) for folder in self._shut]
        for source_id, entry in list(self._build.catalogue.items()):
            if source_id in self.seen or any(folder.holds(entry.origin) for folder in shut):
                continue
            if self.exactly or entry.origin in self.looked_at or any(root.holds(entry.origin) for root in roots):
                self._build.remove(source_id)

    def regroup(self) -> None:
        """Set the groups of every checked document by the present access.toml. Raises IndexProblem."""
        access: dict[str, Groups] = {}
        for source_id, entry in self._build.catalogue.items():
            path, planned = self._paths.get(entry.origin), self._planned.get(entry.origin)
            if path is not None and planned is not None:
                member = _member(entry, planned)
                access[source_id] = () if member is None else self._access.groups_for(path, member)
        self._build.regroup(access)
        entries = self._build.catalogue.values()
        hidden = [entry.source_id for entry in entries if entry.groups == ()]
        if hidden:
            also = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
            self.report.access.append(f"no group sees {hidden[0]}{also}: what names groups for it agrees on none")
        if all(entry.origin in self._paths for entry in entries):
            self.report.access += self._access.unused()


def _just[**P](do: Callable[P, object], *arguments: P.args, **named: P.kwargs) -> Work:
    """Something to do in its turn, with nothing to read."""

    def step(outcomes: list[Outcome]) -> None:
        do(*arguments, **named)

    return step, None


def _task(path: Path, name: str, url: str = "", content: str = "") -> Task:
    """`name` is the source id, of which the title is made and the suffix taken."""
    title, suffix = Path(name).stem.replace("_", " "), Path(name).suffix.lower()
    return Task(
        path=os.fsencode(path.absolute()),
        source_id=name,
        title=title,
        suffix=suffix,
        size_bytes=path.stat().st_size,
        url=url,
        content=content,
    )


def _unfit(member: archives.Member) -> Unreadable | None:
    if archives.is_archive(member.name):
        return Unreadable("an archive in an archive; unpack the outer one")
    return unsupported(member.name) or too_large(member.size)


def _id_now(entry: Entry, planned: str) -> str:
    """The id of this document of a file, when the file has the id `planned`; records have ids of their own."""
    if _is_record(entry):
        return entry.source_id
    if archives.is_archive(entry.origin) and not entry.source_id.startswith(f"{planned}/"):
        name = Path(entry.origin).name
        _, result, member = entry.source_id.partition(f"{printable(name)}/")
        return f"{planned}/{member}" if result else entry.source_id
    return entry.source_id if archives.is_archive(entry.origin) else planned


def _member(entry: Entry, planned: str) -> str | None:
    """The path in its archive of what this document was read from, empty for a file of its own; None when that is not known."""
    if not archives.is_archive(entry.origin):
        return ""
    return entry.member or (entry.source_id[len(planned) + 1 :] if entry.source_id.startswith(f"{planned}/") else None)


def _is_record(entry: Entry) -> bool:
    return Path(entry.origin).suffix.lower() in RECORDS


def _exists(origin: str) -> bool:
    return os.path.lexists(origin) or os.path.lexists(unquote(origin, errors="surrogateescape"))


def _basis(root: Root) -> str:
    """The inputs of a document other than its file's bytes."""
    address = f".{zlib.crc32(root.base_url.encode()):x}" if root.base_url else ""
    return f"{passages.VERSION}{address}"


def _content(path: Path, root: Root) -> str:
    """The inputs of a document."""
    return f"{sha256_of(path)[:32]}.{_basis(root)}"
