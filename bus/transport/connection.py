"""A NATS connection as every process opens it, the streams, and one inbox shared by many requests.

Code outside this folder that has to name a connection or a message uses `Client` and `Msg` from here.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, cast

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError
from nats.protocol.command import hpub_cmd

from bus.transport.configuration import Config, changed, streams
from bus.transport.envelope import Frame, header_lines, set_aside
from bus.transport.security import connect_options
from bus.transport.settings import BusSettings
from bus.transport.users import OPERATOR
from bus.wire.errors import Unavailable
from bus.wire.subjects import EVENTS, RUNS

log = logging.getLogger("groundwire.bus")

#: By default nats-py takes minutes to give up on a black-holed link, and closes for good after 60 attempts.
CONNECT_OPTIONS: dict[str, Any] = {
    "ping_interval": 5,
    "max_outstanding_pings": 2,
    "max_reconnect_attempts": -1,
    "reconnect_time_wait": 0.1,
    "allow_reconnect": True,
}
ANOTHER_CONFIG = 10058  # "stream name already in use with a different configuration"
#: A cluster that has not chosen a leader yet, or does not know its servers yet.
NOT_YET = {10005, 10008, 10009, 10074}  # no suitable peers, temporarily unavailable, no leader, insufficient replicas
#: How long a server may take until it declares the streams, in seconds.
PATIENCE_S = 15.0
#: nats-py's words, of two kinds of exception.
_REFUSED = "authorization violation"
#: The first connection must fail without an answer: with unlimited attempts, `nats.connect` would never return.
_FIRST: dict[str, Any] = {"allow_reconnect": False, "max_reconnect_attempts": 1}
#: From so many bytes on that the socket has not taken yet, a flush waits.
_UNSENT_BYTES = 64 * 1024
#: Lines of a header that need no change: names as nats-py takes them, and values without white space around them.
_HEADERS = re.compile(r"(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+: (?!\s)[^\r\n]*(?<!\s)\r\n)+")


class Connection(Client):
    """nats-py's client, with a close that works while the server is away and a `flush` that really flushes.

    It survives malformed messages: nats-py's own reader ends for good at a subject or a header that is not text, and takes a
    stored message with a header `Status` for an answer of the server. `takers` and `receivers`: of the messages of each
    subscription, by its number, as they are and decoded. `on_return`: called each time the lost server is there again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.takers: dict[int, Callable[[Frame], None]] = {}
        self.receivers: dict[int, Callable[[Msg], None]] = {}
        self.on_return: set[Callable[[], None]] = set()
        self._sending = False

    @cached_property
    def inbox(self) -> "Inbox":
        """For the replies to every request of this connection."""
        return Inbox(self)

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        if (taker := self.takers.get(sid)) is not None:
            taker((subject, reply, headers or b"", data))
        elif (receiver := self.receivers.get(sid)) is not None:
            told = await self._process_headers(headers) if headers else None
            receiver(self._build_message(sid, subject, reply, data, told))
        else:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)

    def _remove_sub(self, sid: int, max_msgs: int = 0) -> None:
        self.takers.pop(sid, None)
        self.receivers.pop(sid, None)
        super()._remove_sub(sid, max_msgs)

    async def _request_new_style(
        self, subject: str, payload: bytes, timeout: float = 1, headers: dict[str, Any] | None = None
    ) -> Msg:
        """As nats-py's, which reads random bytes from the system for each request, and has a queue and a task for replies."""
        if self.is_draining_pubs:
            raise nats.errors.ConnectionDrainingError
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Msg] = loop.create_future()
        reply = await self.inbox.open(lambda msg: None if answer.done() else answer.set_result(msg))
        try:
            await self.publish(subject, payload, reply=reply, headers=headers)
            expiry = loop.call_later(timeout, _expire, answer)
            try:
                return await answer
            finally:
                expiry.cancel()
        finally:
            self.inbox.close(reply)

    async def _send_publish(
        self, subject: str, reply: str, payload: bytes, payload_size: int, headers: dict[str, Any] | None
    ) -> None:
        """As nats-py's, which strips, checks and encodes each name and value of a header by itself."""
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()]) if headers else ""
        if not headers or not _HEADERS.fullmatch(lines) or lines.count("\n") != len(headers):
            await super()._send_publish(subject, reply, payload, payload_size, headers)
            return
        told = f"NATS/1.0\r\n{lines}\r\n".encode()
        self.stats["out_msgs"] += 1
        self.stats["out_bytes"] += payload_size
        await self._send_command(hpub_cmd(subject, reply, told, payload))
        if self._flush_queue is not None and self._flush_queue.empty():
            await self._flush_pending()

    _parse_header_lines = staticmethod(header_lines)  # nats-py's looks at each character of each name

    async def _process_headers(self, headers: bytes | None) -> dict[str, str] | None:
        try:
            return await super()._process_headers(headers)
        except (ValueError, IndexError) as error:
            set_aside("frame", repr(headers), error)
            return {}

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg:
        if headers and "Status" in headers and reply.startswith(b"$JS.ACK."):
            headers = {name: value for name, value in headers.items() if name != "Status"}
        return self.msg_class(
            subject=subject.decode(errors="replace"),
            reply=reply.decode(errors="replace"),
            data=data,
            headers=headers,
            _client=self,
            _sid=sid,
        )

    async def _flush_pending(self, force_flush: bool = False) -> Any:
        """As nats-py's, without a future, a queue and the turn of a task for each flush.

        nats-py's task writes where it has to wait, since the server takes no more.
        """
        if self._sending and not force_flush:
            return None
        writer = getattr(self._transport, "_io_writer", None)  # a WebSocket has none
        full = writer is None or writer.transport.get_write_buffer_size() >= _UNSENT_BYTES
        if force_flush or full or not self.is_connected:
            return await super()._flush_pending(force_flush)
        self._sending = True
        asyncio.get_running_loop().call_soon(self._send_pending)
        return None

    def _send_pending(self) -> None:
        self._sending = False
        if self._pending and self.is_connected:
            with contextlib.suppress(OSError, RuntimeError):  # the connection is lost: sent when there is another
                cast(Any, self._transport).writelines(self._pending)
                self._pending, self._pending_data_size = [], 0

    async def returned(self) -> None:
        """nats-py calls it after it has connected again."""
        for call in tuple(self.on_return):
            call()

    async def flush(self, timeout: int = 10) -> None:
        """Wait until the server has everything sent so far: nats-py's own ping overtakes data still queued for the
        socket.
        """
        await self._flush_pending(force_flush=True)
        await super().flush(timeout)

    def hang_up(self) -> None:
        """Close the socket of a connection that was refused: nats-py leaves it open, and its `close` waits for TLS."""
        transport: Any = self._transport
        if transport is not None:
            transport.close()
            if (below_tls := getattr(transport, "_bare_io_writer", None)) is not None:
                below_tls.close()

    async def close(self) -> None:
        forget_unsent(self)
        await super().close()


