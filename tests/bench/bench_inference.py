"""The device benchmark on a tiny random model and mlx's CPU build: all figures in a few minutes.

    uv run python tests/bench/bench_inference.py [--quick] [NAME …]

The same figures on a real model: `groundwire bench inference --model ID`.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["MLX_DISABLE_COMPILE"] = "1"

from runtime.measure.device.run import MEASURES, bench
from runtime.measure.device.scale import FULL, QUICK
from tests.bench.random_model import corpus
from tests.runtime.engines.tiny import build


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*MEASURES, []], help="measure only these")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = build(Path(folder) / "tiny", vocab=4096, texts=corpus())
        scale = QUICK if arguments.quick else FULL
        table = asyncio.run(bench(str(model), scale, only=tuple(arguments.names)))
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
