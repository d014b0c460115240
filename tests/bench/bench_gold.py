"""How often a passage that holds the gold string is among the first 1, 5 and 20.

    uv run python -m tests.bench.bench_gold FILE INDEX

FILE is a question set as `eval questions` reads it; of several collections each is the index INDEX/collection. A follow-up is
rewritten as the engine without a model rewrites it. A row has to hold both gold and gold_also.
"""

import argparse
from collections import Counter
from pathlib import Path

from runtime.commands.eval_questions import indexes
from runtime.measure.lines import read
from runtime.processes.served import passage_of
from tests.bench.fitting.choosing import passage_holds_gold
from tests.bench.fitting.examples import SetLine, alone, gold_of, searched

DEPTHS = (1, 5, 20)


def main(file: Path, index: Path) -> None:
    questions = [one for one in (gold_of(line, "") for line in read(file, SetLine)) if one.gold]
    found: Counter[tuple[str, int]] = Counter()
    of: Counter[str] = Counter()
    deep = max(DEPTHS)
    for searcher, asked in searched(questions, indexes(index, questions)):
        query, topic = alone(asked)
        hits = searcher.search(query, topic=topic, k=deep, bm25_k=deep, vector_k=deep)
        held = (rank for rank, hit in enumerate(hits, 1) if passage_holds_gold(asked, passage_of(hit)))
        first = next(held, deep + 1)
        for group in ("all", asked.language):
            of[group] += 1
            found.update((group, depth) for depth in DEPTHS if first <= depth)
    for group in of:
        shares = "  ".join(f"first {depth}: {found[group, depth] / of[group]:.3f}" for depth in DEPTHS)
        print(f"{group or '-':5} {of[group]:5} questions  {shares}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How often the gold string is among the first passages.")
    parser.add_argument("file", type=Path, help="JSONL of questions")
    parser.add_argument("index", type=Path, help="index, or the folder of one index for each collection")
    given = parser.parse_args()
    main(given.file, given.index)
