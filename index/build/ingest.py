"""Update an index from files: the work behind `groundwire index build`, `add`, `remove` and `watch`."""

import io
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import IO, NamedTuple

from index.build.build import Build, Change
from index.build.intake import Intake
from index.build.opening import Index, index_at
from index.build_job import Tell, no_progress
from index.documents.files import Finder
from index.documents.report import Report, Skip, now_skipped
from index.embedders.embedder import Embedder
from index.errors import IndexProblem
from index.model import counted
from index.reading.job import Limits
from index.reading.pool import Pool
from index.reading.readings import Readings, discard
from index.sink import SinkOptions
from index.snapshot import snapshot
from index.snapshot.roots import NO_RULES, Plan, Root, Rules, plan

STDIN = "-"


class FolderVanished(IndexProblem):
    """A folder is gone that the index holds documents of; it may come back."""


class UpdateResult(NamedTuple):
    """What one reading of the files came to; `skipped` are those that were not skipped, or not for that reason, before."""

    report: Report
    changes: list[Change]
    skipped: list[Skip]


def bring_in(
    at: Path | Index,
    patterns: list[str],
    *,
    only: bool,
    rules: Rules = NO_RULES,
    embedder: Embedder | None = None,
    progress: Tell = no_progress,
    stdin: IO[bytes] | None = None,
    stdin_name: str = "stdin.jsonl",
    limits: Limits | None = None,
    processes: int = 0,
    pool: Pool | None = None,
) -> Report:
    """Index the files of `patterns` and publish a snapshot if anything changed; the pattern `-` is standard input.

    `only`: remove documents that come from elsewhere or of deleted files; an unreadable index is then made from scratch.
    `limits` are those of one document, `processes` how many read them (0: as many as cores), `pool` reading processes that
    stay for the next time instead. Raises IndexProblem when nothing at all can be read.
    """
    began = time.monotonic()
    paths = [pattern for pattern in patterns if pattern != STDIN]
    index = _index(at)
    with index.writing():
        unusable = _unusable(index) if only else None
        found = unusable.found if isinstance(unusable, snapshot.OlderFormat) else None
        with closing(Build(index.sink(SinkOptions(embedder, progress, afresh=unusable is not None)))) as build:
            planned = plan(paths, found.roots if found else build.roots, rules, anew=only)
            finder = Finder(planned, index.folder)
            reading = nullcontext(pool) if pool is not None else Pool(limits, processes)
            with reading as readers, Readings(index.folder) as kept:
                earlier = index.skipped().files
                work = Intake(build, readers, progress, exactly=only, earlier=earlier, kept=kept)
                if STDIN in patterns:
                    work.take_stream(stdin or io.BytesIO(), stdin_name)
                work.take_files(list(finder.find()), planned.roots)
            if not work.seen and (only or not build.catalogue):
                reasons = "; ".join(f"{skip.name}: {skip.reason}" for skip in work.report.skipped[:3])
                stays = "the index is as it was" if index.exists() else "no index was made"
                raise IndexProblem(
                    f"nothing to index in {', '.join(patterns)}{f' ({reasons})' if reasons else ''}; {stays}"
                )
            work.drop_vanished()
            work.regroup()
            build.roots = planned.roots
            if found is not None:
                work.report.note = f"format {found.format} is of an older version; everything is read again"
            elif unusable is not None:
                work.report.note = f"the index could not be used, so everything is read again: {unusable}"
            elif kept.taken_over:
                work.report.note = (
                    f"what a build that was stopped had read was not read again: {kept.taken_over:,} files or parts"
                )
            return _publish(index, build, work, finder, began).report


def _index(at: Path | Index) -> Index:
    return index_at(at) if isinstance(at, Path) else at


def _unusable(index: Index) -> IndexProblem | None:
    """Why the index that is there cannot be built upon."""
    if not index.exists():
        return None
    try:
        index.check()
    except IndexProblem as problem:
        return problem
    return None


def follow(
    at: Path | Index,
    folders: Sequence[str] = (),
    *,
    embedder: Embedder | None = None,
    progress: Tell = no_progress,
    pool: Pool | None = None,
) -> UpdateResult:
    """Update the documents below `folders`, by default all that the index was built from; other documents stay.

    A file that could not be read before and is the same is not tried again. Raises FolderVanished when a folder is gone, or is
    empty though the index holds documents of it, and IndexProblem. `pool`: reading processes that stay for the next time.
    """
    began = time.monotonic()
    index = _index(at)
    with index.writing(), closing(Build(index.sink(SinkOptions(embedder, progress)))) as build:
        followed = [root for root in build.roots if not folders or root.folder in folders]
        for root in followed:
            _refuse_vanished(root, build)
        planned = Plan(build.roots, tuple((root, root.reads) for root in followed))
        finder = Finder(planned, index.folder)
        with nullcontext(pool) if pool is not None else Pool() as readers, Readings(index.folder) as kept:
            earlier = index.skipped().files
            work = Intake(build, readers, progress, exactly=False, earlier=earlier, again=False, kept=kept)
            work.take_files(list(finder.find()), planned.roots)
        work.drop_vanished(below=[root.folder for root in followed])
        work.regroup()
        if not build.catalogue:
            raise IndexProblem(f"that would leave {index} empty; it stays as it was")
        return _publish(index, build, work, finder, began)


def _refuse_vanished(root: Root, build: Build) -> None:
    count = sum(root.holds(entry.origin) for entry in build.catalogue.values())
    folder = Path(root.folder)
    if not folder.is_dir() or (count and not any(folder.iterdir())):
        what = "is empty" if folder.is_dir() else "is gone"
        raise FolderVanished(f"{folder} {what}; the index keeps its {count} documents as they were")


def take_out(at: Path | Index, source_ids: Iterable[str], progress: Tell = no_progress) -> Report:
    """Remove documents. Raises IndexProblem, and removes nothing, when one does not exist or none would be left."""
    began = time.monotonic()
    index = _index(at)
    index.newest()
    with index.writing(), closing(Build(index.sink(SinkOptions(progress=progress, foreign_vectors=True)))) as build:
        for source_id in source_ids:
            if not build.remove(source_id):
                raise IndexProblem(f"no document {source_id!r} in {index}; 'groundwire index list' names them")
        if not build.catalogue:
            raise IndexProblem(f"that would leave {index} empty; delete the folder instead")
        manifest = build.publish()
        discard(index.folder)
        return finish(Report(), build, manifest, began)


def _publish(index: Index, build: Build, work: Intake, finder: Finder, began: float) -> UpdateResult:
    work.report.left_out = dict((finder.left_out + work.left_out).most_common())
    manifest = build.publish()
    discard(index.folder)
    report = finish(work.report, build, manifest, began)
    earlier = index.skipped()
    index.keep_skipped(now_skipped(earlier, report, None if work.exactly else work.looked_at))
    known = {(skip.name, skip.reason) for skip in earlier.files}
    fresh = [skip for skip in report.skipped if (skip.name, skip.reason) not in known]
    return UpdateResult(report, build.changes, fresh)


def finish(report: Report, build: Build, manifest: snapshot.Manifest, began: float) -> Report:
    report.snapshot = manifest.snapshot
    report.documents = manifest.documents
    for what in ("added", "changed", "moved", "removed"):
        setattr(report, what, sum(change.what == what for change in build.changes))
    report.passages, report.languages = manifest.passages, manifest.languages
    report.groups = counted(entry.groups for entry in build.catalogue.values())
    report.seconds = round(time.monotonic() - began, 3)
    report.megabytes = round(report.megabytes, 3)
    return report
