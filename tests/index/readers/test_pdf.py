"""PDFs made here by reportlab, read as a person reads them."""

import io
import itertools
import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given as each
from hypothesis import settings
from hypothesis import strategies as st
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table

from index.model import Document
from index.readers.pdf_document import joined, words_of
from index.readers.pdf_grids import named
from index.readers.pdf_properties import iso_date, title_of
from index.readers.pdf_words import from_right
from tests.documents.written import assert_sliced
from tests.index.readers.office import blocks, given

STYLES = getSampleStyleSheet()
WORDS = re.findall(
    r"\w+",
    "the furnace is opened by foreman alone and whoever stands near it wears helmet gloves coat that does not burn moulds "
    "are dried overnight before metal poured into them since water left in sand turns to steam throws out",
)


def prose(number: int, words: int = 90) -> str:
    """A paragraph, always the same for a number and like no other."""
    return " ".join(["Paragraph", *random.Random(number).choices(WORDS, k=words)]) + "."


def drawn(*pages: Callable[[Canvas], None], **options: object) -> Document:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, **options)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return given(buffer.getvalue(), ".pdf")


def laid_out(story: list[object], columns: int = 1, furniture: Callable[[Canvas, int], None] | None = None) -> Document:
    buffer = io.BytesIO()
    width, height = A4
    inner = (width - 100 - 20 * (columns - 1)) / columns
    frames = [Frame(50 + at * (inner + 20), 70, inner, height - 140, 0, 0, 0, 0) for at in range(columns)]

    def on_page(canvas: Canvas, template: BaseDocTemplate) -> None:
        if furniture:
            furniture(canvas, template.page)

    template = BaseDocTemplate(buffer, pagesize=A4)
    template.addPageTemplates([PageTemplate(frames=frames, onPage=on_page)])
    template.build(story)
    return given(buffer.getvalue(), ".pdf")


def lines(
    canvas: Canvas, texts: list[str], x: float = 60, y: float = 780, size: float = 11, font: str = "Helvetica"
) -> None:
    canvas.setFont(font, size)
    for number, text in enumerate(texts):
        canvas.drawString(x, y - 1.2 * size * number, text)


def test_columns_are_read_in_turn() -> None:
    story: list[object] = [Paragraph("Foundry rules", STYLES["Title"])]
    story += [Paragraph(prose(number), STYLES["BodyText"]) for number in range(1, 9)]
    document = laid_out(story, columns=2)
    assert blocks(document) == [
        ("heading", "Foundry rules"),
        *(("prose", prose(number)) for number in range(1, 9)),
    ]
    assert document.title == "Foundry rules"


def test_title_over_columns_and_note_below() -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["The casting of bells in the north"], size=20, x=120)
        left = [f"Left line {number} about bells, metal and sand" for number in range(8)]
        right = [f"Right line {number} about towers and their rope" for number in range(8)]
        lines(canvas, left, y=700, size=10)
        lines(canvas, right, x=320, y=694, size=10)
        lines(canvas, ["Below both columns stands one long line that reaches over all of the page to its end."], y=560)

    text = drawn(page).text
    places = [
        text.index(part) for part in ("casting", "Left line 0", "Left line 7", "Right line 0", "Right line 7", "Below")
    ]
    assert places == sorted(places)


def test_paragraph_continues_over_columns_and_pages() -> None:
    document = laid_out([Paragraph(prose(0, 2000), STYLES["BodyText"])], columns=2)
    assert blocks(document) == [("prose", prose(0, 2000))]
    assert [number for _, number in document.pages] == [1, 2]
    second = document.pages[1][0]
    assert document.text[second - 1] == " "
    assert not document.text[second].isspace()


def test_repeated_page_text_is_left_out() -> None:
    def furniture(canvas: Canvas, page: int) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(60, 810, "Foundry handbook, edition 3")
        canvas.drawString(280, 30, f"Page {page} of 4")

    story: list[object] = [Paragraph(prose(number), STYLES["BodyText"]) for number in range(60)]
    document = laid_out(story, furniture=furniture)
    assert len(document.pages) >= 4
    assert "edition 3" not in document.text
    assert "Page 2" not in document.text
    assert blocks(document) == [("prose", prose(number)) for number in range(60)]


