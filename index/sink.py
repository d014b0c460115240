"""Where a build writes: the seam between what changed in the documents (build.py) and how an index keeps them.

A sink begins from the newest snapshot, if there is one, and ends in the next, which becomes visible at once and whole, or not at
all. The folder of an index is one body, OpenSearch another.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from index.model import Entry, Passage
from index.prepared import Hashes
from index.roots import Root
from index.snapshot import Manifest


class Sink(Protocol):
    """Every method raises IndexProblem; a build that fails leaves the index as it was."""

    @property
    def parent(self) -> Manifest | None:
        """What the newest snapshot says of itself; None for the first."""
        ...

    def catalogue(self) -> dict[str, Entry]:
        """The documents of the parent, by id."""
        ...

    def put(self, entry: Entry, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> None:
        """Write a document. One with that id before is removed first by the build."""
        ...

    def keep(self, entry: Entry) -> None:
        """A document whose passages stay, though its id, URL, groups or origin are others now."""
        ...

    def remove(self, entry: Entry) -> None: ...

    def publish(self, catalogue: Mapping[str, Entry], roots: tuple[Root, ...], *, refit: bool) -> Manifest:
        """Make all of it the newest snapshot."""
        ...

    def close(self) -> None:
        """Leave without publishing, if it was not published; called once, always."""
        ...
