"""The page of a source in a real browser: in Korean, Arabic, dark, wide and narrow, with nothing that a document wrote at work."""

import re
from html import unescape
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect
from yarl import URL

from index.languages import LANGUAGES, of
from index.source_paths import quoted, source_path
from tests.clients.axe import findings
from tests.runtime.sources.conftest import World
from tests.runtime.sources.documents import LONG

#: The kept text of these documents.
GUIDE_CITED = "Oslo | Fee: 120"


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


CASES = [
    ("guide.md", "es", 390, "dark"),
    ("a folder/환불 규정 #1?.md", "ko", 1400, "dark"),
    ("الحضور.md", "ar", 390, "dark"),
    ("gate.html", "zh", 390, "light"),
    ("long.txt", "fr", 1400, "light"),
]


@pytest.mark.parametrize(("source_id", "ui", "width", "scheme"), CASES)
async def test_it_is_readable_and_lit(
    world: World,
    http: aiohttp.ClientSession,
    chromium: Browser,
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
    await expect(
        looked.page.locator("#cited")
    ).to_be_in_viewport()  # a browser scrolls to it after it has loaded the page
    await expect(looked.page.locator("#cited")).to_be_focused()
    assert await looked.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await looked.page.screenshot(path=tmp_path / f"{ui}-{width}-{scheme}.png")
    assert looked.complaints == []
    assert await findings(looked.page) == []
    await context.close()


async def test_page_asks_for_a_required_key(world: World, chromium: Browser) -> None:
    context = await chromium.new_context(viewport={"width": 390, "height": 800}, locale="ko")
    looked = Looked(await context.new_page())
    response = await looked.page.goto(f"{world.locked}{source_path('secret/board.md', 2, 8)}")
    assert response is not None
    assert response.status == 401
    assert "Zanzibar" not in await response.text()
    await looked.page.locator("#key").fill("gw_wrong")
    await looked.page.locator("button").click()
    await looked.page.locator("#refused").wait_for(state="visible")
    assert await findings(looked.page) == []
    await looked.page.locator("#key").fill(world.tokens["ann"])
    await looked.page.locator("button").click()
    await looked.page.locator("#cited").wait_for()
    assert "ticket=" in looked.page.url
    assert "Zanzibar" in await looked.page.locator("article").inner_text()
    # The key stays in this tab, so that the next source opens by itself; the words of a PDF's picture come with the ticket too.
    await looked.page.goto(f"{world.locked}{source_path('handbook.pdf', 0, 5)}", wait_until="networkidle")
    await looked.page.locator("figure").wait_for()
    assert await looked.page.evaluate("fetch(document.querySelector('image').href.baseVal).then(r => r.status)") == 200
    await looked.page.locator("nav a").last.click()
    await looked.page.wait_for_url("**page=2**")
    assert await looked.page.locator("figure").count() == 1
    original = await looked.page.locator("p.facts a").get_attribute("href")
    async with aiohttp.ClientSession() as nobody, nobody.get(f"{world.locked}{original}") as file:
        assert (file.status, file.content_type) == (200, "application/pdf")
    assert [said for said in looked.complaints if "401" not in said] == []
    await context.close()


async def test_page_shows_only_permitted_documents(locked: aiohttp.ClientSession, world: World) -> None:
    for name, status in (("ann", 200), ("bob", 404), ("asker", 403), ("", 401)):
        async with locked.get("/sources/secret/board.md", headers=world.bearer(name)) as response:
            told = await response.text()
            assert response.status == status
            assert response.content_type == "text/html"
            assert ("Zanzibar" in told) == (status == 200)
            assert "unsafe" not in response.headers["Content-Security-Policy"]
    async with locked.get("/sources/secret/nothing.md", headers=world.bearer("bob")) as response:
        nothing = await response.text()
    async with locked.get("/sources/secret/board.md", headers=world.bearer("bob")) as response:
        assert await response.text() == nothing


@pytest.mark.parametrize(
    "path",
    [
        "<script>alert(1)</script>.md",
        "../../etc/passwd",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "a%00b",
        "%0d%0aX-Evil:1",
        "a" * 4001,
    ],
)
async def test_a_path_that_attacks_finds_nothing(world: World, path: str) -> None:
    url = URL(f"{world.open}/sources/{path}", encoded=True)
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        assert response.status == 404
        assert "X-Evil" not in response.headers
        assert "<script>" not in await response.text()


@pytest.mark.parametrize("ui", LANGUAGES)
async def test_it_speaks_the_reader_s_language(http: aiohttp.ClientSession, ui: str) -> None:
    words = of(ui).source
    for headers, query in (
        ({"Accept-Language": f"xx, {ui}-XX;q=0.9, en;q=0.1"}, ""),
        ({"Accept-Language": "en"}, f"?ui={ui}"),
    ):
        async with http.get(f"/sources/handbook.pdf{query}", headers=headers) as response:
            told = await response.text()
        assert f'<html lang="{ui}"' in told
        assert words.next_page in unescape(told)
        assert words.page.format(page=1, pages=3) in unescape(told)


async def test_a_long_document_is_walked_through(http: aiohttp.ClientSession) -> None:
    path: str | None = "/sources/long.txt"
    seen: list[int] = []
    windows = 0
    while path:
        async with http.get(URL(path, encoded=True)) as response:
            told = await response.text()
        assert len(told) < 60_000
        seen += [int(n) for n in re.findall(r"<p dir=\"auto\">Paragraph (\d+)\.", told)]
        later = re.search(r'<a href="([^"]*)">Later text</a>', told)
        path = unescape(later[1]) if later else None
        windows += 1
    assert seen == list(range(4000))
    assert windows > 10
