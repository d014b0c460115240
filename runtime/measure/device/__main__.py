"""`python -m runtime.measure.device MODEL [--quick] [NAME …]`: the benchmark without the command line's libraries."""

import asyncio
import sys

from bus.wire.errors import Failure
from runtime.measure.device.run import MEASURES, bench
from runtime.measure.device.scale import FULL, QUICK


def main(words: list[str]) -> int:
    names = tuple(word for word in words[1:] if word in MEASURES)
    if not words or len(names) + ("--quick" in words) != len(words) - 1:
        print(f"usage: python -m runtime.measure.device MODEL [--quick] [{' | '.join(MEASURES)}]", file=sys.stderr)
        return 2
    try:
        table = asyncio.run(bench(words[0], QUICK if "--quick" in words else FULL, only=names))
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