def _expire(reply: asyncio.Future[Msg]) -> None:
    if not reply.done():
        reply.set_exception(nats.errors.TimeoutError())


async def take(client: Client, subject: str, taker: Callable[[Frame], None]) -> Subscription:
    """Subscribe; each message is handed over where it is read, without a queue and a task of its own.

    What `taker` raises would end the connection's reading: it only puts the message somewhere.
    """
    subscription = await client.subscribe(subject)
    cast(Connection, client).takers[subscription._id] = taker
    return subscription


async def receive(client: Client, subject: str, receiver: Callable[[Msg], None], *, queue: str = "") -> Subscription:
    """As `take`, with messages whose headers are read. Of those that subscribe with one `queue`, one gets each message."""
    subscription = await client.subscribe(subject, queue=queue)
    cast(Connection, client).receivers[subscription._id] = receiver
    return subscription


def forget_unsent(client: Client) -> None:
    """Call before closing a client of a lost server: pending data would be written to a socket that is gone."""
    if not client.is_connected:
        client._pending, client._pending_data_size = [], 0


async def log_error(error: Exception) -> None:
    """Log dropped messages and refused permissions, which are reported nowhere else."""
    log.warning("bus: %s: %s", type(error).__name__, error)


async def _quiet(error: Exception) -> None:
    """Log nothing while connecting: `connect` reports a failure once its patience is over."""


async def connect(bus: BusSettings | str, *, name: str, user: str = OPERATOR.name, patience_s: float = 10.0) -> Client:
    """Open a connection as one of Groundwire's users; `bus` may be an address alone.

    Raises Unavailable when nothing answers within `patience_s`, and at once when the server does not let us in.
    """
    settings = BusSettings(url=bus) if isinstance(bus, str) else bus
    options = connect_options(settings, user)
    where = ", ".join(options["servers"])
    give_up = asyncio.get_running_loop().time() + patience_s
    while True:
        client = Connection()
        try:
            await client.connect(
                **options,
                name=name,
                error_cb=_quiet,
                reconnected_cb=client.returned,
                connect_timeout=2,
                **{**CONNECT_OPTIONS, **_FIRST},
            )
            return client
        except (OSError, nats.errors.Error) as error:
            client.hang_up()
            if _REFUSED in str(error).lower():
                raise Unavailable(refused(settings, where)) from None
            if isinstance(error, ssl.SSLError):
                raise Unavailable(
                    f"no TLS with {where} ({error}); look at bus.tls_ca, bus.tls_cert, bus.tls_key"
                ) from None
            if asyncio.get_running_loop().time() > give_up:
                raise Unavailable(f"no nats-server at {where} ({error}); start one with `groundwire up`") from None
            await asyncio.sleep(0.05)


