"""The worker's durable consumers and its pulls of them: declared with FastStream (`broker.py`), or for a lone question without.

To import FastStream, and pydantic for it, is a tenth of the processor that a lone question takes.
"""

import contextlib
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import nats.errors
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig

from bus.delivery.pulling import Deliver, Pull
from bus.transport.connection import connect, keep_trying
from bus.transport.health import Watch
from bus.transport.settings import BusSettings
from bus.transport.users import ACTORS, inbox_prefix
from bus.wire.subjects import RUNS

#: How long a fetch waits, in seconds.
FETCH_S = 2.0
INBOX = f"{inbox_prefix(ACTORS.name)}.".encode()


class Bound(NamedTuple):
    """A consumer of the journal by its name, with what gets its messages."""

    name: str
    config: ConsumerConfig
    deliver: Deliver

    @property
    def subject(self) -> str:
        return self.config.filter_subject or ""

    def pull_of(self, given: JetStreamContext.PullSubscription, watch: Watch) -> Pull:
        return Pull(given, f"pulls of {self.name}", watch, self.deliver)


async def connected(settings: BusSettings) -> Client:
    """The worker's connection, opened as every other one is. Raises Unavailable."""
    client = await connect(settings, name="groundwire-actors", user=ACTORS.name)
    keep_trying(client)
    return client


class Subscriptions(Protocol):
    """What opens the worker's connection and pulls on it until `stop`, which closes it."""

    async def connect(self) -> Client:
        """Raises Unavailable."""
        ...

    async def pull(self, bounds: Sequence[Bound], watch: Watch) -> dict[str, Pull]:
        """Make the missing consumers and begin; the pulls by their consumers' names. Raises nats's errors, TimeoutError."""
        ...

    async def stop(self) -> None: ...


class Alone:
    """Those of a lone question, by nats-py."""

    def __init__(self, settings: BusSettings) -> None:
        self._settings = settings
        self._client: Client

    async def connect(self) -> Client:
        self._client = await connected(self._settings)
        return self._client

    async def pull(self, bounds: Sequence[Bound], watch: Watch) -> dict[str, Pull]:
        pulls: dict[str, Pull] = {}
        for bound in bounds:
            given = await self._client.jetstream().pull_subscribe(
                bound.subject, bound.name, RUNS, bound.config, inbox_prefix=INBOX
            )
            pulls[bound.name] = pull = bound.pull_of(given, watch)
            watch.keep(f"fetches from {bound.name}", partial(_fetching, pull))
        return pulls

    async def stop(self) -> None:
        await self._client.drain()


async def _fetching(pull: Pull) -> None:
    while True:
        with contextlib.suppress(nats.errors.Error):
            await pull.fetch(timeout=FETCH_S)
