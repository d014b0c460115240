"""The pull subscription that FastStream's loop fetches from: as patient as that loop is not.

It hands each message over itself, since FastStream's own way to a handler takes as much processor as a stage. FastStream asks
again at once after every fetch, so a refused fetch would be sent thousands of times a second; here it pauses first, and the failure
shows in the process's health. A fetch from a consumer that is gone is not even refused: it waits until its time is over, also when
the consumer is made again, and is therefore ended then.
"""

import asyncio
from collections.abc import Awaitable, Callable

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from bus.transport.health import Watch

type Deliver = Callable[[Msg], Awaitable[None]]

#: The pause after a fetch that failed, in seconds.
PAUSE_S = 0.2


class Pull(JetStreamContext.PullSubscription):
    """The given subscription; `deliver` gets its messages, and `watch` shows while it gets nothing but errors."""

    def __init__(self, given: JetStreamContext.PullSubscription, name: str, watch: Watch, deliver: Deliver) -> None:
        vars(self).update(vars(given))
        self._hand_over = deliver
        self._name = name
        self._watch = watch
        self._ending = False

    def lost(self) -> None:
        """Report that the consumer is gone, until a fetch ends."""
        self._watch.down[self._name] = "its consumer was gone"

    def begin_again(self) -> None:
        """End the fetch that waits now: its consumer was lost, and the one made again knows nothing of it."""
        self.lost()
        self._ending = True
        self._sub._pending_queue.put_nowait(Msg(_client=self._nc, headers={"Status": "503"}))

    async def fetch(self, batch: int = 1, timeout: float | None = 5, heartbeat: float | None = None) -> list[Msg]:
        try:
            found = await super().fetch(batch, timeout, heartbeat)
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
