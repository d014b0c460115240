"""Other engines over the passages and vectors of an index: `PYTHON scale_peers.py ENGINE FOLDER` prints one JSON line.

Runs by the Python of the environment that holds the engine (tests/clients/python/peers.txt) and has no Groundwire code. The folder
holds `passages.jsonl`, `vectors.npy`, `questions.json` and `asked.npy`. Each engine searches by its own words and by the vector and
fuses both as it does by itself.
"""

import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from itertools import batched
from pathlib import Path

import numpy as np

_K = 10
_BATCH = 2000
type Row = tuple[int, dict[str, str], list[float]]
type Search = Callable[[str, list[float]], list[str]]


def rows(folder: Path) -> Iterator[Row]:
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    with (folder / "passages.jsonl").open(encoding="utf-8") as lines:
        for number, (line, vector) in enumerate(zip(lines, vectors, strict=True)):
            yield number, json.loads(line), vector.tolist()


def lancedb(folder: Path, store: Path) -> Search:
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS, HnswSq
    from lancedb.query import MatchQuery

    dimension = np.load(folder / "vectors.npy", mmap_mode="r").shape[1]
    kinds = pa.schema([("source", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])

    def batches() -> Iterator[pa.RecordBatch]:
        for part in batched(rows(folder), _BATCH):
            held = [{"source": said["source"], "text": said["contents"], "vector": vector} for _, said, vector in part]
            yield pa.RecordBatch.from_pylist(held, schema=kinds)

    table = lancedb.connect(str(store)).create_table("passages", data=batches(), schema=kinds)
    table.create_index("text", config=FTS())
    table.create_index("vector", config=HnswSq(distance_type="cosine"))

    def search(question: str, vector: list[float]) -> list[str]:
        asked = table.search(query_type="hybrid").vector(vector).text(MatchQuery(question, "text")).limit(_K)
        return [hit["source"] for hit in asked.select(["source"]).to_list()]

    return search


def qdrant_edge(folder: Path, store: Path) -> Search:
    import qdrant_edge as edge

    dimension = np.load(folder / "vectors.npy", mmap_mode="r").shape[1]
    store.mkdir()
    shard = edge.EdgeShard.create(
        str(store),
        edge.EdgeConfig(
            vectors={"meaning": edge.EdgeVectorParams(dimension, edge.Distance.Cosine)},
            sparse_vectors={"words": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        ),
    )
    words = edge.Bm25()
    for part in batched(rows(folder), _BATCH):
        points = [
            edge.Point(
                number,
                {"meaning": vector, "words": words.embed_document(said["contents"])},
                {"source": said["source"]},
            )
            for number, said, vector in part
        ]
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()

    def search(question: str, vector: list[float]) -> list[str]:
        both = [
            edge.Prefetch(2 * _K, query=edge.Query.Nearest(words.embed_query(question), using="words")),
            edge.Prefetch(2 * _K, query=edge.Query.Nearest(vector, using="meaning")),
        ]
        asked = edge.QueryRequest(_K, query=edge.Fusion.Rrf(60), prefetches=both, with_payload=True)
        return [hit.payload["source"] for hit in shard.query(asked)]

    return search


ENGINES = {"lancedb": lancedb, "qdrant_edge": qdrant_edge}


def main() -> None:
    os.environ["LANCEDB_LOG"] = "error"  # else it warns at every search of what a later version will do
    name, folder = sys.argv[1], Path(sys.argv[2])
    store = folder / name
    shutil.rmtree(store, ignore_errors=True)
    began = time.process_time()
    search = ENGINES[name](folder, store)
    build_s = time.process_time() - began
    passages = len(np.load(folder / "vectors.npy", mmap_mode="r"))
    times, gain = [], 0.0
    planted = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    asked = np.load(folder / "asked.npy")
    for one, vector in zip(planted[:50], asked[:50], strict=True):
        search(one[0], vector.tolist())
    for (question, _, source), vector in zip(planted, asked, strict=True):
        row = vector.tolist()
        start = time.perf_counter()
        found = list(dict.fromkeys(search(question, row)))
        times.append(1000 * (time.perf_counter() - start))
        gain += 1 / math.log2(found.index(source) + 2) if source in found else 0.0
    times.sort()
    told = {"cpu": 1000 * build_s / passages, "p50": times[len(times) // 2], "ndcg": gain / len(planted)}
    sys.stdout.write(json.dumps({f"{name}_{what}": value for what, value in told.items()}) + "\n")


if __name__ == "__main__":
    main()
