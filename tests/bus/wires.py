"""A connection with its clients, and a nats-server that a test may kill and restart."""

import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from nats.aio.client import Client

from bus.journal.journal import Journal
from bus.transport.connection import Inbox
from runtime.processes import nats_server, ports


@dataclass
class Wire:
    """One connection with what speaks over it."""

    client: Client
    inbox: Inbox
    journal: Journal


class Server:
    """A nats-server on a port and a store of its own; both stay when it is killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.port = ports.free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self._log = folder / "log"
        self._config = nats_server.write_config(folder, port=self.port, sync_always=False)
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


type Opener = Callable[[], Awaitable[Wire]]
