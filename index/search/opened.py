"""A snapshot opened for searching: its search engines, passages, catalogue and embedder."""

from functools import cached_property
from pathlib import Path

from index.embedders import lsa
from index.embedders.embedder import Embedder, check_match
from index.engines import lucene, vectors
from index.errors import IndexProblem
from index.model import Entry
from index.snapshot import snapshot
from index.snapshot.catalogue import FOLDER, Catalogue
from index.snapshot.store import PassageStore
from index.snapshot.views import Views


class OpenSnapshot:
    """A snapshot opened for searching."""

    def __init__(self, handle: snapshot.Handle, embedder: Embedder | None) -> None:
        """Raises IndexProblem."""
        self.handle = handle
        manifest = handle.manifest
        folder = handle.directory
        if embedder is None:
            if manifest.embedder.name != lsa.NAME:
                raise IndexProblem(
                    f"the index was built with embedder {manifest.embedder.name} {manifest.embedder.version}; configure it"
                )
            embedder = lsa.Lsa(folder / "vectors", manifest.embedder.version)
        check_match(manifest.embedder, embedder.spec)
        self.embedder = embedder
        self.threshold = manifest.embedder.threshold
        self.passages = PassageStore(folder / "passages")
        graph = folder / "vectors" / vectors.FILE
        self.vectors = vectors.open_index(graph, manifest.embedder.dimension, manifest.passages)
        self.bm25 = lucene.open_index(folder, manifest.languages)
        self.catalogue = Catalogue(folder / FOLDER)
        self.views = Views(self.catalogue.values(), self.passages, manifest.languages, for_all=not manifest.access)

    @cached_property
    def _moved(self) -> dict[str, str]:
        return {old: entry.source_id for entry in self.catalogue.values() for old in entry.formerly}

    def entry(self, source_id: str) -> Entry | None:
        """The document with this id, or that had it before its file was moved."""
        return self.catalogue.get(source_id) or self.catalogue.get(self._moved.get(source_id, ""))


def open_snapshot(directory: Path, snapshot_id: str | None, embedder: Embedder | None) -> OpenSnapshot:
    """A snapshot held and opened, by default the current one. Raises IndexProblem."""
    handle = snapshot.hold(directory, snapshot_id)
    try:
        return OpenSnapshot(handle, embedder)
    except Exception as error:
        damage = [] if isinstance(error, IndexProblem) else snapshot.verify_files(handle.directory, handle.manifest)
        handle.close()
        if damage:
            raise IndexProblem(f"{handle.directory} is damaged ({damage[0]}); build the index again") from error
        raise