def test_headings_by_size_and_weight() -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["Handbook"], size=22)
        lines(canvas, ["Safety"], y=740, size=16)
        lines(canvas, ["A sentence of the prose below the heading."], y=715)
        lines(canvas, ["Gloves"], y=690, font="Helvetica-Bold")
        lines(canvas, ["Gloves are worn at the furnace by all."], y=670)

    document = drawn(page)
    found = [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        ("heading", 1, "Handbook"),
        ("heading", 2, "Safety"),
        ("prose", 0, "A sentence of the prose below the heading."),
        ("heading", 3, "Gloves"),
        ("prose", 0, "Gloves are worn at the furnace by all."),
    ]


def test_bookmarks_turn_their_lines_into_headings() -> None:
    def page(canvas: Canvas) -> None:
        canvas.bookmarkPage("one")
        canvas.addOutlineEntry("Before the work", "one", 0)
        canvas.bookmarkPage("two")
        canvas.addOutlineEntry("Gloves", "two", 1)
        lines(canvas, ["Before the work"])
        lines(canvas, ["Everyone signs the list."], y=750)
        lines(canvas, ["Gloves"], y=720)
        lines(canvas, ["They are worn."], y=690)

    document = drawn(page)
    assert [(block.kind, block.level) for block in document.blocks] == [
        ("heading", 1), ("prose", 0), ("heading", 2), ("prose", 0)
    ]  # fmt: skip


def test_list_items_with_their_depth() -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["Before the work, everyone:"])
        lines(canvas, ["\u2022 puts on a helmet and checks that its strap is whole and can be closed with one"], y=750)
        lines(canvas, ["hand,"], x=68, y=736)
        lines(canvas, ["\u2022 looks at the list:"], y=722)
        lines(canvas, ["1. of the day,", "2. of the week."], x=80, y=708)
        lines(canvas, ["\u2022 signs it."], y=680)

    document = drawn(page)
    found = [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        ("prose", 0, "Before the work, everyone:"),
        ("list_item", 1, "- puts on a helmet and checks that its strap is whole and can be closed with one hand,"),
        ("list_item", 1, "- looks at the list:"),
        ("list_item", 2, "1. of the day,"),
        ("list_item", 2, "2. of the week."),
        ("list_item", 1, "- signs it."),
    ]


TABLE = [["Course", "Length", "Fee"], ["Welding for beginners", "2 weeks", "320"], ["Casting", "1 week", "410"]]
ROWS = [
    ("table_header", "Course | Length | Fee"),
    ("table_row", "Course: Welding for beginners | Length: 2 weeks | Fee: 320"),
    ("table_row", "Course: Casting | Length: 1 week | Fee: 410"),
]


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([("Cover", "Limit"), ("Theft", "EUR 8,000"), ("Glass", "EUR 1,500")], ("Cover", "Limit")),
        ([("Theft", "EUR 8,000"), ("Glass", "EUR 1,500")], ()),
        ([("Cover", "Office"), ("Theft", "Palm Street"), ("Glass", "Elm Street")], ()),
    ],
)
def test_row_above_amounts_names_the_columns(rows: list[tuple[str, ...]], columns: tuple[str, ...]) -> None:
    assert named(rows, distinct=False).columns == columns


def test_ruled_table_with_a_two_line_cell() -> None:
    rows = [*TABLE, [Paragraph("Forging of large and very large parts", STYLES["BodyText"]), "3 weeks", ""]]
    story = [
        Paragraph("The fees are:", STYLES["BodyText"]),
        Table(rows, colWidths=[120, 70, 60], style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)]),
        Paragraph("Fees are paid before the course.", STYLES["BodyText"]),
    ]
    assert blocks(laid_out(story)) == [
        ("prose", "The fees are:"),
        *ROWS,
        ("table_row", "Course: Forging of large and very large parts | Length: 3 weeks"),
        ("prose", "Fees are paid before the course."),
    ]


GRID = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)


