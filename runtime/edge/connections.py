"""Limits of connections: their number, the time for a request and for a response, and the answer to bytes that are no HTTP.

aiohttp closes a connection that has not completed the headers of its next request within `keepalive_timeout`, counted from its
beginning or its last response; so that time is also the limit for slow headers. aiohttp does not limit the number of connections,
nor a client that does not read its response; this module counts connections and watches unsent bytes, for all routes.
"""

import asyncio
import functools
import ipaddress
import logging
import resource
import socket
from collections import Counter
from typing import Any, cast

import msgspec
from aiohttp import web

from runtime.edge.problems import ERRORS, PROBLEM_JSON, RETRY_AFTER_S, Problem
from runtime.edge.timeouts import Timeouts
from runtime.loopback import is_loopback

log = logging.getLogger("groundwire.edge")

#: Open files other than connections: the bus, logs, the page.
OTHER_FILES = 128
#: Most bytes of the request line and of each header, and most headers.
SIZES = {"max_line_size": 8190, "max_field_size": 8190, "max_headers": 64}
#: How many connections above the limit are answered at a time; more are cut.
MOST_EXCESS = 4096
#: How many connections may wait to be accepted.
BACKLOG = 4096
#: How long the rest of a refused request's body is read before its connection is closed, in seconds.
LINGERING_S = 2.0

_BODY = msgspec.json.encode(
    PROBLEM_JSON.body(
        Problem(503, "too_many_connections", "the service has too many open connections; try again later")
    )
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json; charset=utf-8\r\n"
    b"Retry-After: %d\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (RETRY_AFTER_S, len(_BODY), _BODY)
)


class Crowd:
    """The connections open now. `most_per_address` is for other machines, 0 for no limit: behind a proxy all share one."""

    def __init__(self, most: int, most_per_address: int) -> None:
        self.most = most
        self.most_per_address = most_per_address
        self.refused = 0
        self.excess = 0  # connections that are being refused
        self._open: Counter[str] = Counter()
        self._all = 0

    def enter(self, address: str) -> bool:
        """Whether one more may come from there; if so it is counted."""
        full = self._all >= self.most
        if not full and self.most_per_address and not is_loopback(address):
            full = self._open[address] >= self.most_per_address
        if full:
            self.refused += 1
            return False
        self._all += 1
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        self._all -= 1
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]


class Excess(asyncio.Protocol):
    """A connection above the limit: its first bytes are answered with 503, the rest is read and dropped until its client leaves."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, crowd: Crowd) -> None:
        if crowd.excess >= MOST_EXCESS:
            transport.abort()
            return
        crowd.excess += 1
        self._transport = transport
        self._crowd = crowd
        self._answered = False
        self._gone_by = loop.call_later(LINGERING_S, transport.abort)
        transport.set_protocol(self)

    def data_received(self, data: bytes) -> None:
        if not self._answered:
            self._answered = True
            self._transport.write(_FULL)
            self._transport.write_eof()

    def connection_lost(self, error: BaseException | None) -> None:
        self._crowd.excess -= 1
        self._gone_by.cancel()


@functools.lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The network that counts as one address: an IPv6 client has a whole /64 to itself."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address) or parsed.ipv4_mapped or parsed.is_loopback:
        return str(getattr(parsed, "ipv4_mapped", None) or parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class Connection(web.RequestHandler):
    """aiohttp's protocol of one connection, counted, with errors as problem+json. `stall_s`: how long its client may not read."""

    __slots__ = ("_crowd", "_from", "_reads_by", "_stall_s")

    def __init__(self, server: web.Server, crowd: Crowd, stall_s: float, **options: Any) -> None:
        super().__init__(server, **options)
        self._crowd = crowd
        self._stall_s = stall_s
        self._from: str | None = None
        self._reads_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        address = network_of(peer[0] if peer else "")
        if not self._crowd.enter(address):
            Excess(self._loop, cast("asyncio.Transport", transport), self._crowd)  # uvloop's does not inherit from it
            return
        self._from = address
        super().connection_made(transport)

    def pause_writing(self) -> None:
        """More waits to be sent than should: its client has so long to read on."""
        super().pause_writing()
        if self.transport is not None:
            self._reads_by = self._loop.call_later(self._stall_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._read_on()
        super().resume_writing()

    def _read_on(self) -> None:
        if self._reads_by is not None:
            self._reads_by.cancel()
            self._reads_by = None

    def connection_lost(self, error: BaseException | None) -> None:
        self._read_on()
        if self._from is None:
            return
        self._crowd.leave(self._from)
        super().connection_lost(error)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Unreadable bytes get a one-line answer and no log entry; any other error is a bug."""
        if status < 500:
            reason = (
                (message or "").partition("\n")[0].partition(":")[0][:100]
            )  # what follows are its bytes, maybe a key
            response = PROBLEM_JSON.response(
                Problem(status, "bad_request", f"this is no HTTP that can be read: {reason}")
            )
        else:
            log.error("a request of %s failed", request.remote, exc_info=exc)
            if request.writer.output_size > 0:
                raise ConnectionError("the response has begun; it ends here")
            problem = Problem(status, "internal", "an error inside the service; its log says more")
            response = request.get(ERRORS, PROBLEM_JSON).response(problem)
        response.force_close()
        return response


class Site(web.BaseSite):
    """The addresses that an edge listens on. `port` is known once it has started."""

    __slots__ = ("_addresses", "_crowd", "_options", "_stall_s", "port")

    def __init__(
        self, runner: web.BaseRunner, addresses: tuple[str, ...], port: int, crowd: Crowd, timeouts: Timeouts
    ) -> None:
        super().__init__(runner)
        self.port = port
        self._addresses = addresses
        self._crowd = crowd
        self._stall_s = timeouts.stall_s + timeouts.grace_s  # a stream that stalls is ended sooner, and counted
        self._options = {
            "keepalive_timeout": timeouts.headers_s,
            "lingering_time": LINGERING_S,
            "access_log": None,
            "auto_decompress": False,  # else a compressed body is unfolded before the key is checked
            **SIZES,
        }

    @property
    def name(self) -> str:
        return f"http://{self._addresses[0]}:{self.port}"

    async def start(self) -> None:
        """Raises OSError."""
        await super().start()
        server, loop = self._runner.server, asyncio.get_running_loop()
        assert server is not None

        def connection() -> Connection:
            return Connection(server, self._crowd, self._stall_s, loop=loop, **self._options)

        self._server = await loop.create_server(connection, list(self._addresses), self.port, backlog=BACKLOG)
        # The operating system, where it can, ends a connection that accepts no more bytes, also while it closes; each inherits it.
        if (option := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
            for each in self._server.sockets:
                each.setsockopt(socket.IPPROTO_TCP, option, round(1000 * self._stall_s))
        self.port = int(self._server.sockets[0].getsockname()[1])


def allow_files(connections: int) -> None:
    """Raise the process's limit of open files to what that many connections need, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + MOST_EXCESS + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
