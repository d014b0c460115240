"""A connection with its clients, and a nats-server that a test may kill and restart."""

import contextlib
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nats.aio.client import Client

from bus.journal.journal import Journal
from bus.powers.searching import SearchReply, SearchRequest, serve_search
from bus.transport.connection import connect, declare_streams, keep_trying
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from runtime.processes import nats_server, nats_users, ports
from runtime.processes.nats_users import Credentials


@dataclass
class Wire:
    """One connection with what speaks over it."""

    client: Client
    journal: Journal


@contextlib.asynccontextmanager
async def wired(settings: BusSettings) -> AsyncIterator[Wire]:
    """A connection that outlasts its server, with the streams declared."""
    client = await connect(settings, name="test")
    keep_trying(client)
    await declare_streams(client.jetstream(timeout=2.0), settings)
    yield Wire(client, Journal(client))
    await client.close()


@contextlib.asynccontextmanager
async def search_process(client: Client, reply: SearchReply | Unavailable) -> AsyncIterator[list[SearchRequest]]:
    """A search process that always answers so, with the searches that it hears."""
    heard: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        heard.append(request)
        if isinstance(reply, Unavailable):
            raise reply
        return reply

    close = await serve_search(client, find)
    await client.flush()
    yield heard
    await close()


class Server:
    """A nats-server on a port and a store of its own; both stay when it is killed and started again.

    `with_users`: it has the users of the product, and lets nobody else in.
    """

    users: Credentials

    def __init__(self, folder: Path, *, with_users: bool = False) -> None:
        self.port = ports.free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self._log = folder / "log"
        passwords = None
        if with_users:
            self.users = nats_users.make(folder, self.url)
            passwords = self.users.passwords
        self._config = nats_server.write_config(folder, port=self.port, sync_always=False, passwords=passwords)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(nats_server.command(self._config), stdout=log, stderr=log)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it is not started"
        return self._process

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, no client is notified."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def serving(folder: Path, *, with_users: bool = False) -> Iterator[Server]:
    folder.mkdir(exist_ok=True)
    made = Server(folder, with_users=with_users)
    made.start()
    try:
        yield made
    finally:
        made.kill()


type Opener = Callable[[], Awaitable[Wire]]
