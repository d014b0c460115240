"""Formats of the extra `formats`, and text in pictures, read where they are installed."""

import io
import sys
from importlib.util import find_spec

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from index.readers import Unreadable, by_suffix
from index.readers.pictures import lines_of
from tests.index.readers.office import blocks, given

RTF = rb"""{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}{\stylesheet{\s1\outlinelevel0 heading 1;}}
{\pard\s1\outlinelevel0 Fees\par}{\pard The \u233?l\u232?ve pays\super\chftn{\footnote\pard\chftn In cash.}\par}
\trowd\cellx1000\cellx2000 A\intbl\cell B\intbl\cell\row\trowd\cellx1000\cellx2000 1\intbl\cell 2\intbl\cell\row}"""
ORG = b"""* Fees
The fees are:
| A | B |
|---+---|
| 1 | 2 |
#+begin_src sh
ls
#+end_src
"""


@pytest.mark.skipif(find_spec("kreuzberg") is None, reason="the extra is not installed")
@pytest.mark.parametrize(
    ("suffix", "data", "prose", "last"),
    [
        (".rtf", RTF, "The élève pays[1]", ("prose", "[1] In cash.")),
        (".org", ORG, "The fees are:", ("code", "ls")),
    ],
)
def test_rich_text_and_org(suffix: str, data: bytes, prose: str, last: tuple[str, str]) -> None:
    table = [("table_header", "A | B"), ("table_row", "A: 1 | B: 2")]
    assert blocks(given(data, suffix)) == [("heading", "Fees"), ("prose", prose), *table, last]


@pytest.mark.parametrize(("suffix", "library"), [(".doc", "kreuzberg"), (".hwp", "rhwp"), (".hwpx", "rhwp")])
def test_rubbish_has_a_reason(suffix: str, library: str) -> None:
    if find_spec(library) is None:
        pytest.skip("the extra is not installed")
    for data in (b"rubbish", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000, b"PK\x03\x04" + b"\0" * 200):
        with pytest.raises(Unreadable):
            given(data, suffix)


@pytest.mark.parametrize("suffix", sorted(suffix for suffix, one in by_suffix().items() if one.extra == "formats"))
def test_missing_extra_is_named_with_the_remedy(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("kreuzberg", "rhwp"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Unreadable, match=r"install groundwire\[formats\] to read it") as caught:
        given(b"x", suffix)
    assert not caught.value.failed


LINES = (
    "The furnace is opened by the foreman alone, and",
    "whoever stands near it wears a helmet and gloves.",
    "Moulds are dried overnight.",
)


@pytest.fixture(scope="module")
def page() -> Image.Image:
    image = Image.new("RGB", (1000, 480), "white")
    draw = ImageDraw.Draw(image)
    draw.text((80, 60), "Rules of the house", font=ImageFont.load_default(64), fill="black")
    for number, line in enumerate(LINES):
        draw.text((80, 200 + 46 * number + 60 * (number // 2)), line, font=ImageFont.load_default(34), fill="black")
    return image


def test_a_picture_of_a_page(page: Image.Image) -> None:
    buffer = io.BytesIO()
    page.save(buffer, "PNG")
    document = given(buffer.getvalue(), ".png")
    assert document.metadata.recognized
    assert document.title == "Rules of the house"
    lines = [("prose", f"{LINES[0]} {LINES[1]}"), ("prose", LINES[2])]
    assert blocks(document) == [("heading", "Rules of the house"), *lines]


def test_a_scanned_page_of_a_pdf(page: Image.Image) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.drawString(60, 700, "A page of text.")
    canvas.showPage()
    canvas.drawImage(ImageReader(page.crop((0, 0, 1000, 180))), 40, 500, 500, 90)
    canvas.save()
    document = given(buffer.getvalue(), ".pdf")
    assert document.metadata.recognized
    assert document.text[document.pages[1][0] :].startswith("Rules of the house")


def test_invalid_picture_has_a_reason() -> None:
    with pytest.raises(Unreadable, match="no readable picture"):
        given(b"not a picture", ".png")


def test_tesseract_table_is_read_line_by_line() -> None:
    rows = [
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
        "4\t1\t1\t1\t1\t0\t100\t50\t300\t40\t-1\t",
        "5\t1\t1\t1\t1\t1\t100\t50\t140\t40\t96.1\tThe",
        "5\t1\t1\t1\t1\t2\t260\t52\t140\t38\t95.0\tfurnace",
        "5\t1\t1\t1\t1\t3\t420\t52\t9\t38\t12.0\t~",
        "5\t1\t1\t1\t2\t1\t100\t100\t140\t40\t91\tburns.",
    ]
    assert [run.text for run in lines_of("\n".join(rows))] == ["The furnace", "burns."]
