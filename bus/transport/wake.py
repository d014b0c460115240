"""Wait for something that comes often, with a limit for its silence.

`asyncio.timeout` sets a timer for each wait and takes it back when something came, which for a token every few milliseconds is a
good part of what the token costs. Here the timer stays: once it is over, it looks how long the silence has lasted by then.
"""

import asyncio
import math


class Wake:
    """Wakes the one task that waits."""

    __slots__ = ("_alarm", "_due", "_waiter")

    def __init__(self) -> None:
        self._waiter: asyncio.Future[bool] | None = None
        self._due = math.inf
        self._alarm: asyncio.TimerHandle | None = None

    def set(self) -> None:
        """End the current wait; later waits are unaffected."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(True)

    async def wait(self, within_s: float | None = None) -> bool:
        """Wait for `set`; False when it was not called within the time."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiter = waiter
        if within_s is None:
            self._due = math.inf
        else:
            self._due = due = loop.time() + within_s
            if self._alarm is None or self._alarm.when() > due:
                self.close()
                self._alarm = loop.call_at(due, self._look)
        try:
            return await waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Cancel the timer, once there is no wait any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _look(self) -> None:
        self._alarm = None
        if self._waiter is None or self._waiter.done() or self._due == math.inf:
            return
        loop = self._waiter.get_loop()
        if loop.time() >= self._due:
            self._waiter.set_result(False)
        else:
            self._alarm = loop.call_at(self._due, self._look)
