"""The device benchmark: on a tiny random model and mlx's CPU build in a few minutes, or on a model of yours.

uv run --group dev python -m tests.bench.bench_inference [--model FOLDER] [--quick] [NAME …]
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from tests.bench.device import correctness, latency, throughput
from tests.bench.device.figures import QUICK, Figure, Scale
from tests.bench.random_model import corpus
from tests.runtime.engines.tiny import build

MEASURES: dict[str, Callable[[str, Scale], Awaitable[list[Figure]]]] = {
    "schema": correctness.schema_valid,
    "throughput": throughput.tokens_per_s,
    "first": latency.first_token,
    "prefix": latency.prefix,
    "pinned": correctness.pinned_prefixes,
    "gap": latency.worst_gap,
    "grammar": throughput.grammar_cost,
}


async def bench(model: str, names: Sequence[str], scale: Scale) -> None:
    for name in names or MEASURES:
        for figure in await MEASURES[name](model, scale):
            print(figure, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MEASURES, []], help="measure only these")
    parser.add_argument("--model", help="a folder or hub id; otherwise a tiny random model")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not given.model:
            os.environ["MLX_DISABLE_COMPILE"] = "1"
            given.model = str(build(Path(folder) / "tiny", vocab=4096, texts=corpus()))
        asyncio.run(bench(given.model, given.names, QUICK if given.quick else Scale()))


if __name__ == "__main__":
    main()
