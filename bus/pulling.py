"""The pull subscription that FastStream's loop fetches from: as patient as that loop is not.

FastStream asks again at once whatever a fetch ended with, so one that is refused would be sent some thousand times a second. Here a
fetch that fails, or ends empty too soon, pauses first, and the failure shows in the process's health. (A fetch from a consumer that
is gone is not even refused: it is only never answered.)
"""

import asyncio

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from bus.watched import Watch

#: The pause after a fetch that ended too soon, in seconds.
PAUSE_S = 0.2
#: The server keeps a fetch waiting until its timeout; one that ends empty before this was refused.
SOON_S = 0.05


class Pull(JetStreamContext.PullSubscription):
    """The given subscription; `watch` shows while it gets nothing but errors."""

    def __init__(self, given: JetStreamContext.PullSubscription, name: str, watch: Watch) -> None:
        vars(self).update(vars(given))
        self._name = name
        self._watch = watch

    async def fetch(self, batch: int = 1, timeout: float | None = 5, heartbeat: float | None = None) -> list[Msg]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            found = await super().fetch(batch, timeout, heartbeat)
        except TimeoutError:
            if loop.time() - began < SOON_S:
                await asyncio.sleep(PAUSE_S)
            else:
                self._watch.down.pop(self._name, None)
            raise
        except nats.errors.Error as error:
            self._watch.down[self._name] = str(error) or type(error).__name__
            await asyncio.sleep(PAUSE_S)
            raise
        self._watch.down.pop(self._name, None)
        return found
