"""Time to the first checked token: the warm extractive engine over the demo's documents, through the edge.

    uv run python -m tests.bench.bench_first_token

The demo's questions are asked one at a time, and timed from the client's request to the first token's arrival.
"""

import asyncio
import statistics
import tempfile
from pathlib import Path

import aiohttp

from runtime.settings import IndexSettings, InferenceSettings
from tests.bench.stacks import QUESTIONS, address_of, ask, demo_index, ready


async def main(folder: Path) -> None:
    index = IndexSettings(dir=str(await asyncio.to_thread(demo_index, folder)))
    async with (
        ready(folder / "state", index=index, inference=InferenceSettings(cache_entries=0)) as stack,
        aiohttp.ClientSession() as session,
    ):
        for question in QUESTIONS[:20]:
            await ask(session, address_of(stack), question=question)
        answers = [await ask(session, address_of(stack), question=question) for question in QUESTIONS]
    took = sorted(answer.first_s * 1000 for answer in answers)
    print(f"questions          {len(took)}")
    print(f"with references    {sum(answer.cited for answer in answers) / len(answers):.1%}")
    print(f"first token p50    {statistics.median(took):.1f} ms")
    print(f"first token p95    {took[int(len(took) * 0.95)]:.1f} ms")
    print(f"under 150 ms       {sum(ms < 150 for ms in took) / len(took):.1%}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
