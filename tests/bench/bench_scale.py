"""An index of any size, and Lucene alone over the same passages: `python tests/bench/bench_scale.py 10000 [100000 1000000]`.

Builds documents (scale_corpus.py), indexes them by the command that people use, opens and searches the index, adds ten files, and
prints a table. Times are of this machine and its other load; look at processor time and at the ratios. `--texts` names JSONL files
of real passages, each with `text` and `language`, to vary in place of the demo's. `--keep FOLDER`: where the files stay.
`--opensearch`: the same documents over OpenSearch, three nodes that the tests start, or a cluster at a URL.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from index.snapshot import snapshot  # noqa: E402  found by the line above when this file is run by its path
from index.snapshot.snapshot import Manifest  # noqa: E402
from tests.bench import scale_corpus, scale_parts  # noqa: E402
from tests.opensearch.cluster import Cluster  # noqa: E402

#: (the row's name, its unit, digits after the point)
_ROWS = {
    "passages": ("passages", 0),
    "build_cpu": ("build: processor, ms a passage", 2),
    "build_s": ("build: wall, s", 1),
    "build_mb": ("build: peak memory of all processes, MB", 0),
    "disk_mb": ("on disk, MB", 0),
    "open_s": ("open, new process, s", 2),
    "again_s": ("open, second time, s", 2),
    "memory_mb": ("memory of a search process, MB", 0),
    "private_mb": ("of that its own, not of mapped files, MB", 0),
    "hybrid_p50": ("search hybrid, p50 ms", 1),
    "hybrid_p99": ("search hybrid, p99 ms", 1),
    "bm25_p50": ("search BM25 alone, p50 ms", 1),
    "bm25_p99": ("search BM25 alone, p99 ms", 1),
    "vectors_p50": ("search vectors alone, p50 ms", 1),
    "vectors_p99": ("search vectors alone, p99 ms", 1),
    "slower": ("hybrid, times its slower part (p50)", 2),
    "ndcg": ("nDCG@10 of planted questions, hybrid", 3),
    "bm25_ndcg": ("nDCG@10, BM25 alone", 3),
    "vectors_ndcg": ("nDCG@10, vectors alone", 3),
    "add_s": ("add ten files, wall s", 1),
    "add_cpu": ("add ten files, processor s", 1),
    "add_mb": ("add ten files, written MB", 1),
    "lucene_cpu": ("Lucene alone: build, processor, ms a passage", 2),
    "lucene_p50": ("Lucene alone: search, p50 ms", 1),
    "lucene_p99": ("Lucene alone: search, p99 ms", 1),
    "lucene_own_p50": ("Lucene alone, only the question's language, p50 ms", 1),
    "lucene_ndcg": ("Lucene alone: nDCG@10", 3),
    "opensearch_cpu": ("OpenSearch: build, processor here, ms a passage", 2),
    "opensearch_s": ("OpenSearch: build, wall, s", 1),
    "opensearch_p50": ("OpenSearch: search hybrid, p50 ms", 1),
    "opensearch_p99": ("OpenSearch: search hybrid, p99 ms", 1),
    "opensearch_bm25_p50": ("OpenSearch: search BM25 alone, p50 ms", 1),
    "opensearch_vectors_p50": ("OpenSearch: search vectors alone, p50 ms", 1),
    "opensearch_ndcg": ("OpenSearch: nDCG@10, hybrid", 3),
    "opensearch_bm25_ndcg": ("OpenSearch: nDCG@10, BM25 alone", 3),
    "build_ratio": ("build, times Lucene alone (processor)", 2),
    "search_ratio": ("search hybrid, times Lucene alone (p50)", 2),
}


class Ran(NamedTuple):
    """What a command used; `peak_mb` of all its processes, memory that they share counted once."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--texts", nargs="*", type=Path, default=[])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--opensearch", nargs="?", const="", metavar="URL")
    chosen = parser.parse_args()
    columns = []
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = (chosen.keep or Path(scratch)) / str(size)
            columns.append(one_size(folder, size, chosen.queries, chosen.texts, chosen.opensearch))
    print(f"\n{'':52}" + "".join(f"{size:>12,}" for size in chosen.sizes))
    for key, (name, digits) in _ROWS.items():
        if key in columns[0]:
            print(f"{name:52}" + "".join(f"{column[key]:12,.{digits}f}" for column in columns))


