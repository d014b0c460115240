"""A real browser on the page of a running edge, and a line between the two that can be cut."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser import chromium

__all__ = ["chromium"]


class Line:
    """What lies between browser and edge: `cut` breaks every connection, and new ones go through."""

    def __init__(self, edge: str) -> None:
        self._port = int(edge.rpartition(":")[2])
        self._open: set[asyncio.StreamWriter] = set()
        self.address = ""

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, back}
        await asyncio.gather(_carry(reader, back), _carry(there, writer))
        self._open -= {writer, back}

    def cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


@pytest.fixture
async def line(edge: str) -> AsyncIterator[Line]:
    made = Line(edge)
    server = await asyncio.start_server(made.join, "127.0.0.1", 0)
    made.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()
    made.cut()


@pytest.fixture
async def page(chromium: Browser, line: Line) -> AsyncIterator[Page]:
    """A page of its own with a clean store; complaints of the browser and requests elsewhere fail the test."""
    context = await chromium.new_context(locale="en-GB")
    made = await context.new_page()
    complaints: list[str] = []
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
    made.on("request", lambda request: None if request.url.startswith(line.address) else complaints.append(request.url))
    await made.goto(line.address)
    yield made
    await context.close()
    assert complaints == []


async def ask(page: Page, question: str) -> None:
    await page.get_by_label("Your question").fill(question)
    await page.get_by_role("button", name="Ask", exact=True).click()


def answer(page: Page) -> Locator:
    """The last answer."""
    return page.locator(".turn").last.locator(".answer")


async def done(page: Page, said: str = "Done.") -> None:
    await expect(page.locator("#status")).to_have_text(said)
