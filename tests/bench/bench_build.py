"""The cost of a build per passage: `python -m tests.bench.bench_build [FOLDER] [--runs 3]`; without a folder, over invented texts.

The reference is the same build with one reading process; both alternate, so that other load affects both alike.
"""

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

from index.build.ingest import bring_in
from tests.bench.bench_retrieval import Corpus


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or str(invented(Path(scratch) / "documents"))
        build(Path(scratch) / "warm", folder, 0)
        rounds = [
            [build(Path(scratch) / f"{run}-{processes}", folder, processes) for processes in (1, 0)]
            for run in range(chosen.runs)
        ]
    print(f"{'':24}{'ms a passage':>14}{'CPU ms a passage':>18}")
    for place, name in enumerate(("one process reads", "as many as cores read")):
        wall, cpu = (statistics.median(one[place][what] for one in rounds) for what in (0, 1))
        print(f"{name:24}{wall:14.2f}{cpu:18.2f}")
    print(f"ratio of wall time, median of pairs: {statistics.median(ours[0] / one[0] for one, ours in rounds):.2f}")


def invented(folder: Path, documents: int = 200) -> Path:
    """Documents of some six passages, in Markdown."""
    folder.mkdir()
    corpus = Corpus()
    for number in range(documents):
        parts = [f"## {corpus.sentence(3)}\n\n" + " ".join(corpus.sentence(12) for _ in range(12)) for _ in range(6)]
        (folder / f"{number}.md").write_text(f"# {corpus.sentence(4)}\n\n" + "\n\n".join(parts) + "\n")
    return folder


def build(index: Path, folder: str, processes: int) -> tuple[float, float]:
    """Milliseconds a passage, of the clock and of the processors."""
    began, before = time.monotonic(), _processors()
    passages = bring_in(index, [folder], only=True, processes=processes).passages
    return 1000 * (time.monotonic() - began) / passages, 1000 * (_processors() - before) / passages


def _processors() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
