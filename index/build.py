"""Build the next snapshot of an index from documents that were added, changed or removed.

Only what changed is cut, analysed and embedded again; the rest is hard-linked from the parent snapshot. The work for terms and
for vectors run in parallel in two processes (build_parts.py).
"""

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Literal

import msgspec
import numpy as np

from index import build_parts, lsa, search_engines, snapshot
from index.build_job import Job, Tell
from index.catalogue import read_catalogue, write_catalogue
from index.embedder import Embedder, EmbedderSpec, check_match
from index.errors import IndexProblem
from index.groups import Groups, access_digest
from index.model import FORMAT, Document, Entry, Passage, indexed_text
from index.prepared import Hashes, Prepared, prepare
from index.roots import Root
from index.segment import CODES, write_segment
from index.snapshot import Manifest
from index.store import PassageStore, Renamed, complete, read_renamed, write_renamed

_EMBED_BATCH = 64


def no_progress(task: str, done: int, total: int) -> None:
    """Reports nothing."""


class Change(msgspec.Struct, frozen=True):
    """What a build did to one document, which now has this many passages; `before` is the id of a moved one until then."""

    what: Literal["added", "changed", "moved", "removed"]
    source_id: str
    passages: int = 0
    before: str = ""


class Build:
    """One build: `put` and `remove` documents, then `publish`. Use it inside `snapshot.writing`."""

    def __init__(
        self,
        index: Path,
        embedder: Embedder | None = None,
        progress: Tell = no_progress,
        *,
        foreign_vectors: bool = False,
        afresh: bool = False,
    ) -> None:
        """`embedder` None means LSA. Raises IndexProblem when the index was built with a different one.

        `foreign_vectors`: documents will only be removed, none put, so the embedder of the index does not matter.
        `afresh`: begin without what the index holds, which need not be readable.
        """
        self._index = index.absolute()  # the process for the vectors runs in another folder
        self._embedder = embedder
        self._progress = progress
        self._began = time.monotonic()
        self._parent = snapshot.hold(index) if snapshot.exists(index) and not afresh else None
        self.catalogue: dict[str, Entry] = {}
        self._before: dict[str, Entry] = {}
        self.roots: tuple[Root, ...] = ()
        self.changes: list[Change] = []
        self._renamed: dict[int, Renamed] = {}
        self._next = 0
        self._foreign = False
        if self._parent is not None:
            spec = self._parent.manifest.embedder
            self._foreign = foreign_vectors and spec.name != lsa.NAME
            if not self._foreign:
                try:
                    check_match(spec, embedder.spec if embedder is not None else self._lsa_spec(spec))
                except IndexProblem:
                    self._parent.close()
                    raise
            self._before = read_catalogue(self._parent.directory)
            self.catalogue = dict(self._before)
            self._next = self._parent.manifest.next_number
            self.roots = self._parent.manifest.roots
            self._renamed = {one.first: one for one in read_renamed(self._parent.directory / "passages")}
        self._id = snapshot.next_id(index)
        self._building = self._index / "building" / self._id
        (self._building / "passages").mkdir(parents=True)
        (self._building / "vectors").mkdir()
        self._removed: list[tuple[int, int]] = []
        self._fresh: list[Passage] = []
        self._hashes: list[Hashes] = []
        self._segments: list[Path] = []
        self._warming: threading.Thread | None = None
        self._vectors: build_parts.VectorProcess | None = None

    @staticmethod
    def _lsa_spec(known: EmbedderSpec) -> EmbedderSpec:
        return known if known.name == lsa.NAME else EmbedderSpec(lsa.NAME, "fitted on the corpus", lsa.DIMENSION)

    def spooled(self, stream: IO[bytes]) -> Path:
        """A file that holds the stream, for a process to read; whoever asked for it deletes it."""
        with tempfile.NamedTemporaryFile(dir=self._building, delete=False) as file:
            shutil.copyfileobj(stream, file)
        return Path(file.name)

    def warm_up(self) -> None:
        """Let the engine for terms start, which takes a second, while documents are read."""
        if self._warming is None:
            self._warming = threading.Thread(target=search_engines.TERMS.warm_up)
            self._warming.start()

    @property
    def is_changed(self) -> bool:
        """Whether a new snapshot would say anything new."""
        return bool(self.changes) or (self._parent is not None and self.roots != self._parent.manifest.roots)

    def put(self, document: Document) -> bool:
        """Add or update a document; False when the index already holds it unchanged."""
        return self.put_prepared(prepare(document))

    def put_prepared(
        self, document: Prepared, origin: str = "", stamp: str = "", content: str = "", member: str = ""
    ) -> bool:
        """As `put`, of a document that was prepared where it was read."""
        known = self.catalogue.get(document.entry.source_id)
        source = {"origin": origin, "stamp": stamp, "content": content, "member": member}
        entry = msgspec.structs.replace(document.entry, first=self._next, **source)
        if known is not None and known.digest == entry.digest:
            self._keep(msgspec.structs.replace(known, url=entry.url, **source))
            if known.url == entry.url:
                return False
            self.changes.append(Change("changed", entry.source_id, known.count))
            return True
        if known is not None:
            self._removed.append((known.first, known.count))
            entry = msgspec.structs.replace(entry, formerly=known.formerly, access=known.access)
        self.changes.append(Change("added" if known is None else "changed", entry.source_id, entry.count))
        self.catalogue[entry.source_id] = entry
        numbered = (
            msgspec.structs.replace(one, number=number) for number, one in enumerate(document.passages, self._next)
        )
        self._fresh.extend(numbered)
        self._hashes.extend(document.hashes)
        self._next += entry.count
        lsa_here = self._embedder is None and not self._foreign
        if self._vectors is None and lsa_here and len(self._fresh) > build_parts.ALONE_UP_TO:
            self._vectors = build_parts.VectorProcess(self._progress)
        if len(self._fresh) >= 20_000:
            self._flush()
        return True

    def touch(self, source_id: str, stamp: str) -> None:
        """Note that the file of a document was looked at again and holds the same."""
        self.catalogue[source_id] = msgspec.structs.replace(self.catalogue[source_id], stamp=stamp)

    def regroup(self, access: Mapping[str, Groups]) -> None:
        """Note what access.toml says of these documents; their passages stay."""
        told = {change.source_id for change in self.changes}
        for source_id, groups in access.items():
            known = self.catalogue[source_id]
            if known.access != groups:
                self.catalogue[source_id] = msgspec.structs.replace(known, access=groups)
                if source_id not in told:
                    self.changes.append(Change("changed", source_id, known.count))

    def move(self, ids: Mapping[str, str]) -> None:
        """Give documents other ids, all at once, keeping their passages. One that held a new id before goes."""
        moving = {new: self.catalogue.pop(old) for old, new in ids.items()}
        for new, entry in moving.items():
            self.remove(new)
            self._keep(msgspec.structs.replace(entry, source_id=new, formerly=(*entry.formerly, entry.source_id)))
            self.changes.append(Change("moved", new, entry.count, entry.source_id))

    def _keep(self, entry: Entry) -> None:
        """An entry whose passages stay, though they were written under another id or URL."""
        known = self.catalogue.get(entry.source_id)
        if entry.count and (known is None or known.url != entry.url):
            self._renamed[entry.first] = Renamed(entry.first, entry.count, entry.source_id, entry.url)
        self.catalogue[entry.source_id] = entry

    def remove(self, source_id: str) -> bool:
        """Remove a document; False when there is none with that id."""
        known = self.catalogue.pop(source_id, None)
        if known is None:
            return False
        self._removed.append((known.first, known.count))
        self.changes.append(Change("removed", source_id))
        return True

    def _flush(self) -> None:
        if self._fresh:
            path = self._building / "passages" / f"{self._fresh[0].number:012d}.bin"
            write_segment(path, self._fresh, self._hashes)
            self._segments.append(path)
            self._fresh, self._hashes = [], []

    def publish(self, *, refit: bool = False) -> Manifest:
        """Make the new snapshot current; returns the parent's manifest when nothing changed."""
        parent = self._parent
        if parent is not None and not self.is_changed and not refit:
            return parent.manifest
        self._flush()
        live = [(entry.first, entry.count) for entry in self.catalogue.values() if entry.count]
        live.sort()
        total = sum(count for _, count in live)
        passages = self._building / "passages"
        complete(passages, parent.directory / "passages" if parent is not None else None, live, snapshot.link)
        write_renamed(passages, [self._renamed[first] for first, _ in live if first in self._renamed])
        refit = refit or self._must_refit(total)
        job = self._job(live, total, refit)
        self._embed(job)
        results = build_parts.run(job, self._building, self._progress, self._vectors)
        for path in passages.glob(f"*{CODES}"):
            path.unlink()
        write_catalogue(
            self._building,
            self.catalogue,
            parent.directory if parent is not None else None,
            self._before,
            snapshot.link,
        )
        manifest = self._manifest(total, results, fresh=refit or parent is None)
        manifest = snapshot.publish(self._index, self._building, manifest, parent.manifest if parent else None)
        self.close()
        snapshot.prune(self._index)
        return manifest

    def close(self) -> None:
        if self._warming is not None:
            self._warming.join()
        if self._vectors is not None:
            self._vectors.end()
        if self._parent is not None:
            self._parent.close()
        if self._building.is_dir():
            with contextlib.suppress(OSError):
                snapshot.discard(self._building)

    def _must_refit(self, total: int) -> bool:
        """LSA directions no longer fit a corpus that has doubled since; after smaller growth the user decides."""
        if self._embedder is not None or self._foreign or self._parent is None:
            return False
        return total > 2 * max(self._parent.manifest.fitted_on, 8)

    def _job(self, live: list[tuple[int, int]], total: int, refit: bool) -> Job:
        parent = self._parent
        languages: dict[str, list[int]] = {}
        old_removed: list[tuple[int, int]] = []
        if parent is not None:
            store = PassageStore(parent.directory / "passages")
            languages = {language: [] for language in parent.manifest.languages}
            for first, count in self._removed:
                if first >= parent.manifest.next_number:
                    continue  # put and removed within this build
                old_removed.append((first, count))
                for number in range(first, first + count):
                    languages[store.get(number).language].append(number)
        added = self._next - (parent.manifest.next_number if parent else 0)
        graph_size = (parent.manifest.graph_size if parent else 0) + added
        return Job(
            building=str(self._building),
            parent=str(parent.directory) if parent else "",
            live=live,
            removed=old_removed,
            new=[str(path) for path in self._segments],
            languages=languages,
            dimension=self._spec_dimension(),
            refit=refit,
            lsa=self._embedder is None and not self._foreign,
            graph_rebuild=search_engines.VECTORS.needs_rebuild(graph_size, total),
        )

    def _spec_dimension(self) -> int:
        if self._embedder is not None:
            return self._embedder.spec.dimension
        return self._parent.manifest.embedder.dimension if self._parent is not None else lsa.DIMENSION

    def _embed(self, job: Job) -> None:
        """Compute vectors with an embedder that only this process can reach, and store them for the vector part."""
        if self._embedder is None:
            return  # LSA, or nothing to embed
        store = PassageStore(self._building / "passages")
        if job.refit or not job.parent:
            numbers = [number for first, count in job.live for number in range(first, first + count)]
        else:
            numbers = list(range(self._parent.manifest.next_number if self._parent else 0, self._next))
        rows = [np.zeros((0, self._embedder.spec.dimension), dtype=np.float32)]
        for start in range(0, len(numbers), _EMBED_BATCH):
            self._progress("embed", start, len(numbers))
            texts = [indexed_text(store.get(number)) for number in numbers[start : start + _EMBED_BATCH]]
            rows.append(self._embedder.embed(texts, query=False))
        self._progress("embed", len(numbers), len(numbers))
        np.save(self._building / "vectors" / "new.npy", np.concatenate(rows))

    def _manifest(self, total: int, results: dict[str, float], *, fresh: bool) -> Manifest:
        old = self._parent.manifest if self._parent else None
        languages = dict(old.languages) if old else {}
        for key, count in results.items():
            if key.startswith("language."):
                languages[key.removeprefix("language.")] = int(count)
        added = self._next - (old.next_number if old else 0)
        if self._embedder is not None:
            spec = self._embedder.spec
        elif old is None or (fresh and not self._foreign):
            spec = EmbedderSpec(lsa.NAME, self._id, int(results["dimension"]), lsa.THRESHOLD)
        else:
            spec = old.embedder
        return Manifest(
            format=FORMAT,
            snapshot=self._id,
            parent=old.snapshot if old else "",
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            embedder=spec,
            languages=languages,
            documents=len(self.catalogue),
            passages=total,
            next_number=self._next,
            graph_size=int(results["graph_size"]),
            fitted_on=total if fresh or old is None else old.fitted_on,
            folded_in=0 if fresh or old is None else old.folded_in + added,
            coverage=results.get("coverage", 1.0) if added else (old.coverage if old else 1.0),
            source_chars=sum(entry.characters for entry in self.catalogue.values()),
            build_s=round(time.monotonic() - self._began, 3),
            roots=self.roots,
            access=access_digest({entry.source_id: entry.groups for entry in self.catalogue.values()}),
        )
