"""Where a build writes: the seam between what changed in the documents (build.py) and how an index keeps them.

A sink begins from the newest snapshot, if there is one, and ends in the next, which becomes visible at once and whole, or not at
all. The folder of an index is one body, OpenSearch another.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from index.build_job import Tell, no_progress
from index.embedders import pieces
from index.embedders.embedder import Embedder, EmbedderSpec, check_match
from index.model import FORMAT, Entry, Passage, access_digest
from index.snapshot.prepared import Hashes
from index.snapshot.roots import Root
from index.snapshot.snapshot import Manifest


class SinkOptions(NamedTuple):
    """`embedder` None means the built-in vectors; another than the index was built with is refused.

    `foreign_vectors`: documents will only be removed, none put, so the embedder of the index does not matter.
    `afresh`: begin without what the index holds, which need not be readable.
    """

    embedder: Embedder | None = None
    progress: Tell = no_progress
    foreign_vectors: bool = False
    afresh: bool = False


USUAL = SinkOptions()


class Sink(Protocol):
    """Every method raises IndexProblem; a build that fails leaves the index as it was."""

    @property
    def parent(self) -> Manifest | None:
        """The manifest of the newest snapshot; None for the first build."""

    @property
    def scratch(self) -> Path:
        """A folder on this machine for files that the build needs until it is closed."""

    def catalogue(self) -> dict[str, Entry]:
        """The documents of the parent, by id."""

    def warm_up(self) -> None:
        """Start slow work during the reading of documents; may be called often."""

    def put(self, entry: Entry, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> None:
        """Write a document with passages numbered from `entry.first`. The build removed an earlier document of that id."""

    def keep(self, entry: Entry, before: Entry) -> None:
        """A document that keeps its passages, with another id, URL or groups. Of those that are moved at once,
        one may get the id that the next has.
        """

    def remove(self, entry: Entry) -> None: ...

    def publish(self, catalogue: Mapping[str, Entry], roots: tuple[Root, ...]) -> Manifest:
        """Make all of it the newest snapshot."""

    def close(self) -> None:
        """Leave without publishing, if it was not published; may be called again."""


def check_embedder(parent: Manifest, embedder: Embedder | None) -> None:
    """Raises IndexProblem where the vectors of an index are of another embedder than the one given, None for the built-in one."""
    check_match(parent.embedder, embedder.spec if embedder is not None else pieces.SPEC)


def described(
    catalogue: Mapping[str, Entry],
    roots: tuple[Root, ...],
    parent: Manifest | None,
    *,
    snapshot: str,
    embedder: EmbedderSpec,
    languages: dict[str, int],
    next_number: int,
    graph_size: int = 0,
    build_s: float = 0.0,
) -> Manifest:
    """The figures of a new snapshot. `next_number`: the first that no passage ever had."""
    return Manifest(
        format=FORMAT,
        snapshot=snapshot,
        parent=parent.snapshot if parent else "",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        embedder=embedder,
        languages=languages,
        documents=len(catalogue),
        passages=sum(entry.count for entry in catalogue.values()),
        next_number=next_number,
        graph_size=graph_size,
        source_chars=sum(entry.characters for entry in catalogue.values()),
        build_s=build_s,
        roots=roots,
        access=access_digest({entry.source_id: entry.groups for entry in catalogue.values()}),
    )
