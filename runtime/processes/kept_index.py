"""An index kept open whatever happens to its files: the newest whole snapshot is served, an older one where that is damaged.

A folder that goes away while it is served changes nothing for searches, since what they read is open. What cannot be opened at
all is a problem that every search is told, until the files are there again.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from index.errors import IndexProblem
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.snapshot import NewerFormat, OlderFormat

log = logging.getLogger(__name__)

#: At most so often are the files of a snapshot read through because searches in it break, in seconds, and so small a part of the
#: time: a large index takes long to read, and what breaks may be the question.
SUSPECT_AGAIN_S = 2.0
SHARE = 0.05

#: A snapshot's files as they were when it was found damaged: path, size, time of change.
type _Seen = tuple[tuple[str, int, int], ...]


class KeptIndex:
    """`look` opens, follows and mends, from one thread at a time; `searcher` may be called from any.

    `problem`: what is wrong; empty for nothing.
    """

    def __init__(self, directory: Path, open_snapshot: Callable[[str], Searcher], unasked_s: float = 120.0) -> None:
        """`open_snapshot`: opens a snapshot by its name. Raises IndexProblem. An earlier one is closed when it was not asked for so
        long.
        """
        self._unasked_s = unasked_s
        self._directory = directory
        self._open = open_snapshot
        self._searcher: Searcher | None = None
        self._suspect = True  # what was damaged before the start is found soon after it
        self._broke = False
        self._look_again_at = 0.0
        self._damaged: dict[str, _Seen] = {}
        self.problem = "the index is not open yet"

    @property
    def snapshot(self) -> str:
        """The snapshot that is served; empty for none."""
        return self._searcher.snapshot if self._searcher is not None else ""

    @property
    def damaged(self) -> bool:
        """Whether the snapshot that should be served is known to be damaged."""
        try:
            return snapshot.current(self._directory) in self._damaged
        except IndexProblem:
            return False

    def searcher(self) -> Searcher:
        """Raises IndexProblem with the reason why nothing is served."""
        if self._searcher is None:
            raise IndexProblem(self.problem)
        return self._searcher

    def suspect(self) -> None:
        """A search broke in a way that it should not: have the files looked at."""
        self._suspect = self._broke = True

    def look(self) -> bool:
        """Serve the newest whole snapshot; true when that is another than before. Raises nothing for a broken index."""
        before = self.snapshot
        try:
            if self._searcher is None or self._found_damaged():
                self._serve_whole()
            elif (newer := self._newer()) is not None:
                self._searcher.swap_to(newer)
            self._told("")
        except IndexProblem as problem:
            self._told(" ".join(str(problem).split()))
        if self._searcher is not None:
            self._searcher.forget(self._unasked_s)
            self._searcher.withheld = self._withheld(self._searcher)
        return self.snapshot != before

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()
            self._searcher = None

    def _withheld(self, searcher: Searcher) -> str:
        """Why an older snapshot serves nobody but those who see everything: a newer one may have hidden what it shows."""
        newest = snapshot.names(self._directory)[-1:]
        if not newest or newest[0] == searcher.snapshot or snapshot.newest_access(self._directory) == searcher.access:
            return ""
        return f"who may see what has changed since {searcher.snapshot}, and {newest[0]} cannot be served; build the index again"

    def _newer(self) -> str | None:
        """The current snapshot, if that is another than the one served. Raises IndexProblem when it is damaged, or gone."""
        current = snapshot.current(self._directory)
        if current == self.snapshot:
            return None
        if self._known_damaged(current) or (current in self._damaged and not self._is_whole(current)):
            raise IndexProblem(f"snapshot {current} is damaged, {self.snapshot} is served; build the index again")
        return current

    def _found_damaged(self) -> bool:
        """Whether the snapshot that is served is not as it was written; looked at after a suspicion, now and then.

        If a search broke though the files are whole, they are opened again: what was opened may be what they were before they
        were mended.
        """
        began = time.monotonic()
        if not self._suspect or began < self._look_again_at:
            return False
        whole, broke = self._is_whole(self.snapshot), self._broke
        self._suspect = self._broke = False
        if whole and broke:
            self._use(self.snapshot)
        now = time.monotonic()
        self._look_again_at = now + max(SUSPECT_AGAIN_S, (now - began) / SHARE)
        return not whole

    def _is_whole(self, name: str) -> bool:
        """Whether every file of the snapshot is as it was written; one that is not is remembered."""
        try:
            handle = snapshot.hold(self._directory, name)
        except IndexProblem as problem:
            differences = [str(problem)]
        else:
            differences = snapshot.verify_files(handle.directory, handle.manifest)
            handle.close()
        if differences:
            log.error("snapshot %s is damaged: %s", name, "; ".join(differences[:5]))
            self._damaged[name] = self._seen(name)
        else:
            self._damaged.pop(name, None)
        return not differences

    def _known_damaged(self, name: str) -> bool:
        return self._damaged.get(name) == self._seen(name)

    def _serve_whole(self) -> None:
        """Open the current snapshot, or else the newest whole one. Raises IndexProblem when there is none."""
        candidates = list(reversed(snapshot.names(self._directory)))
        try:
            current = snapshot.current(self._directory)
        except IndexProblem:
            if not candidates:
                raise
            current = ""
        other_format: IndexProblem | None = None
        for name in sorted(candidates, key=lambda each: each != current):
            if self._known_damaged(name) or (name != current and not self._is_whole(name)):
                continue
            try:
                self._use(name)
            except (OlderFormat, NewerFormat) as problem:
                other_format = problem  # which says what to do about it
                continue
            except IndexProblem:
                if self._is_whole(name):
                    raise  # the files are not what is wrong
                continue
            if name != current:
                log.warning("snapshot %s cannot be served; %s is served instead", current or "(none)", name)
            return
        self.close()
        if other_format is not None:
            raise other_format
        raise IndexProblem(f"no snapshot in {self._directory} is whole; build the index again")

    def _use(self, name: str) -> None:
        if self._searcher is None:
            self._searcher = self._open(name)
        else:
            self._searcher.swap_to(name)
            self._searcher.forget()  # what is open of earlier ones may be what broke

    def _seen(self, name: str) -> _Seen:
        folder = self._directory / "snapshots" / name
        try:
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            return tuple((str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files)
        except OSError:
            return ()

    def _told(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("%s", problem)
        self.problem = problem
