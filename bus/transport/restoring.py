"""Make again a stream or an actor's durable consumer that the server has lost, for any reason and however much was lost.
A consumer that is made again begins after the last message that the lost one had settled, so that nothing of an accepted question
is skipped and little is done twice; what is done twice is written once. In a stream that is new it begins at the beginning.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import cast

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DeliverPolicy, StreamInfo
from nats.js.errors import APIError

from bus.transport.connection import Connection, declare_streams, found, receive
from bus.transport.settings import BusSettings
from bus.transport.users import LOSSES
from bus.wire.errors import Unavailable
from bus.wire.subjects import EVENTS, RUNS

log = logging.getLogger("groundwire.bus")

#: How soon it looks after something has happened, and how often where nothing happens, in seconds; a look is three requests.
LOOK_S, QUIET_LOOK_S = 1.0, 10.0


class Restorer:
    """Looks after both streams and these durable consumers of RUNS, by name. Call `start`, then keep `run` going.

    `due`: set it when a message is delivered, since what the consumers have settled changes then.
    """

    def __init__(
        self,
        client: Client,
        settings: BusSettings,
        consumers: Mapping[str, ConsumerConfig] | None = None,
        on_lost: Callable[[str], None] = lambda name: None,
        on_made: Callable[[str], None] = lambda name: None,
    ) -> None:
        """Called with a consumer's name: `on_lost` when nats-server reports its end, `on_made` when it is there again."""
        #: Up to this sequence, a message may have been handled under the consumer that was lost.
        self.handled_up_to: dict[str, int] = {}
        self.due = asyncio.Event()
        self._client = cast(Connection, client)
        self._js = client.jetstream(timeout=2.0)
        self._settings = settings
        self._on_lost, self._on_made = on_lost, on_made
        self._consumers = consumers or {}
        self._born: datetime | None = None
        self._settled: dict[str, int] = {}  # by consumer: everything up to this sequence is settled

    async def start(self) -> None:
        """Look soon after nats-server was away, or reports a loss."""
        self._client.on_return.add(self.due.set)
        for subject in LOSSES:
            await receive(self._client, subject, self._reported)

    def _reported(self, msg: Msg) -> None:
        self._on_lost(msg.subject.rpartition(".")[2])
        self.due.set()

    async def run(self) -> None:
        """Look for ever. Raises Unavailable when the server refuses to make something again."""
        while True:
            try:
                await self.look()
            except (nats.errors.Error, TimeoutError) as error:
                if self._client.is_connected:
                    log.info("the streams cannot be looked at (%s); trying again", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(QUIET_LOOK_S):
                    await self.due.wait()
            self.due.clear()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Make again what is missing now. Raises Unavailable, and nats's errors."""
        runs, events = [await found(self._js.stream_info(name)) for name in (RUNS, EVENTS)]
        if runs is None or events is None:
            log.warning("the stream %s is gone; making it again", RUNS if runs is None else EVENTS)
            await declare_streams(self._js, self._settings)
            runs = await found(self._js.stream_info(RUNS))
        if runs is not None:
            await self._look_at_consumers(runs)

    async def _look_at_consumers(self, runs: StreamInfo) -> None:
        if not self._consumers:
            return
        if runs.created != self._born:
            self._born = runs.created
            self._settled.clear()
            self.handled_up_to.clear()
        there = {info.name: info for info in await self._js.consumers_info(RUNS)}
        for name, config in self._consumers.items():
            # The list may be longer than one answer.
            info = there.get(name) or await found(self._js.consumer_info(RUNS, name))
            if info is not None:
                self._settled[name] = info.ack_floor.stream_seq if info.ack_floor is not None else 0
            else:
                await self._make(name, config, runs.state.last_seq)

    async def _make(self, name: str, config: ConsumerConfig, last: int) -> None:
        settled = self._settled.get(name)
        if settled is not None:
            config = replace(config, deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=settled + 1)
            self.handled_up_to[name] = last
        log.warning("the consumer %s is gone; making it again after record %s", name, settled or 0)
        try:
            await self._js.add_consumer(RUNS, config)
        except APIError as error:
            raise Unavailable(f"the nats-server refused the consumer {name} ({error.description})") from None
        self._on_made(name)
