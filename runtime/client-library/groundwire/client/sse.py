"""Read server-sent events, by the HTML standard, as far as the server writes them: `id`, `data`, `retry` and comments."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from aiohttp import StreamReader


@dataclass(slots=True)
class Message:
    """One event. `retry_s`: how long the server wants a client to wait before it comes back; None if it did not say."""

    id: int
    data: bytes
    retry_s: float | None = None


async def messages(stream: StreamReader) -> AsyncIterator[Message]:
    """The events of a response; an incomplete one is left out. Raises the errors of reading."""
    rest = b""
    number = 0
    data: list[bytes] = []
    retry_s: float | None = None
    async for chunk in stream.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in (each.removesuffix(b"\r") for each in lines):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if not line:
                if data:
                    yield Message(number, b"\n".join(data), retry_s)
                data, retry_s = [], None
            elif name == b"data":
                data.append(value)
            elif name == b"id" and value.isdigit():
                number = int(value)
            elif name == b"retry" and value.isdigit():
                retry_s = int(value) / 1000
