"""A real browser on the page of a running edge, and a line between the two that can be cut."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser import chromium
from tests.clients.cutting import CutProxy

__all__ = ["chromium"]


@pytest.fixture
async def line(edge: str) -> AsyncIterator[CutProxy]:
    made = CutProxy(edge)
    async with made.listening():
        yield made


@pytest.fixture
async def page(chromium: Browser, line: CutProxy) -> AsyncIterator[Page]:
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


async def answered(page: Page, question: str) -> None:
    """Ask, and wait for the end."""
    await ask(page, question)
    await done(page)
