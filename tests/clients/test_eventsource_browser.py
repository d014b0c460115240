"""The browser's own EventSource, on a test page: fetch starts a run, and the EventSource follows it by its id."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.clients.cutting import CutProxy
from tests.clients.halves import WORDS, Halves, halves
from tests.clients.table import Row
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import KINDS

__all__ = ["halves"]  # a fixture

ROWS = (Row(name="EventSource of Chromium", over="/v1/runs"),)

#: Asks, and collects what the source hears: `heard` are its events, `opened` is how often it has connected.
FOLLOW = """async (question) => {
  const asked = await fetch(`/v1/runs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question }),
  });
  Object.assign(window, { heard: [], opened: 0, answered: asked.status, run: asked.headers.get("X-Run-Id") });
  if (!asked.ok) return void (window.problem = await asked.json());
  await asked.body.cancel();
  window.source = new EventSource(`/v1/runs/${window.run}/events`);
  window.source.onopen = () => (window.opened += 1);
  window.source.onmessage = ({ data, lastEventId }) => {
    window.heard.push({ id: Number(lastEventId), ...JSON.parse(data) });
    if (window.heard.at(-1).type === "DONE") window.source.close();
  };
}"""
HEARD = "type => window.heard.some(event => event.type === type) ? window.heard : null"


@pytest.fixture
async def proxy(edge: str) -> AsyncIterator[tuple[CutProxy, str]]:
    made = CutProxy(edge)
    async with made.listening() as base:
        yield made, base


@pytest.fixture
async def page(chromium: Browser, proxy: tuple[CutProxy, str]) -> AsyncIterator[Page]:
    made = await chromium.new_page()
    await made.goto(proxy[1])
    yield made
    await made.close()


async def follow(page: Page, question: str) -> None:
    await page.evaluate(FOLLOW, question)


async def until(page: Page, kind: str = "DONE") -> list[dict[str, Any]]:
    """The events heard, once one of this kind is among them."""
    found = await page.wait_for_function(HEARD, arg=kind)
    heard: list[dict[str, Any]] = await found.json_value()
    return heard


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["type"] == "token")


async def test_ask(page: Page) -> None:
    await follow(page, "환불은 며칠")
    heard = await until(page)
    assert text_of(heard) == "환불은 며칠 [1]"
    assert [event["id"] for event in heard] == list(range(1, len(heard) + 1))


async def test_stream(page: Page, halves: Halves) -> None:
    await follow(page, "halves")
    assert text_of(await until(page, "token")) == "one"
    halves.go_on.set()
    assert text_of(await until(page)) == WORDS


async def test_cite(page: Page) -> None:
    await follow(page, "환불은 며칠")
    references = (await until(page))[-2]
    assert [(item["source_id"], item["title"]) for item in references["items"]] == [("refunds", "환불 규정")]


async def test_cancel(page: Page, halves: Halves) -> None:
    await follow(page, "halves")
    await until(page, "token")
    assert await page.evaluate("fetch(`/v1/runs/${window.run}/cancel`, { method: 'POST' }).then(told => told.ok)")
    error, done = (await until(page))[-2:]
    assert (error["type"], error["code"], done["type"]) == ("error", "cancelled", "DONE")


async def test_resume(page: Page, proxy: tuple[CutProxy, str], halves: Halves) -> None:
    """The source reconnects by itself, and reports its events."""
    await follow(page, "halves")
    await until(page, "token")
    proxy[0].cut()
    halves.go_on.set()
    heard = await until(page)
    assert text_of(heard) == WORDS
    assert [event["id"] for event in heard] == list(range(1, len(heard) + 1)), "nothing twice, nothing left out"
    assert await page.evaluate("window.opened") == 2


async def test_error(page: Page, pipeline: Pipeline) -> None:
    await follow(page, " ")
    assert await page.evaluate("window.answered") == 422
    assert "is empty" in await page.evaluate("window.problem.detail")

    pipeline.scripts["broken"] = KINDS["fail"]
    await follow(page, "broken")
    assert [event["type"] for event in await until(page)][-2:] == ["error", "DONE"]