def test_merged_cells_repeat_in_rows_and_headers() -> None:
    rows = [
        ["Fees of the foundry", "", ""],
        ["Course", "Fee", ""],
        ["", "summer", "winter"],
        ["Casting", "410", "390"],
        ["", "420", "400"],
        ["In the old tower", "", ""],
        ["Forging", "500", "480"],
    ]
    spans = [((0, 0), (2, 0)), ((0, 1), (0, 2)), ((1, 1), (2, 1)), ((0, 3), (0, 4)), ((0, 5), (2, 5))]
    story = [
        Paragraph("The fees are:", STYLES["BodyText"]),
        Table(rows, colWidths=[120, 70, 60], style=[GRID, *(("SPAN", *span) for span in spans)]),
        Paragraph("Payment", STYLES["Heading2"]),
    ]
    assert blocks(laid_out(story)) == [
        ("prose", "The fees are:"),
        ("prose", "Fees of the foundry"),
        ("table_header", "Course | Fee summer | Fee winter"),
        ("table_row", "Course: Casting | Fee summer: 410 | Fee winter: 390"),
        ("table_row", "Course: Casting | Fee summer: 420 | Fee winter: 400"),
        ("table_row", "In the old tower"),
        ("table_row", "Course: Forging | Fee summer: 500 | Fee winter: 480"),
        ("heading", "Payment"),
    ]


@pytest.mark.parametrize("repeated", [0, 1])
def test_a_table_goes_on_over_pages(repeated: int) -> None:
    rows = [["Course", "Hall"], *([f"Course {number} of many", f"Hall {number}"] for number in range(60))]
    found = blocks(laid_out([Table(rows, colWidths=[160, 80], style=[GRID], repeatRows=repeated)]))
    assert found == [
        ("table_header", "Course | Hall"),
        *(("table_row", f"Course: Course {number} of many | Hall: Hall {number}") for number in range(60)),
    ]


def test_labels_and_values_have_no_header() -> None:
    rows = [["Sum", "38,000 euros"], ["Rate", "3.15 %"], ["Term", "60 months"]]
    found = blocks(laid_out([Table(rows, colWidths=[160, 80], style=[GRID])]))
    assert found == [("table_row", text) for text in ("Sum: 38,000 euros", "Rate: 3.15 %", "Term: 60 months")]


def test_line_with_a_label_begins_a_paragraph() -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["gate : 5520B", "key box : 0912", "nobody gives these codes to any of the guests"])

    assert drawn(page).text.startswith("gate : 5520B\n\nkey box : 0912")


def test_boxes_behind_text_are_no_table() -> None:
    def page(canvas: Canvas) -> None:
        for left in (50, 150, 250):
            for bottom in (700, 740):
                canvas.rect(left, bottom, 100, 40)
        lines(canvas, ["Everyone who works at the furnace wears", "gloves and a helmet."], y=760)
        lines(canvas, ["Sand is dried."], y=720)

    assert blocks(drawn(page)) == [
        ("prose", "Everyone who works at the furnace wears gloves and a helmet."),
        ("prose", "Sand is dried."),
    ]


def test_raised_numbers_are_notes_or_exponents() -> None:
    def page(canvas: Canvas) -> None:
        for number, (text, raised) in enumerate([("It was cast in the north.", "1"), ("Its mouth measures 3 m", "2")]):
            y = 780 - 30 * number
            lines(canvas, [text], y=y, size=10)
            canvas.setFont("Helvetica", 6)
            canvas.drawString(60 + canvas.stringWidth(text, "Helvetica", 10), y + 4, raised)

    assert drawn(page).text.split("\n\n") == ["It was cast in the north.[1]", "Its mouth measures 3 m²"]


def test_table_without_rules_by_its_columns() -> None:
    rows = [*TABLE, ["Forging", "3 weeks", "500"]]
    assert blocks(laid_out([Table(rows, colWidths=[160, 80, 60])])) == [
        *ROWS,
        ("table_row", "Course: Forging | Length: 3 weeks | Fee: 500"),
    ]


def test_two_parallel_lines_are_no_table() -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["Paris, 3 May", "Number 17"])
        lines(canvas, ["To the foundry", "Second gate"], x=350)

    assert all(kind == "prose" for kind, _ in blocks(drawn(page)))


