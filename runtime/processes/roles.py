"""Run one process of the stack: load its role, handle signals, and print one clear line if it cannot start.

The supervisor imports this module and runs no role, so what only a role needs is imported in `run`.
"""

import asyncio
import importlib
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Literal

from bus.wire.errors import Failure, Poison
from index.errors import IndexProblem
from index.java import warm_up
from runtime.settings import Settings
from runtime.terminal import OneLine, one_line, say

Role = Literal["search", "inference", "actors", "edge"]
ROLES: tuple[Role, ...] = ("search", "inference", "actors", "edge")

#: Exit status of a process that cannot start until someone changes something: a restart would not help.
CANNOT_START = 78


def roles_over(settings: Settings) -> tuple[Role, ...]:
    return tuple(role for role in ROLES if role != "inference" or not settings.without_model)


def run(role: Role, settings: Settings, *, name: str = "", end_with_stdin: bool = False) -> int:
    """Run the process until it is asked to stop. Returns its exit status.

    `name` is for its log and health check; its role, unless several processes share it. `end_with_stdin`: it exits when its
    standard input closes, so that it never outlives the process that started it.
    """
    name = name or role
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine(f"%(asctime)s {name} %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=settings.log, handlers=[handler])
    import uvloop

    from actors.question.profile import PROFILES
    from bus.delivery.graph import GraphError

    PROFILES.use(settings.profiles)
    try:
        uvloop.run(_serve(role, name, settings, end_with_stdin))
    except (IndexProblem, GraphError, Poison, Failure, OSError) as problem:
        say(one_line(f"groundwire {name}: {problem}"), err=True)
        return CANNOT_START
    return 0


async def _serve(role: Role, name: str, settings: Settings, end_with_stdin: bool) -> None:
    """Import only what the role needs: the JVM, the model and the web server live in different processes."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if end_with_stdin:
        loop.add_reader(sys.stdin.fileno(), _stdin_moved, stop)
    if role == "search" and settings.index.dir:
        warm_up.begin(Path(settings.index.dir), brief=False)
    if role == "edge":
        from actors.question.profile import preload

        preload()  # threads read profiles later, and msgspec crashes where several threads decode the first one of a type
    module = importlib.import_module(f"runtime.processes.{role}")
    await module.serve(settings, stop, **({"name": name} if role == "actors" else {}))


def _stdin_moved(stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1024):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop.set()
