"""Background tasks that must never end: one that ends or raises is started again after a pause, and reported while it is down."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable

from bus.wire.errors import Failure

log = logging.getLogger("groundwire.bus")

#: The pause before a task is started again: it doubles while the task keeps ending.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
#: A task that has run for this long counts as up again.
STEADY_S = 1.0


class Watch:
    """The background tasks of one part of a process. `down`: why each is not at work now. `restarts`: how often each was needed."""

    def __init__(self) -> None:
        self.down: dict[str, str] = {}
        self.restarts: Counter[str] = Counter()
        self._tasks: list[asyncio.Task[None]] = []

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until `stop`, from its beginning each time it ends."""
        self._tasks.append(asyncio.create_task(self._keep(name, work), name=name))

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE_S
        while True:
            began = loop.time()
            steady = loop.call_later(STEADY_S, self.down.pop, name, None)
            try:
                await work()
                why = "it ended"
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise
                why = "something it waited for was cancelled"
            except Failure as failure:
                why = str(failure)
            except Exception as bug:
                # After any exception: the task is needed, and nothing else would start it again.
                log.exception("%s: a bug", name)
                why = f"{type(bug).__name__}: {bug}"
            finally:
                steady.cancel()
            if loop.time() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            self.down[name] = why
            self.restarts[name] += 1
            log.warning("%s is down (%s); starting it again in %.1f s", name, why, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