def test_code_keeps_its_lines_and_indentation() -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["A sentence of prose about the code that follows it here:"] * 3)
        lines(canvas, ["def pour(metal):", "    return metal"], y=720, font="Courier")

    assert blocks(drawn(page))[-1] == ("code", "def pour(metal):\n    return metal")


def test_footnotes_follow_their_page() -> None:
    def page(canvas: Canvas) -> None:
        left = [
            "The bell was cast in 1523",
            *(f"and the line {number} goes on about its metal," for number in range(9)),
        ]
        lines(canvas, left, size=10)
        canvas.setFont("Helvetica", 6)
        canvas.drawString(60 + canvas.stringWidth(left[0], "Helvetica", 10), 784, "1")
        lines(canvas, ["1 In the old tower, of which nothing", "is left."], y=640, size=7)
        lines(canvas, [f"Right of it is told, in line {number}, of sand." for number in range(10)], x=320, size=10)

    document = drawn(page)
    found = blocks(document)
    assert found[-1] == ("prose", "[1] In the old tower, of which nothing is left.")
    assert "cast in 1523¹" in document.text


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        (
            ["Much is said by all in the sen-", "tence on the bells of the found-", "ry."],
            "in the sentence on the bells of the foundry.",
        ),
        (["see the pages 10-", "12 on bells."], "pages 10-12 on bells."),
        (["a long-", "term plan is a long-term one."], "a long-term plan is"),
        (["It was cast in the Franco-", "Prussian war."], "in the Franco-Prussian war."),
    ],
)
def test_divided_word_stays_in_its_place(broken: list[str], whole: str) -> None:
    text = drawn(lambda canvas: lines(canvas, broken)).text
    assert whole in text
    assert "\n" not in text


def test_divided_word_in_two_columns() -> None:
    def page(canvas: Canvas) -> None:
        for x in (60, 320):
            lines(
                canvas,
                ["Everyone wears gloves at the fur-", "nace and puts on a helmet of lea-", "ther there."] * 4,
                x=x,
            )

    assert (
        drawn(page).text.split()
        == ("Everyone wears gloves at the furnace and puts on a helmet of leather there. " * 8).split()
    )


def test_divided_word_goes_on_below_a_header() -> None:
    full = "Gloves are worn at the furnace by esta and all there,"
    firsts = [
        "and all who work there, and all who stand near it,",
        "blished by all who work there and who stand near it,",
    ]

    def page(canvas: Canvas) -> None:
        lines(canvas, ["Rules of the foundry"], y=820, size=8)
        first = firsts[canvas.getPageNumber() > 1]
        lines(canvas, [first, *[full] * 30, "and by the rules of the house, which they have all esta-"], y=700)

    assert drawn(page, page, page).text.count("they have all established by all") == 2


ACCENTS = "´`ˆ˜¨ˇ¸"
ACCENTED = [
    ("reuni´on del d´ıa", "reunión del día"),
    ("`a la fˆete no¨el", "à la fête noël"),
    ("a˜no Dvoˇr´ak fac¸ade", "año Dvořák façade"),
    ("el ´Organo de la", "el Órgano de la"),
]


@pytest.mark.parametrize(("text", "read_as"), ACCENTED)
@pytest.mark.parametrize("apart", [False, True])
def test_accents_join_the_letters_that_they_stand_over(text: str, read_as: str, apart: bool, boxes: str) -> None:
    """As old fonts of LaTeX have them. An accent with a place of its own stays as it is."""

    def page(canvas: Canvas) -> None:
        canvas.setFont(boxes, 12)
        x = 60.0
        for letter, after in itertools.pairwise(f"{text} "):
            overprinted = letter in ACCENTS and not apart
            raised = 3 * (overprinted and after.isupper())
            canvas.drawString(x - 6 * (overprinted and letter == "¸"), 700 + raised, letter)
            x += 0 if overprinted else 6

    assert drawn(page).text == (text if apart else read_as)


ARABIC = "\u0633\u0644\u0627\u0645 \u0639\u0644\u064a\u0643\u0645"
#: The same as it is drawn: the shapes of its letters, from the left.
SHAPES = "\ufee2\ufedc\ufef4\ufee0\ufecb \ufee1\ufefc\ufeb3"


