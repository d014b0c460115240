"""Keep an index up to date with its folders: each change of a file is in the next snapshot within seconds."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from watchfiles import Change, watch

from index.build.ingest import FolderVanished, UpdateResult, bring_in, follow
from index.documents.access import is_access_file
from index.documents.files import IGNORE_FILES, Ignoring
from index.embedders.embedder import Embedder
from index.errors import IndexProblem
from index.java import jvm
from index.reading.pool import Pool
from index.snapshot import snapshot
from index.snapshot.roots import Root, innermost, plan

#: Changes are taken up once nothing has changed for this long, or the first of them is this old.
QUIET_MS, LONGEST_MS = 300, 2000
#: How often the folders are looked for, and a build that failed is tried again.
_LOOK_MS = 1000


def keep_up(
    index: Path,
    paths: Sequence[str],
    say: Callable[[str], None],
    stop: threading.Event,
    *,
    embedder: Embedder | None = None,
) -> None:
    """Follow `paths`, by default all that the index was built from, until `stop` is set; `say` gets a line for each change.

    A failed build is reported and tried again, and the served snapshot stays. Raises FolderVanished when a folder is gone, and
    IndexProblem when there is nothing to begin with.
    """
    if paths:
        bring_in(index, list(paths), only=False, embedder=embedder)
    with snapshot.hold(index) as handle:
        roots = handle.manifest.roots
    folders = [root.folder for root, _ in plan(paths, roots, anew=False).reads] if paths else [r.folder for r in roots]
    if not folders:
        raise IndexProblem(f"{index} was built from no folder; name one to watch")
    with Pool() as pool:
        first = follow(index, folders, embedder=embedder, pool=pool)
        jvm.start(brief=True)
        say(f"watching {', '.join(folders)}: {first.report.documents} documents in {first.report.snapshot}")
        for line in lines_of(first):
            say(line)
        behind, reported = True, ""  # what changed before the watch began is taken up at its first look
        for changed in _changes(index, roots, folders, stop):
            if not changed and not behind:
                _check_there(folders)
                continue
            try:
                updated = follow(index, folders, embedder=embedder, pool=pool)
                lines, behind, reported = lines_of(updated), False, ""
            except FolderVanished:
                raise
            except (IndexProblem, OSError) as problem:
                line = f"not updated: {problem}; what was served before is still served"
                lines, behind, reported = [line] if line != reported else [], True, line
            for line in lines:
                say(line)


def lines_of(updated: UpdateResult) -> list[str]:
    lines = []
    for change in updated.changes:
        if change.what == "removed":
            lines.append(f"removed {change.source_id}")
        else:
            name = f"{change.before} to {change.source_id}" if change.before else change.source_id
            lines.append(f"{change.what} {name}: {change.passages} passages")
    return [*lines, *(f"skipped {skip.name}: {skip.reason}" for skip in updated.skipped), *updated.report.access]


def _check_there(folders: Sequence[str]) -> None:
    for folder in folders:
        if not Path(folder).is_dir():
            raise FolderVanished(f"{folder} is gone; the index keeps its documents as they were")


def _changes(
    index: Path, roots: Sequence[Root], folders: Sequence[str], stop: threading.Event
) -> Iterator[set[tuple[Change, str]]]:
    """What changed, or an empty set when nothing did for a while."""
    own = Root(folder=str(index.resolve()))
    rules: dict[str, Ignoring] = {}

    def concerns_us(_: Change, path: str) -> bool:
        root = innermost(path, roots)
        if root is None or own.holds(path):
            return False
        if Path(path).name in IGNORE_FILES:
            rules.clear()
            return True
        if is_access_file(Path(path).name):
            return True
        inside = path.removeprefix(root.folder).strip("/")
        if not inside:
            return True
        if root.folder not in rules:
            rules[root.folder] = Ignoring(root)
        parts = inside.split("/")
        above = ("/".join(parts[:length]) for length in range(1, len(parts) + 1))
        return not any(rules[root.folder].leaves_out(one, folder=True) for one in above)

    try:
        yield from watch(
            *folders,
            watch_filter=concerns_us,
            debounce=LONGEST_MS,
            step=QUIET_MS,
            stop_event=stop,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
    except OSError as error:
        raise IndexProblem(
            f"the folders cannot be watched ({error}); on Linux, raise fs.inotify.max_user_watches"
        ) from None
