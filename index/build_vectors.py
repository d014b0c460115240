"""The part of a build that computes the vectors: fit or fold in, then build or extend the graph."""

from pathlib import Path

import numpy as np

from index import lsa, search_engines
from index.build_job import Job, Tell, numbers
from index.embedder import Vectors
from index.model import indexed_text
from index.segment import Segment
from index.snapshot import link
from index.store import PassageStore

_BATCH = 2000
_MODEL_FILES = ("features.npy", "idf.npy", "length.npy", "scales.npy", "components.npy")


def count_new(job: Job) -> int:
    return sum(len(Segment(Path(path)).numbers) for path in job.new)


def run(job: Job, tell: Tell) -> dict[str, float]:
    """Returns `dimension`, `graph_size`, and for LSA the mean `coverage` of the passages folded in."""
    folder = Path(job.building) / "vectors"
    folder.mkdir(exist_ok=True)
    whole = job.refit or not job.parent
    store = PassageStore(Path(job.building) / "passages")
    fresh = (int(number) for path in job.new for number in Segment(Path(path)).numbers)
    labels = list(numbers(job.live) if whole else fresh)
    coverage = 1.0
    if job.lsa:
        texts = [indexed_text(store.get(number)) for number in labels]
        rows, coverage = _lsa(job, folder, texts, tell, fresh=whole)
    else:
        ready = folder / "new.npy"
        rows = np.load(ready) if ready.is_file() else np.zeros((0, job.dimension), dtype=np.float32)
        (folder / "new.npy").unlink(missing_ok=True)
    graph = folder / search_engines.VECTORS.FILE
    ids = np.array(labels, dtype=np.int64)
    if whole:
        search_engines.VECTORS.build(graph, ids, rows)
    else:
        old = Path(job.parent) / "vectors" / graph.name
        removed = list(numbers(job.removed))
        if job.graph_rebuild:
            _rebuild(old, graph, job, ids, rows)
        else:
            search_engines.VECTORS.update(old, graph, rows.shape[1], removed, ids, rows)
    size = search_engines.VECTORS.open_index(graph, rows.shape[1], 0).size
    return {"dimension": rows.shape[1], "graph_size": size, "coverage": coverage}


def _lsa(job: Job, folder: Path, texts: list[str], tell: Tell, *, fresh: bool) -> tuple[Vectors, float]:
    counted = lsa.NONE_COUNTED
    if fresh:
        counted = lsa.fit(texts, folder, lambda done: tell("fit", done, min(len(texts), lsa.FIT_ON)))
    else:
        for name in _MODEL_FILES:
            link(Path(job.parent) / "vectors" / name, folder / name)
    model = lsa.Lsa(folder, "")
    parts = [np.zeros((0, model.spec.dimension), dtype=np.float32)]
    for start in range(0, len(texts), _BATCH):
        tell("vectors", start, len(texts))
        parts.append(model.embed(texts[start : start + _BATCH], query=False, counted=counted))
    tell("vectors", len(texts), len(texts))
    coverage = float(np.mean([model.coverage(text) for text in texts[:: max(1, len(texts) // 500)]])) if texts else 1.0
    return np.concatenate(parts), coverage


def _rebuild(old: Path, new: Path, job: Job, ids: "np.typing.NDArray[np.int64]", rows: Vectors) -> None:
    """Old vectors that are still live, read from the old graph, and the new ones, in a graph without removed entries."""
    added = set(ids.tolist())
    kept = [number for number in numbers(job.live) if number not in added]
    graph = search_engines.VECTORS.open_index(old, rows.shape[1], 0)
    search_engines.VECTORS.build(
        new, np.array([*kept, *ids.tolist()], dtype=np.int64), np.concatenate([graph.rows(kept), rows])
    )
