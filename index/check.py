"""What an index contains, and whether it is intact."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from index.documents.archives import is_archive
from index.documents.files import RECORDS
from index.engines import bm25, vectors
from index.errors import IndexProblem
from index.model import Entry, Passage, counted
from index.readers import by_suffix
from index.snapshot import snapshot
from index.snapshot.catalogue import read_catalogue
from index.snapshot.snapshot import Manifest
from index.snapshot.store import PassageStore


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes are bytes on disk. `groups` counts the documents that each group sees; it is empty when all are everybody's."""

    snapshot: str
    snapshots: list[str]
    created: str
    documents: int
    passages: int
    languages: dict[str, int]
    groups: dict[str, int]
    characters: int
    embedder: str
    dimension: int
    size_bytes: int
    all_snapshots_bytes: int


def stats(index: Path, name: str | None = None) -> Stats:
    """Raises IndexProblem."""
    with snapshot.hold(index, name) as handle:
        inodes = {
            (status.st_dev, status.st_ino): status.st_size
            for path in (index / "snapshots").rglob("*")
            if path.is_file() and (status := path.stat())
        }
        return stats_of(
            handle.manifest,
            read_catalogue(handle.directory).values(),
            snapshots=snapshot.names(index),
            size_bytes=sum(size for size, _ in handle.manifest.files.values()),
            all_snapshots_bytes=sum(inodes.values()),
        )


def stats_of(
    manifest: Manifest, entries: Iterable[Entry], *, snapshots: list[str], size_bytes: int, all_snapshots_bytes: int
) -> Stats:
    return Stats(
        snapshot=manifest.snapshot,
        snapshots=snapshots,
        created=manifest.created,
        documents=manifest.documents,
        passages=manifest.passages,
        languages=manifest.languages,
        groups=counted(entry.groups for entry in entries),
        characters=manifest.source_chars,
        embedder=f"{manifest.embedder.name} {manifest.embedder.version}",
        dimension=manifest.embedder.dimension,
        size_bytes=size_bytes,
        all_snapshots_bytes=all_snapshots_bytes,
    )


def formats_of(entries: Iterable[Entry]) -> dict[str, int]:
    """How many documents were read in each format, by its name."""
    counts: dict[str, int] = {}
    for entry in entries:
        within = entry.source_id if is_archive(entry.origin) else entry.origin
        suffix = Path(within).suffix.lower()
        known = by_suffix().get(suffix)
        name = known.name if known else "JSONL" if suffix in RECORDS else suffix or "records"
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def verify(index: Path, name: str | None = None) -> list[str]:
    """The defects of a snapshot, one line each; empty when it is intact. Raises IndexProblem."""
    with snapshot.hold(index, name) as handle:
        return _problems(handle.directory, handle.manifest)


def misfit(passage: Passage, entry: Entry) -> list[str]:
    """The line about a passage that is none of its document."""
    whole = passage.char_end - passage.char_start == len(passage.text) and passage.char_end <= entry.characters
    if whole and passage.source_id == entry.source_id:
        return []
    return [f"passage {passage.number} of {entry.source_id} does not fit its document"]


def _problems(directory: Path, manifest: Manifest) -> list[str]:
    if problems := snapshot.verify_files(directory, manifest):
        return problems
    try:
        store = PassageStore(directory / "passages")
        languages: dict[str, int] = {}
        for entry in read_catalogue(directory).values():
            for number in range(entry.first, entry.first + entry.count):
                passage = store.get(number)
                languages[passage.language] = languages.get(passage.language, 0) + 1
                problems += misfit(passage, entry)
        if sum(languages.values()) != manifest.passages:
            problems.append(f"{sum(languages.values())} passages where the manifest says {manifest.passages}")
        file = directory / "vectors" / vectors.FILE
        graph = vectors.open_index(file, manifest.passages)
        if graph.size != manifest.graph_size:
            problems.append(f"{graph.size} vectors where the manifest says {manifest.graph_size}")
        problems += bm25.problems(directory, dict.fromkeys(manifest.languages, 0) | languages)
    except IndexProblem as error:
        problems.append(str(error))
    return problems