def one_size(folder: Path, size: int, queries: int, texts: list[Path], opensearch: str | None) -> dict[str, float]:
    """`opensearch`: a cluster's URL, or empty for the tests' own."""
    index, documents, questions = folder / "index", folder / "documents", folder / "questions.json"
    spoken = scale_corpus.languages(texts)
    if not questions.exists():
        said(f"{size}: writing documents")
        scale_corpus.save(questions, scale_corpus.write(documents, size, spoken, planted=queries))
    said(f"{size}: building")
    built = ran([*command(), "index", "build", str(documents), "--index", str(index)])
    manifest = current(index)
    found = {"passages": float(manifest.passages), "build_cpu": 1000 * built.cpu_s / manifest.passages}
    found |= {"build_s": built.wall_s, "build_mb": built.peak_mb}
    found["disk_mb"] = sum(bytes_ for bytes_, _ in manifest.files.values()) / 1e6
    said(f"{size}: searching")
    found |= part("searching", index, questions)
    if opensearch is not None:
        found |= over_opensearch(folder, size, opensearch)
    said(f"{size}: adding ten files")
    new = scale_corpus.more(documents, spoken, documents=10, seed=len(list(documents.glob("new-*"))) + 2)
    before = inodes(index)
    added = ran([*command(), "index", "add", *map(str, new), "--index", str(index)])
    found |= {"add_s": added.wall_s, "add_cpu": added.cpu_s}
    found["add_mb"] = sum(bytes_ for inode, bytes_ in inodes(index).items() if inode not in before) / 1e6
    said(f"{size}: Lucene alone")
    found |= part("lucene", index, questions, folder / "lucene")
    found["slower"] = found["hybrid_p50"] / max(found["bm25_p50"], found["vectors_p50"])
    found["build_ratio"] = found["build_cpu"] / found["lucene_cpu"]
    found["search_ratio"] = found["hybrid_p50"] / found["lucene_p50"]
    return found


def over_opensearch(folder: Path, size: int, url: str) -> dict[str, float]:
    """The same documents; without a URL on the nodes that the tests start."""
    cluster = None if url else Cluster(folder / "cluster")
    try:
        address = f"{(cluster.url if cluster else url).rstrip('/')}/scale-{size}"
        said(f"{size}: building over OpenSearch")
        built = ran([*command(), "index", "build", str(folder / "documents"), "--index", address])
        said(f"{size}: searching over OpenSearch")
        line = [sys.executable, "-m", scale_parts.__name__, "on_opensearch", address, str(folder / "questions.json")]
        found = spoken_by(line)
        return found | {
            "opensearch_cpu": 1000 * built.cpu_s / found["opensearch_passages"],
            "opensearch_s": built.wall_s,
        }
    finally:
        if cluster is not None:
            cluster.close()


def command() -> list[str]:
    return [sys.executable, "-c", "from runtime.cli import main; main()"]


def current(index: Path) -> Manifest:
    return snapshot.read_manifest(index / "snapshots" / snapshot.current(index))


def part(name: str, *arguments: Path) -> dict[str, float]:
    """The output of a part (scale_parts.py), run in a separate process."""
    return spoken_by([sys.executable, "-m", scale_parts.__name__, name, *map(str, arguments)])


def spoken_by(line: list[str]) -> dict[str, float]:
    """The figures in the last line that a command prints."""
    done = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=dict[str, float])


def ran(line: list[str]) -> Ran:
    """Run a Groundwire command to its end. Raises SystemExit when it fails."""
    process = psutil.Popen(line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.25):
            peak[0] = max(peak[0], sum(memory(one) for one in tree(process)))

    watching = threading.Thread(target=watch)
    watching.start()
    began = process.create_time()
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.time() - began
    over.set()
    watching.join()
    if status:
        raise SystemExit(f"{' '.join(line[3:])} failed: {errors.decode()}")
    return Ran(used.ru_utime + used.ru_stime, wall, peak[0] / 1e6)


def tree(process: psutil.Process) -> Iterator[psutil.Process]:
    try:
        yield process
        yield from process.children(recursive=True)
    except psutil.NoSuchProcess:
        return


def memory(process: psutil.Process) -> int:
    """Bytes of a process, each page shared among those that have it; where the system does not say so, all it has mapped."""
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
        return int(process.memory_info().rss)
    except (OSError, psutil.Error):
        return 0


def inodes(index: Path) -> dict[int, int]:
    """The bytes of each file below the index; a hard link is its file."""
    found = [path.stat() for path in index.rglob("*") if path.is_file()]
    return {status.st_ino: status.st_size for status in found}


def said(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
