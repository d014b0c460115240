"""The page of a source in a real browser: in Korean, Arabic, dark, wide and narrow, with nothing that a document wrote at work."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Browser, BrowserContext, Page

from index.source_paths import quoted, source_path
from tests.browser import browser, find_chromium
from tests.clients.installed import node_in
from tests.runtime.sources.conftest import World
from tests.runtime.sources.documents import LONG

#: The kept text of these documents.
GUIDE_CITED = "Oslo | Fee: 120"


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Browser]:
    path = await find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    async with browser(path) as running:
        yield running


@pytest.fixture(scope="module")
def axe() -> str:
    _, folder = node_in("axe")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


async def text_of(http: aiohttp.ClientSession, source_id: str, **query: str) -> str:
    async with http.get(f"/v1/sources/{quoted(source_id)}", params=query) as response:
        return str((await response.json())["text"])


class Looked:
    """A page that was opened; `complaints` are what the browser refused or could not do."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))

    async def findings(self, axe: str) -> list[str]:
        """What axe finds: rule and element."""
        await self.page.evaluate(axe)
        found = await self.page.evaluate("axe.run(document)")
        return [f"{rule['id']}: {node['html'][:200]}" for rule in found["violations"] for node in rule["nodes"]]


CASES = [
    ("guide.md", "en", 1400, "light"),
    ("guide.md", "es", 390, "dark"),
    ("a folder/환불 규정 #1?.md", "ko", 1400, "dark"),
    ("a folder/환불 규정 #1?.md", "ko", 390, "light"),
    ("الحضور.md", "ar", 1400, "light"),
    ("الحضور.md", "ar", 390, "dark"),
    ("gate.html", "zh", 390, "light"),
    ("long.txt", "fr", 1400, "light"),
]


@pytest.mark.parametrize(("source_id", "ui", "width", "scheme"), CASES)
async def test_it_is_readable_and_lit(
    world: World,
    http: aiohttp.ClientSession,
    chromium: Browser,
    axe: str,
    tmp_path: Path,
    source_id: str,
    ui: str,
    width: int,
    scheme: str,
) -> None:
    text = LONG if source_id == "long.txt" else await text_of(http, source_id)
    start = text.index(GUIDE_CITED) if source_id == "guide.md" else int(len(text) * 0.6)
    start = text.rindex("\n", 0, start) + 1 if source_id != "guide.md" else start
    end = start + 15
    context: BrowserContext = await chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, locale=ui, bypass_csp=False
    )
    looked = Looked(await context.new_page())
    response = await looked.page.goto(f"{world.open}{source_path(source_id, start, end)}")
    assert response is not None
    assert response.status == 200
    assert await looked.page.evaluate("document.documentElement.lang") == ui
    assert await looked.page.evaluate("document.documentElement.dir") == ("rtl" if ui == "ar" else "ltr")
    lit = "".join(await looked.page.locator("mark").all_inner_texts())
    assert "".join(lit.split()) == "".join(text[start:end].replace("Fee: ", "").replace("|", "").split())
    box = await looked.page.locator("#cited").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 800
    assert await looked.page.evaluate("document.activeElement.id") == "cited"
    assert await looked.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await looked.page.screenshot(path=tmp_path / f"{ui}-{width}-{scheme}.png")
    assert looked.complaints == []
    assert await looked.findings(axe) == []
    await context.close()