def test_arabic_is_read_from_right_in_plain_letters(boxes: str) -> None:
    assert drawn(lambda canvas: lines(canvas, [SHAPES] * 3, font=boxes)).text.split() == ARABIC.split() * 3


@pytest.mark.parametrize(
    ("word", "lefts", "read"),
    [
        ("\u0629\u0643\u0631\u0634", (355.6, 359.2, 362.8, 367.4), "\u0634\u0631\u0643\u0629"),
        ("\u0634\u0631\u0643\u0629", (367.4, 362.8, 359.2, 355.6), "\u0634\u0631\u0643\u0629"),
        (")\u0644\u0645\u060c", (70.0, 51.0, 55.0, 40.0), "(\u0645\u0644\u060c"),
        ("\u0645", (5.0,), "\u0645"),
        ("a\u0645\u06442", (1.0, 2.0, 3.0, 4.0), "a\u0645\u06442"),
    ],
    ids=["from the left", "from the right", "with signs", "alone", "with a digit"],
)
def test_letters_of_a_word_are_read_from_the_right(word: str, lefts: tuple[float, ...], read: str) -> None:
    """The places of the first word are those in a PDF that Chromium printed."""
    assert from_right(word, lefts) == read


def test_arabic_cell_in_an_english_line(boxes: str) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, ["Heat stroke is treated in the shade"] * 3)
        lines(canvas, [SHAPES] * 3, x=260, font=boxes)

    assert drawn(page).text.count(ARABIC) == 3


def test_letters_beyond_the_first_plane(boxes: str) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pageCompression=0)
    lines(canvas, ["\u8aad\U0001f4de\u8aad"], font=boxes)
    canvas.save()
    # reportlab writes five digits, which PDF does not know.
    data = buffer.getvalue().replace(b"<1F4DE>", b"<D83DDCDE>")
    assert "\u8aad\U0001f4de\u8aad" in given(data, ".pdf").text


