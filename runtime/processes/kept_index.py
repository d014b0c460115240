"""An index kept open while its files or its cluster come and go: the newest whole snapshot is served, else an older one.

A folder or cluster that goes away changes nothing that is open. While nothing can be opened, every search gets the reason.
"""

import logging
import time
from collections.abc import Callable

from index.backend import Snapshots
from index.errors import IndexProblem, NotFetched
from index.search.searcher import Searcher
from index.snapshot.snapshot import NewerFormat, OlderFormat

log = logging.getLogger(__name__)

#: After searches that broke, the files are read through at most this often, in seconds, and for this share of the time: a large
#: index takes long to read, and the question may be the cause.
SUSPECT_AGAIN_S = 2.0
SHARE = 0.05


class KeptIndex:
    """`look` opens, follows and recovers, from one thread at a time; `searcher` may be called from any.

    `problem`: why the newest snapshot is not served; empty when it is.
    """

    def __init__(self, snapshots: Snapshots, open_snapshot: Callable[[str], Searcher], unused_s: float = 120.0) -> None:
        """`open_snapshot` raises IndexProblem. An earlier snapshot is closed after `unused_s` seconds without a search."""
        self._snapshots = snapshots
        self._open = open_snapshot
        self._unused_s = min(unused_s, snapshots.longest_open_s)
        self._searcher: Searcher | None = None
        self._suspect = True  # damage from before the start is noticed soon after it
        self._broke = False
        self._verify_from = self._look_from = 0.0
        #: Damaged snapshots, with their files at that time.
        self._damaged: dict[str, object] = {}
        self.problem = "the index is not open yet"

    @property
    def snapshot(self) -> str:
        """The snapshot that is served; empty for none."""
        return self._searcher.snapshot if self._searcher is not None else ""

    def searcher(self) -> Searcher:
        """Raises IndexProblem with the reason why nothing is served."""
        if self._searcher is None:
            raise IndexProblem(self.problem)
        return self._searcher

    def suspect(self) -> None:
        """A search broke: look soon, and verify the files."""
        self._suspect = self._broke = True
        self._look_from = 0.0

    def look(self) -> bool:
        """Serve the newest whole snapshot; true when it is another than before. Raises nothing for a broken index."""
        before, now = self.snapshot, time.monotonic()
        if now < self._look_from:
            return False
        self._look_from = now + self._snapshots.look_s
        try:
            if self._searcher is None or self._is_damaged():
                self._serve_whole()
            elif (newer := self._newer()) is not None:
                self._searcher.swap_to(newer)
            self.problem = ""
        except IndexProblem as problem:
            line = " ".join(str(problem).split())
            if line != self.problem and not isinstance(problem, NotFetched):
                log.warning("%s", line)
            self.problem = line
        if self._searcher is not None:
            self._searcher.forget(self._unused_s)
            self._searcher.withheld = self._snapshots.withheld(self._searcher.snapshot, self._searcher.access)
        return self.snapshot != before

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()
            self._searcher = None

    def _newer(self) -> str | None:
        """The current snapshot, unless it is served. Raises IndexProblem when it is damaged, or gone."""
        newest = self._snapshots.newest()
        if newest == self.snapshot:
            return None
        if self._known_damaged(newest) or (newest in self._damaged and not self._is_whole(newest)):
            raise IndexProblem(f"snapshot {newest} is damaged, {self.snapshot} is served; build the index again")
        return newest

    def _is_damaged(self) -> bool:
        """Whether files of the served snapshot have changed; verified after a suspicion, within SUSPECT_AGAIN_S and SHARE.

        When a search broke and the files are whole, they are opened again: they may have been repaired since.
        """
        began = time.monotonic()
        if not self._suspect or began < self._verify_from:
            return False
        differences, broke = self._verified(self.snapshot), self._broke
        self._suspect = self._broke = False
        if differences == [] and broke:
            self._use(self.snapshot)
        now = time.monotonic()
        self._verify_from = now + max(SUSPECT_AGAIN_S, (now - began) / SHARE)
        return bool(differences)

    def _verified(self, name: str) -> list[str] | None:
        """As `Snapshots.damage`; a damaged snapshot is remembered."""
        differences = self._snapshots.damage(name)
        if differences:
            log.error("snapshot %s is damaged: %s", name, "; ".join(differences[:5]))
            self._damaged[name] = self._snapshots.files(name)
        else:
            self._damaged.pop(name, None)
        return differences

    def _is_whole(self, name: str) -> bool:
        return not self._verified(name)

    def _known_damaged(self, name: str) -> bool:
        return name in self._damaged and self._damaged[name] == self._snapshots.files(name)

    def _serve_whole(self) -> None:
        """Open the current snapshot, or else the newest whole one. Raises IndexProblem when there is none."""
        candidates = list(reversed(self._snapshots.names()))
        try:
            newest = self._snapshots.newest()
        except IndexProblem:
            if not candidates:
                raise
            newest = ""
        other_format: IndexProblem | None = None
        for name in sorted(candidates, key=lambda each: each != newest):
            if self._known_damaged(name) or (name != newest and not self._is_whole(name)):
                continue
            try:
                self._use(name)
            except (OlderFormat, NewerFormat) as problem:
                other_format = problem  # its message names the remedy
                continue
            except IndexProblem:
                if self._is_whole(name):
                    raise  # the files are not the cause
                continue
            if name != newest:
                log.warning("snapshot %s cannot be served; %s is served instead", newest or "(none)", name)
            return
        self.close()
        raise other_format or IndexProblem(f"no snapshot in {self._snapshots} is whole; build the index again")

    def _use(self, name: str) -> None:
        if self._searcher is None:
            self._searcher = self._open(name)
        else:
            self._searcher.swap_to(name)
            self._searcher.forget()  # an earlier snapshot that is open may be what broke
