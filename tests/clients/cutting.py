"""A network that breaks, between a real client and the edge."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator


class CutProxy:
    """A way to the server that breaks each connection after so many bytes of the answer, the later ones after more; or by `cut`.

    `passed`: what has come from the server through it. `address`: where it listens.
    """

    def __init__(self, edge: str, first: int = sys.maxsize) -> None:
        self.host, self.port = edge.removeprefix("http://").split(":")
        self.left = first
        self.connections = 0
        self.passed = bytearray()
        self.address = ""
        self.tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield self.address
        server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await server.wait_closed()

    def cut(self) -> None:
        """Break the connections that are open."""
        for task in self.tasks:
            task.cancel()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        left, self.left = self.left, self.left + 150
        self.tasks.add(asyncio.create_task(self.serve(reader, writer, left)))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: int) -> None:
        there, back = await asyncio.open_connection(self.host, int(self.port))
        sending = asyncio.create_task(self.copy(reader, back))
        try:
            while left > 0 and (data := await there.read(min(65536, left))):
                left -= len(data)
                writer.write(data)
                self.passed += data
        finally:
            sending.cancel()
            for each in (writer, back):
                each.close()
                with contextlib.suppress(ConnectionError):
                    await each.wait_closed()

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)
