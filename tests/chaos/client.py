"""A client over HTTP that never gives up: it asks by an idempotency key, and comes back by Last-Event-ID when it is cut off."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp

DONE = b'{"type":"DONE"}'
#: After so many seconds of silence a stream is replaced by the run's record.
SILENT_S = 20.0
#: A `Retry-After` is believed up to here, so that a test has an end.
LONGEST_WAIT_S = 5.0


@dataclass
class Asked:
    """A question of one client, and what it came to. `lines`: its events, over however many connections."""

    text: str
    began: float
    run_id: str = ""
    lines: list[bytes] = field(default_factory=list)
    ended: float = 0.0
    refused: list[int] = field(default_factory=list)  #: statuses of the refusals before it was accepted
    gap: str = ""  #: why its events are not all of them
    cancelled: bool = False
    queued: bool = False  #: it had a position in the queue, where it is not stored yet

    @property
    def accepted(self) -> bool:
        return bool(self.run_id) and (bool(self.lines) or not self.queued)


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[tuple[int, bytes]]:
    """The number and data of each event. Raises ClientError when it is cut off in the middle of a line."""
    number = 0
    async for line in response.content:
        if line.startswith(b"id: "):
            number = int(line[4:])
        elif line.startswith(b"data: "):
            if not line.endswith(b"\n"):
                raise aiohttp.ClientError("cut off in the middle of a line")
            yield number, line[6:].rstrip(b"\n")


def session() -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENT_S)
    return aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=128))


class Client:
    """Asks an edge at `url`; `reconnects` counts how often it had to come back."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self.http = http
        self.url = url
        self.reconnects = 0

    async def ask(
        self, asked: Asked, more: dict[str, object], *, once: bool = False, slow_s: float = 0.0, leave_after: int = 0
    ) -> None:
        """Ask and read to DONE. `more`: of the request; `once`: leave it when the first answer of the server is none.

        `slow_s`: how long to look at each event; `leave_after`: cancel after so many events.
        """
        body = {"question": asked.text} | more
        while True:
            pause = 0.05
            try:
                async with self._request(asked, body) as response:
                    if response.status == 200:
                        asked.run_id = response.headers["X-Run-Id"]
                        if await self._read(asked, response, slow_s, leave_after):
                            break
                    elif asked.run_id and response.status in (204, 404, 410):
                        said = await response.text()
                        asked.gap = f"status {response.status} after {len(asked.lines)} events: {said}"
                        break
                    else:
                        pause = await self._refused(asked, response)
            except TimeoutError:
                if asked.run_id and await self.over(asked):
                    asked.gap = f"silent for {SILENT_S:.0f} s after {len(asked.lines)} events, though the run is over"
                    break
            except (aiohttp.ClientError, ConnectionError):
                pass
            if once and not asked.run_id:
                break
            self.reconnects += 1
            await asyncio.sleep(pause)

    def _request(
        self, asked: Asked, body: dict[str, object]
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        if not asked.run_id:
            return self.http.post(f"{self.url}/v1/runs", json=body)
        last = {"Last-Event-ID": str(len(asked.lines))}
        return self.http.get(f"{self.url}/v1/runs/{asked.run_id}/events", headers=last)

    async def _read(self, asked: Asked, response: aiohttp.ClientResponse, slow_s: float, leave_after: int) -> bool:
        """Whether there is nothing more to read. Raises what aiohttp does when it is cut off."""
        async for number, data in events(response):
            last = len(asked.lines)
            asked.queued |= b'"type":"queued"' in data
            if not number and b'"events_gone"' in data:
                asked.gap = data.decode()
            if not number and data == DONE:
                if not asked.gap:
                    asked.run_id = ""  # it could not be stored once it had left the queue
                return bool(asked.gap)
            if number <= last:
                continue  # a repeated POST begins at the beginning
            if number != last + 1:
                asked.gap = f"event {number} came after event {last}"
                return True
            asked.lines.append(data)
            if data == DONE:
                return True
            if leave_after and number >= leave_after and not asked.cancelled:
                asked.cancelled = await self.cancel(asked.run_id)
            await asyncio.sleep(slow_s)
        return False

    async def _refused(self, asked: Asked, response: aiohttp.ClientResponse) -> float:
        """How long to wait, in seconds."""
        assert response.status in (429, 503), await response.text()
        if not asked.run_id:
            asked.refused.append(response.status)
        return min(float(response.headers.get("Retry-After", 1)), LONGEST_WAIT_S)

    async def over(self, asked: Asked) -> bool:
        """Whether the run has an end, which is so when its events are gone."""
        record = await self.record(asked.run_id)
        return record is not None and record["status"] == "finished"

    async def record(self, run_id: str) -> dict[str, object] | None:
        """The record of a run so far; None when it cannot be had now."""
        try:
            async with self.http.get(f"{self.url}/v1/runs/{run_id}") as response:
                return dict(await response.json()) if response.status == 200 else None
        except (aiohttp.ClientError, ConnectionError, TimeoutError, json.JSONDecodeError):
            return None

    async def cancel(self, run_id: str) -> bool:
        try:
            async with self.http.post(f"{self.url}/v1/runs/{run_id}/cancel") as response:
                return response.status == 200
        except (aiohttp.ClientError, ConnectionError, TimeoutError):
            return False

    async def from_the_start(self, run_id: str) -> list[bytes]:
        """All events of a run that is over, over one connection. Raises ClientError."""
        async with self.http.get(f"{self.url}/v1/runs/{run_id}/events?after=0") as response:
            if response.status != 200:
                raise aiohttp.ClientError(f"status {response.status}")
            return [data async for _, data in events(response)]
