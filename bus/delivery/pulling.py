"""The pull subscription that FastStream's loop fetches from: as patient as that loop is not.

It waits for each message and hands it over itself, since FastStream's own way to a handler takes as much processor as a stage, and
nats-py's way makes a task and a timer for each message. FastStream asks again at once after every fetch, so a refused fetch would
be sent thousands of times a second; here it pauses first, and the failure shows in the process's health. A fetch from a consumer
that is gone is not even refused: it waits until its time is over, also when the consumer is made again, and is therefore ended
then.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import cast

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import APIError

from bus.transport.connection import Connection, status_of
from bus.transport.health import Watch
from bus.transport.wake import Wake

type Deliver = Callable[[Msg], Awaitable[None]]

#: The pause after a fetch that failed, in seconds.
PAUSE_S = 0.2
#: How much earlier than here the server's time for a fetch is over, in seconds.
EARLIER_S = 0.1
#: Statuses of a fetch that got nothing: its time is over; none there, or its consumer is gone, which `lost` hears of.
_OVER, _NOTHING = "408", {"404", "408", "409"}


class Pull(JetStreamContext.PullSubscription):
    """The given subscription; `deliver` gets its messages, and `watch` shows while it gets nothing but errors."""

    def __init__(self, given: JetStreamContext.PullSubscription, name: str, watch: Watch, deliver: Deliver) -> None:
        vars(self).update(vars(given))
        self._hand_over = deliver
        self._name = name
        self._watch = watch
        self._ending = False
        self._arrived: list[Msg] = []
        self._wake = Wake()
        cast(Connection, self._nc).receivers[self._sub._id] = self._put

    def lost(self) -> None:
        """Report that the consumer is gone, until a fetch ends."""
        self._watch.down[self._name] = "its consumer was gone"

    def begin_again(self) -> None:
        """End the fetch that waits now: its consumer was lost, and the one made again knows nothing of it."""
        self.lost()
        self._ending = True
        self._put(self.unserved())

    def unserved(self) -> Msg:
        """What ends a fetch of nats-py."""
        return Msg(_client=self._nc, headers={"Status": "503"})

    async def fetch(self, batch: int = 1, timeout: float | None = 5, heartbeat: float | None = None) -> list[Msg]:
        """Hand over the next message, and those that came late. Raises nats's errors; TimeoutError when none came."""
        try:
            found = await self._next(timeout or PAUSE_S)
        except TimeoutError:
            self._watch.down.pop(self._name, None)
            raise
        except nats.errors.Error as error:
            if self._ending:
                self._ending = False
                raise
            self._watch.down[self._name] = str(error) or type(error).__name__
            await asyncio.sleep(PAUSE_S)
            raise
        self._watch.down.pop(self._name, None)
        for each in found:
            await self._hand_over(each)
        return []

    def _put(self, msg: Msg) -> None:
        self._arrived.append(msg)
        self._wake.set()

    async def _next(self, timeout_s: float) -> list[Msg]:
        """The messages of earlier fetches, else of a new one."""
        if found := [msg for msg in self._take() if not status_of(msg)]:
            return found
        request = {"batch": 1, "expires": int((timeout_s - EARLIER_S) * 1e9)}
        await self._nc.publish(self._nms, json.dumps(request).encode(), self._deliver)
        until = time.monotonic() + timeout_s
        while True:
            if not self._arrived and not await self._wake.wait(max(0.0, until - time.monotonic())):
                raise nats.errors.TimeoutError
            arrived = self._take()
            if found := [msg for msg in arrived if not status_of(msg)]:
                return found
            status = status_of(arrived[0])
            if status == _OVER and time.monotonic() < until - 2 * EARLIER_S:  # of an earlier fetch
                continue
            if status in _NOTHING:
                raise nats.errors.TimeoutError
            APIError.from_msg(arrived[0])  # raises

    def _take(self) -> list[Msg]:
        found, self._arrived = self._arrived, []
        return found
