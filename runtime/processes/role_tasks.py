"""The roles of a stack as tasks of this process, for a lone question: what the processes run, without their starts.

Each has its own connection, as the user that its process would be. What they log goes to a file, as a process's does.
"""

import asyncio
import importlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from actors.question.profile import PROFILES
from bus.delivery.graph import GraphError
from bus.wire.errors import Failure, Poison
from index.errors import IndexProblem
from runtime.processes.private_files import open_private
from runtime.processes.roles import Role
from runtime.settings import Settings
from runtime.terminal import OneLine, one_line

log = logging.getLogger("groundwire.roles")

#: The pause before a role that broke is started again, in seconds.
PAUSE_S = 0.2
#: For how long roles may finish what they do.
LONGEST_STOP_S = 8.0


def fits(settings: Settings, role: Role) -> bool:
    """Whether the role may share a process: a model has one to itself, which can be ended when its device hangs."""
    return role != "inference" or settings.without_model


class RoleTasks:
    """`on_failed` gets the reason when a role cannot start without an operator's change."""

    def __init__(
        self, roles: Sequence[Role], settings: Settings, logged: Path, on_failed: Callable[[str], None]
    ) -> None:
        """Imports what a search needs; it opens the index while a thread imports what the other roles need."""
        if "search" in roles:
            importlib.import_module("runtime.processes.search")
        self._on_failed = on_failed
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        PROFILES.use(settings.profiles)
        root = logging.getLogger()
        self._level = root.level
        open_private(logged, append=True).close()
        self._handler = logging.FileHandler(logged, encoding="utf-8", errors="backslashreplace")
        self._handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        root.setLevel(settings.log)
        root.addHandler(self._handler)

    def start(self, role: Role, settings: Settings) -> None:
        """Run the role until `stop`, again when it breaks."""
        self._tasks.append(asyncio.create_task(self._keep(role, settings), name=role))

    async def stop(self) -> None:
        self._stop.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LONGEST_STOP_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        logging.getLogger().removeHandler(self._handler)
        logging.getLogger().setLevel(self._level)
        self._handler.close()

    async def _keep(self, role: Role, settings: Settings) -> None:
        module = await asyncio.to_thread(importlib.import_module, f"runtime.processes.{role}")
        while not self._stop.is_set():
            try:
                await module.serve(settings, self._stop)
            except (IndexProblem, GraphError, Poison, Failure, OSError) as problem:
                log.error("%s: %s", role, problem)
                self._on_failed(one_line(f"groundwire {role}: {problem}"))
                return
            except Exception:
                # The outermost handler of this role, like a process's supervisor: after any failure, the role is started again.
                log.exception("%s: a bug", role)
                with anyio.move_on_after(PAUSE_S):
                    await self._stop.wait()
