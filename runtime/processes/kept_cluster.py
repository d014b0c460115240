"""An index over a cluster kept open whatever happens to it: the newest snapshot is served as soon as it is published.

While the cluster is away every search is told so, and goes on when it is back: nothing is opened anew for that. What is damaged
there is the cluster's to mend.
"""

import logging
import time
from collections.abc import Callable

from index.backend import Snapshots
from index.errors import IndexProblem
from index.search.searcher import Searcher

log = logging.getLogger(__name__)

#: How often the cluster is asked for a newer snapshot, in seconds.
LOOK_S = 1.0
#: What an earlier snapshot held is deleted a minute after the next but one begins.
LONGEST_PINNED_S = 50.0


class KeptCluster:
    """As `KeptIndex`, for an index without files: `look` from one thread at a time, `searcher` from any."""

    damaged = False

    def __init__(
        self, snapshots: Snapshots, open_snapshot: Callable[[str], Searcher], unasked_s: float = LONGEST_PINNED_S
    ) -> None:
        """`open_snapshot`: opens a snapshot by its name. Raises IndexProblem. An earlier one is closed when it was not asked for so
        long.
        """
        self._snapshots = snapshots
        self._open = open_snapshot
        self._unasked_s = min(unasked_s, LONGEST_PINNED_S)
        self._searcher: Searcher | None = None
        self._look_again_at = 0.0
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
        """A search broke: look soon whether the cluster is there."""
        self._look_again_at = 0.0

    def look(self) -> bool:
        """Serve the newest snapshot; true when that is another than before. Raises nothing for a cluster that is away."""
        before, now = self.snapshot, time.monotonic()
        if now < self._look_again_at:
            return False
        self._look_again_at = now + LOOK_S
        try:
            newest = self._snapshots.newest()
            if self._searcher is None:
                self._searcher = self._open(newest)
            elif newest != before:
                self._searcher.swap_to(newest)
            self._told("")
        except IndexProblem as problem:
            self._told(" ".join(str(problem).split()))
        if self._searcher is not None:
            self._searcher.forget(self._unasked_s)
        return self.snapshot != before

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()
            self._searcher = None

    def _told(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("%s", problem)
        self.problem = problem
