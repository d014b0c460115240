"""PPTX: a slide is a page, with its texts in reading order."""

from typing import Any

from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from index.text.passages import cut
from tests.index import files
from tests.index.readers.office import blocks, given, slides

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def test_slides_are_pages() -> None:
    document = given(files.slides(), ".pptx")
    assert [number for _, number in document.pages] == [1, 2]
    assert ("heading", "Closing") in blocks(document)
    assert cut(document, 0)[-1].text.endswith("The gate closes at ten.")


def box(slide: Any, left: float, top: float, *texts: str) -> Any:
    shape = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5))
    shape.text_frame.text = "\n".join(texts)
    return shape


def test_bullets_have_levels_and_text_boxes_none() -> None:
    def fill(slide: Any) -> None:
        slide.shapes.title.text = "Opening\vhours"
        frame = slide.placeholders[1].text_frame
        frame.text = "Days"
        for text, level in (("Monday", 1), ("Tuesday", 1), ("Nights", 0)):
            paragraph = frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
        plain = frame.add_paragraph()
        plain.text = "No bullet here."
        etree.SubElement(plain._p.get_or_add_pPr(), f"{A}buNone")
        box(slide, 1, 6.5, "A note below.", "Another.")

    document = slides(fill)
    assert [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks] == [
        ("heading", 1, "Opening hours"),
        ("list_item", 1, "- Days"),
        ("list_item", 2, "- Monday"),
        ("list_item", 2, "- Tuesday"),
        ("list_item", 1, "- Nights"),
        ("prose", 0, "No bullet here."),
        ("prose", 0, "A note below."),
        ("prose", 0, "Another."),
    ]
    assert document.title == "Opening hours"


def test_numbered_paragraphs() -> None:
    def fill(slide: Any) -> None:
        shape = box(slide, 1, 1, "one", "two", "three")
        for paragraph, form in zip(
            shape.text_frame.paragraphs, ("arabicPeriod",) * 2 + ("alphaUcParenR",), strict=True
        ):
            properties = paragraph._p.get_or_add_pPr()
            etree.SubElement(properties, f"{A}buAutoNum", type=form)

    assert slides(fill, layout=6).text == "1. one\n2. two\nC) three"


def test_shapes_are_read_in_reading_order() -> None:
    def fill(slide: Any) -> None:
        box(slide, 5, 3, "fourth")
        box(slide, 5, 1.1, "second")
        group = slide.shapes.add_group_shape()
        for left, text in ((3, "grouped right"), (1, "grouped left")):
            shape = group.shapes.add_textbox(Inches(left), Inches(3), Inches(1), Inches(0.4))
            shape.text_frame.text = text
        box(slide, 1, 1, "first")

    assert slides(fill, layout=6).text.split("\n\n") == ["first", "second", "grouped left", "grouped right", "fourth"]


def sales(slide: Any) -> Any:
    """A chart of two years in two regions."""
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("2023", (3, 4.5))
    data.add_series("2024", (5, None))
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    chart = slide.shapes.add_chart(kind, Inches(1), Inches(3), Inches(4), Inches(3), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Sales by region"
    return chart


def test_tables_charts_and_notes() -> None:
    def fill(slide: Any) -> None:
        grid = slide.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(6), Inches(1)).table
        for row, cells in enumerate((("Course", "Fee", "Room"), ("Welding", "320", "A1"), ("Casting", "", "B1"))):
            for column, text in enumerate(cells):
                grid.cell(row, column).text = text
        grid.cell(1, 1).merge(grid.cell(2, 1))
        sales(slide)
        slide.notes_slide.notes_text_frame.text = "Say why the south grew."

    assert blocks(slides(fill, layout=6)) == [
        ("table_header", "Course | Fee | Room"),
        ("table_row", "Course: Welding | Fee: 320 | Room: A1"),
        ("table_row", "Course: Casting | Fee: 320 | Room: B1"),
        ("prose", "Sales by region"),
        ("table_header", "2023 | 2024"),
        ("table_row", "North | 2023: 3 | 2024: 5"),
        ("table_row", "South | 2023: 4.5"),
        ("prose", "Say why the south grew."),
    ]


def test_unknown_chart_keeps_its_title() -> None:
    def fill(slide: Any) -> None:
        slide.shapes.title.text = "Sales"
        for bars in sales(slide)._chartSpace.iter("{http://schemas.openxmlformats.org/drawingml/2006/chart}barChart"):
            bars.tag = bars.tag.replace("barChart", "bar3DChart")

    assert blocks(slides(fill, layout=5)) == [("heading", "Sales"), ("prose", "Sales by region")]


def test_monospaced_text_is_code() -> None:
    def fill(slide: Any) -> None:
        shape = box(slide, 1, 1, "Run it:", "for x in y:", "    go()", "Done.")
        for paragraph in shape.text_frame.paragraphs[1:3]:
            paragraph.runs[0].font.name = "Consolas"

    found = blocks(slides(fill, layout=6))
    assert found == [("prose", "Run it:"), ("code", "for x in y:\n    go()"), ("prose", "Done.")]
