"""A real stack over a small index, on a file system of its own where one can be mounted, and nothing of it left behind."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil

from bus.transport.settings import BusSettings
from index.build.ingest import bring_in
from runtime.processes.ports import free_port
from runtime.processes.supervisor import Stack
from runtime.settings import ActorsSettings, EdgeSettings, IndexSettings, InferenceSettings
from tests.bench.stacks import ready

OTHERS = ("nats", "inference", "search", "edge")

#: How many processes of actors.
FOUR = 4

PAGES = {
    "refunds": "Refunds are paid within 14 days. The buyer must return the goods unused. Shipping costs 3,000 won.",
    "opening": "The library opens at nine in the morning. On Sundays it stays closed. Every visitor must show a card.",
    "ladders": "Ladders must be checked every 6 months. A broken ladder must not be used. The foreman keeps the list.",
}
ASKED = [
    "How many days until refunds are paid?",
    "When does the library open in the morning?",
    "How often must ladders be checked?",
    "How many days until refunds are paid, and how often must ladders be checked?",
    "hello",
]
CANARY_S = 1.0
#: Of the file system that holds the state, in bytes: enough for both streams and what they leave behind.
DISK = 192 * 1024 * 1024


def build(folder: Path) -> Path:
    """An index of two snapshots; the folder `docs` next to it has its documents."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for name, text in PAGES.items():
        (docs / f"{name}.md").write_text(f"# {name.capitalize()}\n\n{text}\n")
        bring_in(folder / "index", [str(docs)], only=True)
    return folder / "index"


@contextlib.contextmanager
def disk(folder: Path, size_bytes: int = DISK) -> Iterator[bool]:
    """Mount a small file system there, if permitted; returns whether it was mounted."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size_bytes}", "groundwire-chaos", str(folder)]
    try:
        mounted = subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(path: Path) -> None:
    """Write that file until its disk is full."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            os.write(file.fileno(), bytes(65536))


@contextlib.asynccontextmanager
async def stack(index: Path, state: Path, processes: int, bus: BusSettings = BusSettings()) -> AsyncIterator[Stack]:  # noqa: B008 (frozen)
    """A stack that is ready; nothing of it is left at the end."""
    async with ready(
        state,
        bus=bus,
        index=IndexSettings(dir=str(index)),
        inference=InferenceSettings(cache_entries=0),
        edge=EdgeSettings(port=free_port(), canary_s=CANARY_S),
        actors=ActorsSettings(processes=processes),
    ) as running:
        yield running
    assert await asyncio.to_thread(left_behind, state) == []


def left_behind(state: Path) -> list[str]:
    """The processes of a stack with this state that live on."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            given = [*process.cmdline(), process.environ().get("GROUNDWIRE_STATE", "")]
            if process.pid != os.getpid() and any(str(state) in each for each in given):
                found.append(f"{process.pid} {' '.join(process.cmdline())}")
    return found
