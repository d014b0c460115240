"""The page of a run in one file: a browser without a network shows the answer and every stage of it."""

import asyncio
from pathlib import Path

from playwright.async_api import Browser

from bus.wire.messages import QuestionAsked
from runtime.edge.page.offline import offline_page
from tests.made_runs import made, passage


async def test_offline_page_shows_answer_and_stages(chromium: Browser, tmp_path: Path) -> None:
    pages = (passage("refunds.md", "Refunds are paid within 14 days of the return.</script>", "en", 1),)
    trace = await made(QuestionAsked(question="How many days until refunds are paid?", language="en"), pages, "run1")
    path = tmp_path / "run.html"
    path.write_text(await asyncio.to_thread(offline_page, trace), encoding="utf-8")
    context = await chromium.new_context(offline=True, locale="en-GB")
    page = await context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(request.url))
    await page.goto(path.as_uri())
    await page.wait_for_selector("body[data-shown]")
    assert "14 days" in await page.inner_text(".answer")
    stages = page.locator(".waterfall > li")
    assert await stages.count() > 6
    await stages.nth(2).locator("summary").first.click()
    await page.wait_for_selector(".inside pre", state="attached")
    assert "refunds.md" in await page.inner_text(".references, .sources")
    assert problems == []
    await context.close()
