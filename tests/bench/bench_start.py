"""How long the commands take from a cold start: wall and processor time, with Java's class archive and without.

    uv run python tests/bench/bench_start.py [--runs 5]

Over the demo's documents; each run is a process of its own, right after the index was built, nothing kept running. `up` is measured
until it reports readiness, over all its processes. The table's figures are medians.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from index.build.ingest import bring_in
from index.search.class_archive import make
from runtime.processes.nats_server import free_port

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = ROOT / "runtime" / "demo" / "documents"
QUESTION = "단순 변심으로 환불하려면 며칠 안에 신청해야 하나요?"

type Figures = tuple[float, float]  # wall and processor time, in seconds


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "runtime", *arguments]


def whole(arguments: list[str], environ: Mapping[str, str]) -> Figures:
    """A command from its start to its end, with all that it waits for."""
    began = time.monotonic()
    with subprocess.Popen(arguments, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL) as process:
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


def until_ready(arguments: list[str], environ: Mapping[str, str]) -> Figures:
    """`up` from its start until it reports readiness, with all its processes."""
    began = time.monotonic()
    with subprocess.Popen(arguments, cwd=ROOT, env=environ, stderr=subprocess.PIPE, text=True) as process:
        ready_line(process)
        took = time.monotonic() - began
        house = psutil.Process(process.pid)
        times = [each.cpu_times() for each in (house, *house.children(recursive=True))]
        process.terminate()
        process.communicate()
    return took, sum(each.user + each.system for each in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        index = home / "index"
        bring_in(index, [str(DOCUMENTS)], only=True)
        # An unwritable folder prevents the archive; bytecode is kept, as in any installation.
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"GROUNDWIRE_STATE": str(home / "state"), "GROUNDWIRE_LOG": "ERROR"}
        without, with_archive = (
            environ | {"XDG_CACHE_HOME": "/dev/null"},
            environ | {"XDG_CACHE_HOME": str(home / "cache")},
        )
        os.environ["XDG_CACHE_HOME"] = str(home / "cache")
        assert make(index) is not None, "no class archive can be made here"
        over = ("--index", str(index))
        whole(command("ask", *over, QUESTION), with_archive)  # bytecode and page cache
        print(
            f"{'command':34}  wall   processor   (s, medians of {runs}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f})"
        )
        for name, environment in (("", with_archive), (", no class archive", without)):
            figures = {
                "--help": [whole(command("--help"), environment) for _ in range(runs)],
                "search": [whole(command("search", *over, QUESTION), environment) for _ in range(runs)],
                "ask": [whole(command("ask", *over, QUESTION), environment) for _ in range(runs)],
                "up, until ready": [
                    until_ready(command("up", *over, "--port", str(free_port())), environment) for _ in range(runs)
                ],
            }
            for what, found in figures.items():
                wall, processor = (statistics.median(each) for each in zip(*found, strict=True))
                print(f"{what + name:34}  {wall:4.2f}   {processor:4.2f}", flush=True)


if __name__ == "__main__":
    main()
