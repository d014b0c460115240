"""Pages of PDFs: drawn, with the cited words marked."""

import asyncio
import hashlib
import io
from collections import Counter
from pathlib import Path

import aiohttp
import msgspec
import pytest
from PIL import Image, ImageChops
from playwright.async_api import Browser
from pypdfium2 import PdfDocument
from reportlab.pdfgen.canvas import Canvas

from bus.powers.sources import WIDTH
from index.documents.pdf_view import Drawn, NotDrawn, Order, draw, drawn_in_child, matches
from index.source_paths import source_path
from runtime.processes import source_files
from tests.clients.axe import findings
from tests.runtime.sources.conftest import World
from tests.runtime.sources.documents import pdf
from tests.runtime.sources.test_page import Looked

CITED = "The helmet is replaced after four years."


async def place_of(http: aiohttp.ClientSession, words: str) -> tuple[int, int]:
    async with http.get("/v1/sources/handbook.pdf") as response:
        text = str((await response.json())["text"])
    return text.index(words), text.index(words) + len(words)


def boxes_of(data: bytes, page: int, words: str) -> tuple[float, float, float, float]:
    """The position of the words in the PDF's own text, from the upper left corner."""
    text = PdfDocument(data)[page - 1].get_textpage()
    at = text.search(words).get_next()
    assert at is not None
    boxes = [text.get_charbox(each) for each in range(at[0], at[0] + at[1])]
    height = PdfDocument(data)[page - 1].get_height()
    left, bottom, right, top = (
        pick(each) for pick, each in zip((min, min, max, max), zip(*boxes, strict=True), strict=True)
    )
    return left, height - top, right, height - bottom


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_marks_lie_on_the_drawn_words(turned: int) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 600))
    canvas.setPageRotation(turned)
    canvas.setFont("Helvetica-Bold", 24)
    canvas.setFillColorRGB(1, 0, 0)
    canvas.drawString(100, 350, "Helmets")
    canvas.setFillColorRGB(0, 0, 0)
    canvas.drawString(100, 200, "are worn in the foundry.")
    canvas.save()
    drawn = draw(buffer.getvalue(), Order(page=1, width=800, words="HELMETS"))
    (mark,) = drawn.marks
    picture = Image.open(io.BytesIO(drawn.picture)).convert("RGB")
    scale = picture.width / drawn.width
    bright, green, _ = picture.split()
    red = ImageChops.darker(bright.point(lambda v: 255 * (v > 150)), green.point(lambda v: 255 * (v < 90))).getbbox()
    assert red is not None
    left, top, right, bottom = (each / scale for each in red)
    assert mark[0] - 2 <= left <= right <= mark[2] + 2
    assert mark[1] - 2 <= top <= bottom <= mark[3] + 2
    assert (mark[2] - mark[0]) * (mark[3] - mark[1]) < 4 * (right - left) * (bottom - top)


def test_accents_drawn_apart_are_found() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 600))
    for x, text in ((100, "reuni"), (123.3, "\u00b4"), (123.3, "on del d\u00eda")):
        canvas.drawString(x, 350, text)
    canvas.save()
    marks = draw(buffer.getvalue(), Order(page=1, width=800, words="Reuni\u00f3n del d\u00eda")).marks
    assert min(mark.left for mark in marks) < 101
    assert max(mark.right for mark in marks) > 170


@pytest.mark.parametrize(
    ("page", "words", "expected"),
    [
        ("A hel-\nmet is worn. Other words stand here.", "A helmet is worn.", ["A hel-\nmet is worn"]),
        ("City Fee\nLyon 90 euros\nOslo 120 euros", "City: Oslo | Fee: 120 euros", ["City", "Oslo", "120 euros"]),
        ("the fee is 5. More is said, and again the fee is 5", "the fee is 5", ["the fee is 5"]),
        ("환불은 반품을 받은 날부터 14일 안에", "반품을 받은 날부터", ["반품을 받은 날부터"]),
        ("Nothing of that kind.", "A helmet is worn.", []),
        ("", "A helmet is worn.", []),
        ("Some words", " ,;", []),
    ],
)
def test_words_match_across_line_breaks(page: str, words: str, expected: list[str]) -> None:
    letters = "".join(c for c in page.casefold() if c.isalnum())
    found = [letters[each.start : each.stop] for each in matches(letters, words)]
    assert found == ["".join(c for c in each.casefold() if c.isalnum()) for each in expected]


def test_nearest_of_several_matches_is_used() -> None:
    letters = "thefee" + "x" * 100 + "thefee" + "y" * 50 + "thefee"
    assert [matches(letters, "the fee", near)[0].start for near in (0.0, 0.6, 1.0)] == [0, 106, 162]


@pytest.mark.parametrize(
    ("data", "order", "reason"),
    [
        (b"no pdf", Order(page=1, width=800), "the file is damaged"),
        (pdf()[:400], Order(page=1, width=800), "the file is damaged"),
        (pdf(), Order(page=4, width=800), "the document has no page 4"),
        (pdf(), Order(page=2, width=800, digest="0" * 64), "the file is damaged"),
        (pdf(), Order(page=2, width=800, memory_bytes=4 * 1024**2), "drawing it takes too much"),
    ],
)
def test_undrawable_page_ends_its_own_process(tmp_path: Path, data: bytes, order: Order, reason: str) -> None:
    if not order.digest:
        order = msgspec.structs.replace(order, digest=hashlib.sha256(data).hexdigest())
    (tmp_path / "file.pdf").write_bytes(data)
    with open(tmp_path / "file.pdf", "rb") as file, pytest.raises(NotDrawn, match=reason):
        drawn_in_child(file, order)


