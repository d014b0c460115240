"""The pictures of the page in docs/, taken from a new stack over the demo documents, before any question.

uv run groundwire index build runtime/demo/documents --index demo.index
uv run groundwire up --index demo.index --port 8080
uv run python -m tests.page_pictures http://127.0.0.1:8080      # writes them
"""

import asyncio
import io
import sys
from pathlib import Path

from PIL import Image
from playwright.async_api import Page, expect

from tests.browser import browser, find_chromium

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, HEIGHT = 1400, 860
COLOURS = 96
PHONE = {"width": 390, "height": 780}
BEFORE = ("얼마 이상 주문하면 배송비가 무료인가요?", "散瞳验光后多久不能开车？", "¿Cuánto cuesta un crédito de máster?")
TEXT = ("How late may coursework be handed in?", "What is the pass mark for graduate modules?")
PDF = "When are tuition fees due?"
UNSURE = "Who may park a bicycle in the library hall?"
ARABIC = "متى يُحرم الطالب من الامتحان النهائي؟"


async def take(url: str) -> None:
    chromium = await find_chromium()
    if chromium is None:
        raise SystemExit("no Chromium was found; install one")
    async with browser(chromium) as running:
        context = await running.new_context(
            viewport={"width": WIDTH, "height": HEIGHT}, locale="en-GB", color_scheme="light"
        )
        page = await context.new_page()
        for question in BEFORE:
            await page.goto(url)
            await ask(page, question)
        await page.goto(url)
        await ask(page, PDF)
        await page.get_by_role("button", name="Show source 1").first.click()
        await expect(page.frame_locator("#panel iframe").locator("svg")).to_be_visible()
        await page.wait_for_load_state("networkidle")
        await keep(page, "page-source")
        await page.goto(url)
        for question in TEXT:
            await ask(page, question)
        await page.locator(".turn").first.get_by_role("button", name="Show source 1").first.click()
        await expect(page.locator("#panel mark").first).to_be_visible()
        await keep(page, "page")
        await page.get_by_role("link", name="How this was answered").first.click()
        await page.locator("#run summary").filter(has_text="Write the answer").click()
        await page.wait_for_load_state("networkidle")
        await keep(page, "page-run")
        await page.goto(url)
        await ask(page, UNSURE)
        await keep(page, "page-closest")
        await page.get_by_role("link", name="Documents", exact=True).click()
        await page.get_by_text("Questions without an answer").click()
        await page.wait_for_load_state("networkidle")
        await keep(page, "page-documents")
        phone = await running.new_context(viewport=PHONE, locale="ar", color_scheme="dark", device_scale_factor=2)
        page = await phone.new_page()
        await page.goto(url)
        await page.fill("#question", ARABIC)
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn .verdict .badge")).to_be_visible()
        await page.wait_for_load_state("networkidle")
        await keep(page, "page-phone")


async def ask(page: Page, question: str) -> None:
    await page.fill("#question", question)
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn").last.locator(".verdict .badge")).to_be_visible()
    await expect(page.locator("#status")).to_have_text("Done.")


async def keep(page: Page, name: str) -> None:
    """Write the picture with few colours, so that it is small."""
    picture = Image.open(io.BytesIO(await page.screenshot()))
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(DOCS / f"{name}.png", optimize=True)


if __name__ == "__main__":
    asyncio.run(take(sys.argv[1].rstrip("/")))
