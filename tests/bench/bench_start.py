"""How long the commands take from a cold start: wall and processor time, with Java's class archive and without.

    uv run --group dev python -m tests.bench.bench_start [--runs 5] [--against CHECKOUT]

Over the demo's documents; each run is a process of its own, right after the index was built, nothing kept running. `up` is measured
until it reports readiness, over all its processes; then the first 50 questions are sent at once. `--against`: another checkout with
a virtual environment; its runs alternate with this one's. The table's figures are medians.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path

import aiohttp
import psutil

from runtime.processes.ports import free_port
from tests.bench.stacks import QUESTIONS, demo_index

ROOT = Path(__file__).parent.parent.parent
QUESTION = "단순 변심으로 환불하려면 며칠 안에 신청해야 하나요?"
AT_ONCE = 50

type Figures = tuple[float, float]  # wall and processor time, in seconds


def whole(arguments: list[str], checkout: Path, environ: Mapping[str, str]) -> Figures:
    """A command from its start to its end, with all that it waits for."""
    began = time.monotonic()
    with subprocess.Popen(arguments, cwd=checkout, env=environ, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return time.monotonic() - began, used.ru_utime + used.ru_stime


def ready_line(process: subprocess.Popen[str]) -> str:
    """The line in which `up` reports that it is ready."""
    assert process.stderr is not None
    while "ready:" not in (line := process.stderr.readline()):
        assert line, "it ended without being ready"
    return line


def until_ready(arguments: list[str], checkout: Path, environ: Mapping[str, str], port: int) -> tuple[Figures, Figures]:
    """`up` from its start until it reports readiness, then the first questions; with all its processes."""
    began = time.monotonic()
    with subprocess.Popen(arguments, cwd=checkout, env=environ, stderr=subprocess.PIPE, text=True) as process:
        try:
            ready_line(process)
            ready = time.monotonic() - began, processor_s(process.pid)
            began = time.monotonic()
            asyncio.run(first_questions(f"http://127.0.0.1:{port}"))
            answered = time.monotonic() - began, processor_s(process.pid) - ready[1]
        finally:
            process.terminate()
            process.communicate()
    return ready, answered


def processor_s(pid: int) -> float:
    up = psutil.Process(pid)
    times = [each.cpu_times() for each in (up, *up.children(recursive=True))]
    return sum(each.user + each.system for each in times)


async def first_questions(url: str) -> None:
    async def ask(session: aiohttp.ClientSession, question: str) -> None:
        async with session.post(f"{url}/v1/runs", json={"question": question, "deadline_s": 120.0}) as response:
            response.raise_for_status()
            assert b'"DONE"' in await response.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:
        await asyncio.gather(*(ask(session, question) for question in islice(cycle(QUESTIONS), AT_ONCE)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args()
    checkouts = [ROOT, *([asked.against.absolute()] if asked.against else [])]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        index = demo_index(home)
        # An unwritable folder prevents the archive; bytecode is kept, as in any installation.
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"GROUNDWIRE_STATE": str(home / "state"), "GROUNDWIRE_LOG": "ERROR"}
        without, with_archive = (
            environ | {"XDG_CACHE_HOME": "/dev/null"},
            environ | {"XDG_CACHE_HOME": str(home / "cache")},
        )

        def measured(environment: Mapping[str, str]) -> list[list[tuple[str, Figures]]]:
            """One run of every command in every checkout."""
            return [rows(checkout, index, environment) for checkout in checkouts]

        for checkout in checkouts:  # bytecode, page cache and the archive
            make = [python_of(checkout), "-m", "index.search.class_archive", str(index)]
            subprocess.run(make, cwd=checkout, env=with_archive, check=True)
        measured(with_archive)
        print(f"medians of {asked.runs}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        print(f"{'command':34}" + "".join(f"   wall  processor  {each.name}" for each in checkouts))
        for name, environment in (("", with_archive), (", no class archive", without)):
            runs = [measured(environment) for _ in range(asked.runs)]
            for number, (what, _) in enumerate(runs[0][0]):
                line = f"{what + name:34}"
                for which in range(len(checkouts)):
                    found = zip(*(run[which][number][1] for run in runs), strict=True)
                    wall, processor = map(statistics.median, found)
                    line += f"   {wall:4.2f}   {processor:4.2f}"
                print(line, flush=True)


def rows(checkout: Path, index: Path, environ: Mapping[str, str]) -> list[tuple[str, Figures]]:
    """Each command once."""
    groundwire, over, port = [python_of(checkout), "-m", "runtime"], ("--index", str(index)), free_port()
    ready, answered = until_ready([*groundwire, "up", *over, "--port", str(port)], checkout, environ, port)
    return [
        ("--help", whole([*groundwire, "--help"], checkout, environ)),
        ("search", whole([*groundwire, "search", *over, QUESTION], checkout, environ)),
        ("ask", whole([*groundwire, "ask", *over, QUESTION], checkout, environ)),
        ("up, until ready", ready),
        (f"the first {AT_ONCE} questions", answered),
    ]


def python_of(checkout: Path) -> str:
    return str(checkout / ".venv" / "bin" / "python")


if __name__ == "__main__":
    main()