@pytest.mark.parametrize("size", [(14_000, 14_000), (600, 14_000), (14_000, 3), (3, 14_000)])
def test_a_huge_page_is_drawn_small(size: tuple[int, int]) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size)
    canvas.drawString(100, 500, "Small")
    canvas.save()
    drawn = draw(buffer.getvalue(), Order(page=1, width=3200, words="small"))
    assert Image.open(io.BytesIO(drawn.picture)).width <= 3200
    assert len(drawn.marks) == 1
    assert isinstance(drawn, Drawn)


async def test_fully_cited_page_is_drawn(http: aiohttp.ClientSession) -> None:
    async with http.get("/sources/full.pdf?start=0&end=199999&page=1") as response:
        assert response.status == 200
        assert "<svg" in await response.text()


async def test_pictures_over_http(http: aiohttp.ClientSession, locked: aiohttp.ClientSession, world: World) -> None:
    async with http.get("/v1/sources/handbook.pdf/pages/2") as response:
        assert (response.status, response.content_type) == (200, "image/webp")
        assert Image.open(io.BytesIO(await response.read())).width == WIDTH
        tag = response.headers["ETag"]
    async with http.get("/v1/sources/handbook.pdf/pages/2", headers={"If-None-Match": tag}) as response:
        assert response.status == 304
    for path, status in (
        ("handbook.pdf/pages/4", 404),
        ("handbook.pdf/pages/0", 404),
        ("handbook.pdf/pages/x", 404),
        ("guide.md/pages/1", 404),
        ("nothing.pdf/pages/1", 404),
        ("handbook.pdf/pages/1?width=9", 400),
        ("handbook.pdf/pages/1?width=99999", 400),
    ):
        async with http.get(f"/v1/sources/{path}") as response:
            assert response.status == status, path
    async with locked.get("/v1/sources/handbook.pdf/pages/1", headers=world.bearer("asker")) as response:
        assert response.status == 403


async def test_page_queue_is_bounded(http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_files, "WAITING", 2)

    async def status(width: int) -> int:
        async with http.get(f"/v1/sources/handbook.pdf/pages/1?width={width}") as response:
            return response.status

    found = Counter(await asyncio.gather(*(status(width) for width in range(200, 206))))
    assert found[200] >= 1
    assert found[503] >= 1
    assert set(found) == {200, 503}
    assert await status(200) == 200


@pytest.mark.parametrize(("width", "ui", "scheme"), [(1400, "en", "light"), (390, "ar", "dark")])
async def test_cited_words_are_highlighted(
    world: World, http: aiohttp.ClientSession, chromium: Browser, tmp_path: Path, width: int, ui: str, scheme: str
) -> None:
    start, end = await place_of(http, CITED)
    context = await chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, locale=ui)  # type: ignore[arg-type]
    looked = Looked(await context.new_page())
    await looked.page.goto(f"{world.open}{source_path('handbook.pdf', start, end)}", wait_until="networkidle")
    sheet = await looked.page.locator("figure svg").bounding_box()
    mark = await looked.page.locator("rect").bounding_box()
    assert sheet is not None
    assert mark is not None
    scale = sheet["width"] / 595.28
    left, top, right, bottom = boxes_of(pdf(), 2, CITED)
    assert mark["x"] - sheet["x"] <= left * scale + 1
    assert mark["x"] + mark["width"] - sheet["x"] >= right * scale - 2
    assert mark["y"] - sheet["y"] <= top * scale + 1
    assert mark["y"] + mark["height"] - sheet["y"] >= bottom * scale - 1
    assert mark["height"] < 2.2 * (bottom - top) * scale
    assert 0 <= mark["y"] < 800
    shown = await looked.page.evaluate("fetch(document.querySelector('image').href.baseVal).then(r => r.status)")
    assert shown == 200
    assert await looked.page.locator("mark").all_inner_texts() == [CITED]
    assert await looked.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await looked.page.screenshot(path=tmp_path / f"pdf-{ui}-{width}-{scheme}.png")
    assert await findings(looked.page) == []
    assert looked.complaints == []
    await looked.page.locator("nav a").last.click()
    await looked.page.wait_for_url("**page=3**")
    assert "closes at ten" in await looked.page.locator("article").inner_text()
    await context.close()


async def test_framed_picture_fits_without_a_title(
    world: World, http: aiohttp.ClientSession, chromium: Browser
) -> None:
    start, end = await place_of(http, CITED)
    context = await chromium.new_context(viewport={"width": 390, "height": 675})
    page = await context.new_page()
    await page.goto(f"{world.open}{source_path('handbook.pdf', start, end)}&framed=true", wait_until="networkidle")
    for number in (2, 3):
        await page.wait_for_url(f"**page={number}**" if number > 2 else "**framed=true")
        sheet = await page.locator("figure svg").bounding_box()
        assert sheet is not None
        assert (sheet["x"], sheet["width"]) == (0, 390)
        assert await page.locator("h1, .facts").count() == 0
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.locator("nav a").last.click()
    await context.close()
