"""The folder's body of the sink: segments of passages, an index of the terms, one of the vectors, published by a rename.

What stays is hard-linked from the parent snapshot. The work for terms and for vectors runs in parallel in two processes
(py).
"""

import contextlib
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from index.build import vectors as build_vectors
from index.build_job import Job, Progress, Tell
from index.child import Child
from index.embedders import pieces
from index.embedders.embedder import EmbedderSpec
from index.engines import bm25
from index.errors import IndexProblem
from index.model import Entry, Passage, indexed_text
from index.sink import USUAL, SinkOptions, check_embedder, described
from index.snapshot import snapshot
from index.snapshot.catalogue import read_catalogue, write_catalogue
from index.snapshot.prepared import Hashes, hashes
from index.snapshot.roots import Root
from index.snapshot.segment import CODES, Segment, write_segment
from index.snapshot.snapshot import Manifest
from index.snapshot.store import MovedDocument, PassageStore, complete, read_renamed, write_renamed

_EMBED_BATCH = 64
#: So many passages are kept in memory before they are written.
_SEGMENT = 20_000


class LocalSink:
    """Use it inside `snapshot.writing`."""

    def __init__(self, index: Path, options: SinkOptions = USUAL) -> None:
        """Raises IndexProblem."""
        self._index = index.absolute()  # the process for the vectors runs in another folder
        self._embedder, self._progress = options.embedder, options.progress
        self._began = time.monotonic()
        self._parent = snapshot.hold(index) if snapshot.exists(index) and not options.afresh else None
        self._foreign = False
        self._renamed: dict[int, MovedDocument] = {}
        if self._parent is not None:
            self._foreign = options.foreign_vectors and self._parent.manifest.embedder.name != pieces.NAME
            try:
                if not self._foreign:
                    check_embedder(self._parent.manifest, options.embedder)
                self._renamed = {one.first: one for one in read_renamed(self._parent.directory / "passages")}
            except IndexProblem:
                self._parent.close()
                raise
        self._known_next = self._next = self._parent.manifest.next_number if self._parent is not None else 0
        self._id = snapshot.next_id(index)
        self.scratch = self._index / "building" / self._id
        (self.scratch / "passages").mkdir(parents=True)
        (self.scratch / "vectors").mkdir()
        self._before: dict[str, Entry] = {}
        self._removed: list[tuple[int, int]] = []
        self._fresh: list[Passage] = []
        self._hashes: list[Hashes] = []
        self._segments: list[Path] = []
        self._warming: threading.Thread | None = None
        self._vectors: VectorProcess | None = None
        self._built_in = self._embedder is None and not self._foreign

    @property
    def parent(self) -> Manifest | None:
        return self._parent.manifest if self._parent is not None else None

    def catalogue(self) -> dict[str, Entry]:
        self._before = read_catalogue(self._parent.directory) if self._parent is not None else {}
        return dict(self._before)

    def warm_up(self) -> None:
        if self._warming is None:
            self._warming = threading.Thread(target=bm25.warm_up)
            self._warming.start()

    def put(self, entry: Entry, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> None:
        self._fresh.extend(passages)
        self._hashes.extend(hashes)
        self._next = entry.first + entry.count
        if self._vectors is None and self._built_in and len(self._fresh) > ALONE_UP_TO:
            self._vectors = VectorProcess(self._progress)
        if len(self._fresh) >= _SEGMENT:
            self._flush()

    def keep(self, entry: Entry, before: Entry) -> None:
        if entry.count and (entry.source_id, entry.url) != (before.source_id, before.url):
            self._renamed[entry.first] = MovedDocument(entry.first, entry.count, entry.source_id, entry.url)

    def remove(self, entry: Entry) -> None:
        self._removed.append((entry.first, entry.count))

    def _flush(self) -> None:
        if self._fresh:
            path = self.scratch / "passages" / f"{self._fresh[0].number:012d}.bin"
            write_segment(path, self._fresh, self._hashes)
            self._segments.append(path)
            self._fresh, self._hashes = [], []

    def _drop_unmade(self, live: list[tuple[int, int]]) -> None:
        """Rewrite the new segments without documents that this build put and then removed again."""
        if all(first < self._known_next for first, _ in self._removed):
            return
        alive = {number for first, count in live for number in range(first, first + count)}
        segments, self._segments = self._segments, []
        for path in segments:
            passages = [passage for passage in Segment(path) if passage.number in alive]
            path.unlink()
            path.with_suffix(CODES).unlink()
            if passages:
                self._segments.append(path.with_stem(f"{passages[0].number:012d}"))
                write_segment(self._segments[-1], passages, hashes(passages))

    def publish(self, catalogue: Mapping[str, Entry], roots: tuple[Root, ...]) -> Manifest:
        parent = self._parent
        self._flush()
        live = [(entry.first, entry.count) for entry in catalogue.values() if entry.count]
        live.sort()
        self._drop_unmade(live)
        folder = parent.directory if parent is not None else None
        passages = self.scratch / "passages"
        complete(passages, folder / "passages" if folder is not None else None, live, snapshot.link)
        write_renamed(passages, [self._renamed[first] for first, _ in live if first in self._renamed])
        job = self._job()
        self._embed(job)
        results = run(job, self._progress, self._vectors)
        for path in passages.glob(f"*{CODES}"):
            path.unlink()
        write_catalogue(self.scratch, catalogue, folder, self._before, snapshot.link)
        manifest = described(
            catalogue,
            roots,
            self.parent,
            snapshot=self._id,
            embedder=self._spec(),
            languages=self._languages(results),
            next_number=self._next,
            graph_size=int(results["graph_size"]),
            build_s=round(time.monotonic() - self._began, 3),
        )
        manifest = snapshot.publish(self._index, self.scratch, manifest, self.parent)
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
        if self.scratch.is_dir():
            with contextlib.suppress(OSError):
                snapshot.discard(self.scratch)

    def _job(self) -> Job:
        parent = self._parent
        languages: dict[str, list[int]] = {}
        old_removed = [one for one in self._removed if one[0] < self._known_next]  # not put within this build
        if parent is not None:
            store, gone = PassageStore(parent.directory / "passages"), np.sort(build_vectors.numbers(old_removed))
            languages = {name: store.within(gone, name).tolist() for name in parent.manifest.languages}
        return Job(
            building=str(self.scratch),
            parent=str(parent.directory) if parent else "",
            removed=old_removed,
            new=[str(path) for path in self._segments],
            languages=languages,
            built_in=self._built_in,
        )

    def _embed(self, job: Job) -> None:
        """Compute vectors with an embedder that only this process can reach, and store them for the vector part."""
        if self._embedder is None:
            return  # by the built-in vectors, or nothing to embed
        store = PassageStore(self.scratch / "passages")
        numbers = [int(number) for path in self._segments for number in Segment(path).numbers]
        shape = (len(numbers), self._embedder.spec.dimension)
        rows = np.lib.format.open_memmap(self.scratch / "vectors" / "new.npy", "w+", np.float32, shape)
        for start in range(0, len(numbers), _EMBED_BATCH):
            self._progress("embed", start, len(numbers))
            texts = [indexed_text(store.get(number)) for number in numbers[start : start + _EMBED_BATCH]]
            rows[start : start + len(texts)] = self._embedder.embed(texts, query=False)
        self._progress("embed", len(numbers), len(numbers))

    def _spec(self) -> EmbedderSpec:
        if self._embedder is not None:
            return self._embedder.spec
        return self._parent.manifest.embedder if self._parent is not None else pieces.SPEC

    def _languages(self, results: Mapping[str, float]) -> dict[str, int]:
        languages = dict(self._parent.manifest.languages) if self._parent else {}
        counted = {
            key.removeprefix("language."): count for key, count in results.items() if key.startswith("language.")
        }
        return languages | {language: int(count) for language, count in counted.items()}


#: Below this many passages a second process costs more than it saves, and one BLAS thread is enough.
ALONE_UP_TO = 1000
_decoder = msgspec.msgpack.Decoder(Progress)


def run(job: Job, progress: Tell, ready: "VectorProcess | None" = None) -> dict[str, float]:
    """The results of both parts. `ready`: a process that has already started. Raises IndexProblem when a part fails."""
    if not job.built_in or build_vectors.count_new(job) <= ALONE_UP_TO:
        return bm25.update(job, progress) | build_vectors.run(job, progress)
    with ready or VectorProcess(progress) as child:
        child.send(job)

        def report(task: str, done: int, total: int) -> None:
            progress(task, done, total)
            child.report(0.0)

        return bm25.update(job, report) | child.results()


class VectorProcess(Child):
    """It loads its libraries at once, and works when it is sent a job."""

    def __init__(self, progress: Tell) -> None:
        super().__init__([sys.executable, "-P", "-m", "index.build.vectors"], keep_errors=True)
        self._progress = progress
        self._last = Progress("vectors")

    def report(self, wait_s: float | None) -> bool:
        """Report the progress that has arrived; False when the child has ended."""
        replies = self.received(wait_s)
        for self._last in map(_decoder.decode, replies or ()):
            if not self._last.error and not self._last.results:
                self._progress(self._last.task, self._last.done, self._last.total)
        return replies is not None

    def results(self) -> dict[str, float]:
        """Wait for the results. Raises IndexProblem when the child failed."""
        while self.report(None):
            pass
        if not self._last.results:
            why = self._last.error or self.last_words()
            raise IndexProblem(f"making the vectors failed ({why}); the index is as it was before")
        return self._last.results
