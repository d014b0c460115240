"""Time to the first checked token: the warm extractive engine over an index, through the edge.

    uv run python tests/bench/bench_first_token.py [--passages FILE --questions FILE]

Without files it asks the demo's questions over the demo's documents. Questions are asked one at a time, and timed from the
client's request to the first token's arrival.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import aiohttp

from runtime import demo
from runtime.processes.ports import free_port
from runtime.processes.supervisor import Stack
from runtime.settings import EdgeSettings, IndexSettings, InferenceSettings, Settings

DEMO = Path(demo.__file__).parent


async def first_token(session: aiohttp.ClientSession, url: str, question: str) -> tuple[float, bool]:
    """Seconds to the first token, and whether references came."""
    began = time.perf_counter()
    first = 0.0
    cited = False
    async with session.post(f"{url}/v1/runs", json={"question": question}) as response:
        response.raise_for_status()
        async for line in response.content:
            if line.startswith(b"data:"):
                first = first or time.perf_counter() - began
                cited = cited or b'"references"' in line
                if b'"DONE"' in line:
                    return first, cited
    raise RuntimeError("the stream ended without DONE")


async def main(index: Path, folder: Path, questions: list[str]) -> None:
    settings = Settings(
        index=IndexSettings(dir=str(index)),
        inference=InferenceSettings(cache_entries=0),
        edge=EdgeSettings(port=free_port()),
    )
    stack = Stack(settings, folder / "state", ("search", "inference", "actors", "edge"))
    await stack.start()
    try:
        await stack.ready()
        url = f"http://127.0.0.1:{settings.edge.port}"
        async with aiohttp.ClientSession() as session:
            for question in questions[:20]:
                await first_token(session, url, question)
            found = [await first_token(session, url, question) for question in questions]
    finally:
        await stack.stop()
    took = sorted(seconds * 1000 for seconds, _ in found)
    print(f"questions          {len(took)}")
    print(f"with references    {sum(cited for _, cited in found) / len(found):.1%}")
    print(f"first token p50    {statistics.median(took):.1f} ms")
    print(f"first token p95    {took[int(len(took) * 0.95)]:.1f} ms")
    print(f"under 150 ms       {sum(ms < 150 for ms in took) / len(took):.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=Path, default=DEMO / "documents")
    parser.add_argument("--questions", type=Path, help="JSON Lines, each with a `question`")
    parser.add_argument("--most", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.questions:
        lines = arguments.questions.read_text(encoding="utf-8").splitlines()
        asked = [json.loads(line)["question"] for line in lines]
    else:
        raw = tomllib.loads((DEMO / "questions.toml").read_text(encoding="utf-8"))
        asked = [question["text"] for question in raw["question"]]
    asked = asked[:: max(1, len(asked) // arguments.most)][: arguments.most]
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        command = [
            sys.executable,
            "-m",
            "runtime",
            "index",
            "build",
            str(arguments.passages),
            "--index",
            str(place / "index"),
        ]
        subprocess.run(command, check=True)
        asyncio.run(main(place / "index", place, asked))