def refused(settings: BusSettings, where: str) -> str:
    """What to say when the server does not let this user in."""
    given = "bus.creds" if settings.creds else "bus.nkey_seed" if settings.nkey_seed else "bus.user and bus.password"
    return f"nats-server at {where} does not let us in; look at {given}"


def keep_trying(client: Client) -> None:
    """Reconnect for ever from now on: the first connection has shown that the address is right."""
    client.options.update(CONNECT_OPTIONS)
    client._error_cb = log_error


async def declare_streams(js: JetStreamContext, settings: BusSettings) -> None:
    """Create both streams, or update their limits from the settings. Raises Unavailable when the server refuses."""
    give_up = asyncio.get_running_loop().time() + PATIENCE_S
    for name, config in streams(settings).items():
        while True:
            try:
                await declare_stream(js, name, config)
                break
            except APIError as error:
                if error.err_code == ANOTHER_CONFIG:  # another process has created it meanwhile
                    continue
                if asyncio.get_running_loop().time() > give_up or error.err_code not in NOT_YET:
                    raise Unavailable(
                        f"the nats-server refused the stream {name}: {error.description}; "
                        "free disk space, or lower bus.runs_max_bytes and bus.events_max_bytes"
                    ) from None
                await asyncio.sleep(0.1)
            except (nats.errors.Error, TimeoutError) as error:
                if asyncio.get_running_loop().time() > give_up:
                    raise Unavailable(f"JetStream does not answer ({error}); start nats-server with -js") from None
                await asyncio.sleep(0.1)


async def declare_stream(js: JetStreamContext, name: str, wanted: Config) -> None:
    """Create one stream, or update it where it is not as wanted. Raises nats's errors."""
    there = await stream_config(js, name)
    config = changed(there or {}, wanted)
    if config is not None:  # an update would write, which a full disk refuses
        await _asked(js, f"STREAM.{'CREATE' if there is None else 'UPDATE'}.{name}", {**config, "name": name})


async def stream_config(js: JetStreamContext, name: str) -> dict[str, Any] | None:
    """The stream's configuration as the server gives it, what nats-py does not know included; None when there is no such stream.

    Raises nats's errors.
    """
    there = await found(_asked(js, f"STREAM.INFO.{name}"))
    return dict(there["config"]) if there else None


async def _asked(js: JetStreamContext, request: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
    """What JetStream's API answers, in its own words. Raises nats's errors."""
    said = json.dumps(body).encode() if body else b""
    answer: dict[str, Any] = await js._api_request(f"$JS.API.{request}", said, timeout=2.0)
    return answer


async def found[T](asked: Awaitable[T]) -> T | None:
    """What JetStream has; None when there is no such thing. Raises nats's other errors."""
    try:
        return await asked
    except NotFoundError:
        return None


async def await_streams(js: JetStreamContext, *, patience_s: float = 15.0) -> None:
    """Wait until both streams exist; for processes without the right to declare them. Raises Unavailable."""
    give_up = asyncio.get_running_loop().time() + patience_s
    for name in (RUNS, EVENTS):
        while True:
            try:
                if await found(js.stream_info(name)) is not None:
                    break
                why = f"there is no stream {name}; start the actors"
            except (nats.errors.Error, TimeoutError) as error:
                why = f"JetStream does not answer ({error}); start nats-server with -js"
            if asyncio.get_running_loop().time() > give_up:
                raise Unavailable(why)
            await asyncio.sleep(0.1)


class Inbox:
    """One wildcard subscription for all replies on a connection, so that a request costs a token, not a subscription."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._prefix = client.new_inbox()
        self._tokens = itertools.count(1)
        self._takers: dict[str, Callable[[Msg], None]] = {}
        self._subscribed: asyncio.Task[Subscription] | None = None

    async def open(self, taker: Callable[[Msg], None]) -> str:
        """A reply subject; its messages go to `taker` until `close`."""
        if self._subscribed is None:
            self._subscribed = asyncio.create_task(receive(self.client, f"{self._prefix}.*", self._take))
        if not self._subscribed.done():
            await asyncio.shield(self._subscribed)
        token = str(next(self._tokens))
        self._takers[token] = taker
        return f"{self._prefix}.{token}"

    def close(self, reply: str) -> None:
        self._takers.pop(reply.rpartition(".")[2], None)

    def _take(self, msg: Msg) -> None:
        taker = self._takers.get(msg.subject.rpartition(".")[2])
        if taker is not None:
            taker(msg)


def inbox_of(client: Client) -> Inbox:
    return cast(Connection, client).inbox


def status_of(msg: Msg) -> str:
    """The status that a server put on a reply (`404`, `503`, `100`…); empty for an ordinary message."""
    return (msg.headers or {}).get("Status", "") if msg.headers and not msg.data else ""


__all__ = ["Client", "Msg"]  # nats-py's own