def test_arabic_columns_begin_at_the_right(boxes: str) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, [f"{SHAPES} " * 3] * 6, font=boxes)
        lines(canvas, [f"{SHAPES[:6]} " * 5] * 6, x=330, font=boxes)

    text = drawn(page).text
    assert ARABIC.split(maxsplit=1)[0] not in text[: len(text) // 3]


DOWNWARDS = [
    ["每年检查一次视力并且记录在档", "案里医生会根据情况调整镜片。"],
    ["환불은 구매일로부터 십사 일 이내에", "신청하실 수 있습니다."],
]


@pytest.fixture(scope="session")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A font with a box for every letter, of the tests below, made here."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from reportlab.pdfbase.ttfonts import TTFont

    letters = " .\u3002\u8aad\U0001f4de" + "".join(itertools.chain(*DOWNWARDS, *dict(ACCENTED)))
    codes = sorted({*map(ord, letters), *range(0x621, 0x64B), *range(0xFE80, 0xFEFD)})
    names = [".notdef", *(f"uni{code:04X}" for code in codes)]

    def glyph(bottom: int) -> object:
        pen = TTGlyphPen(None)
        for number, point in enumerate(((50, bottom), (450, bottom), (450, 600), (50, 600))):
            (pen.lineTo if number else pen.moveTo)(point)
        pen.closePath()
        return pen.glyph()

    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap(dict(zip(codes, names[1:], strict=True)))
    font.setupGlyf(
        {name: glyph(500 if chr(code) in ACCENTS else 0) for name, code in zip(names, [0, *codes], strict=True)}
    )
    font.setupHorizontalMetrics(dict.fromkeys(names, (500, 50)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Boxes", "styleName": "Regular", "psName": "Boxes"})
    font.setupOS2()
    font.setupPost()
    path = tmp_path_factory.mktemp("font") / "boxes.ttf"
    font.save(path)
    pdfmetrics.registerFont(TTFont("Boxes", str(path)))
    return "Boxes"


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_turned_page_is_read_upright(angle: int) -> None:
    texts = [
        "The furnace is opened by the foreman alone, and by nobody else",
        "who works in this house.",
        "Gloves are worn.",
    ]

    def page(canvas: Canvas) -> None:
        canvas.translate(300, 420)
        canvas.rotate(angle)
        canvas.translate(-200, -700)
        lines(canvas, texts)

    assert blocks(drawn(page)) == [("prose", f"{texts[0]} {texts[1]}"), ("prose", texts[2])]


@pytest.mark.parametrize("columns", DOWNWARDS)
def test_lines_that_run_downwards(columns: list[str], boxes: str) -> None:
    def page(canvas: Canvas) -> None:
        canvas.setFont(boxes, 12)
        for number, column in enumerate(columns):
            for at, letter in enumerate(column):
                canvas.drawString(500 - 20 * number, 700 - 13 * at, letter)

    glue = " " if " " in columns[0] else ""
    assert drawn(page).text == glue.join(columns)


def test_properties() -> None:
    def page(canvas: Canvas) -> None:
        canvas.setTitle("Microsoft Word - rules_v3.doc")
        canvas.setAuthor("Ada Stein")
        canvas.setKeywords("safety, bells")
        lines(canvas, ["Rules of the house"], size=20)
        lines(canvas, ["Gloves are worn at the furnace by everyone who works there."], y=740)

    document = drawn(page, lang="en-GB")
    assert document.title == "Rules of the house"
    assert document.language == "en"
    assert (document.metadata.author, document.metadata.tags) == ("Ada Stein", ("safety", "bells"))
    assert (document.metadata.date[:2], document.metadata.saved) == ("20", True)


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Foundry handbook", True),
        ("Rules 2.0", True),
        ("Microsoft Word - Rules", False),
        ("rules.docx", False),
        ("final_version_3", False),
        ("(anonymous)", False),
        ("untitled", False),
        ("2023", False),
    ],
)
def test_file_name_is_no_title(title: str, kept: bool) -> None:
    assert bool(title_of({"Title": title})) == kept


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("D:20230817105248-07'00'", "2023-08-17T10:52:48-07:00"),
        ("D:20230817105248Z", "2023-08-17T10:52:48Z"),
        ("D:20230817", "2023-08-17"),
        ("D:2023", "2023"),
        ("last May", ""),
    ],
)
def test_dates(written: str, iso: str) -> None:
    assert iso_date(written) == iso


@pytest.mark.parametrize(
    ("broken", "elsewhere", "whole"),
    [
        (["The regula-", "tion holds"], "", "The regulation holds"),
        (["The regula\u00ad", "tion holds"], "", "The regulation holds"),
        (["a long-", "term plan"], "the long-term view", "a long-term plan"),
        (["a long-", "term plan"], "how long a term is", "a long-term plan"),
        (["the infor-", "mation"], "information", "the information"),
        (["peut-", "être demain"], "il peut être là", "peut-être demain"),
        (["Les obliga-", "tions légales"], "", "Les obligations légales"),
        (["la informa-", "ción básica"], "", "la información básica"),
        (["the Franco-", "Prussian war"], "", "the Franco-Prussian war"),
        (["the CON-", "TENTS"], "", "the CONTENTS"),
        (["pages 10-", "12"], "", "pages 10-12"),
        (["a dash -", "so it goes"], "", "a dash - so it goes"),
        (["每年检查一次", "视力"], "", "每年检查一次视力"),
        (["환불은", "구매일로부터"], "", "환불은 구매일로부터"),
    ],
)
def test_divided_words(broken: list[str], elsewhere: str, whole: str) -> None:
    assert joined(broken, words_of([*broken, elsewhere])) == whole


WORD = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1, max_size=12)


@settings(max_examples=15)
@each(st.lists(st.lists(WORD, min_size=3, max_size=60), min_size=1, max_size=6), st.integers(1, 2))
def test_every_word_is_in_one_block(paragraphs: list[list[str]], columns: int) -> None:
    story = [Paragraph(" ".join(words) + ".", STYLES["BodyText"]) for words in paragraphs]
    document = laid_out(list(story), columns=columns)
    assert_sliced(document)
    letters = sorted("".join(word for words in paragraphs for word in words))
    assert sorted(filter(str.isalpha, document.text)) == letters
