"""XLSX, ODS and XLS: what a person sees of a sheet, its tables and their headers."""

import datetime as dt
import io
import time
import zipfile
from typing import Any

import pytest

from index.model import Metadata
from index.readers import Unreadable, grid
from index.readers.grid import Grid, shown
from index.readers.tabular import head
from tests.index import files
from tests.index.readers.office import blocks, given, sheet


def test_titles_two_header_rows_and_merged_cells() -> None:
    def merge(page: Any) -> None:
        for cells in ("A1:D1", "A3:A4", "B3:C3", "D3:D4", "A5:A6", "A7:D7"):
            page.merge_cells(cells)

    document = sheet(
        [
            ["Fees of the school"],
            ["in euros"],
            ["Course", "Fee", None, "Room"],
            [None, "day", "evening", None],
            ["Welding", 320, 300, "A1"],
            [None, 330, None, "A2"],
            ["Closed in summer"],
            ["Casting", 410, 400, "B1"],
            ["All fees without tax."],
        ],
        merge,
        name="Fees 2024",
    )
    assert blocks(document) == [
        ("heading", "Fees 2024"),
        ("prose", "Fees of the school"),
        ("prose", "in euros"),
        ("table_header", "Course | Fee day | Fee evening | Room"),
        ("table_row", "Course: Welding | Fee day: 320 | Fee evening: 300 | Room: A1"),
        ("table_row", "Course: Welding | Fee day: 330 | Room: A2"),
        ("prose", "Closed in summer"),
        ("table_row", "Course: Casting | Fee day: 410 | Fee evening: 400 | Room: B1"),
        ("prose", "All fees without tax."),
    ]
    assert document.blocks[4].anchor == "'Fees 2024'!A5:D5"


def test_several_tables_in_a_sheet() -> None:
    rows: list[list[object]] = [
        ["Name", "Age", None, "Town", "Post code"],
        ["Ann", 31, None, "Lyon", 69001],
        ["Bo", 44, None, "Nice", 6000],
        [],
        ["Cleo", 27, None, "Metz", 57000],
        [],
        [],
        ["Year", "Sum"],
        [2023, 7],
    ]
    document = sheet(rows)
    assert [text for _, text in blocks(document)] == [
        "Fees", "Name | Age", "Name: Ann | Age: 31", "Name: Bo | Age: 44", "Town | Post code", "Town: Lyon | Post code: 69001",
        "Town: Nice | Post code: 6000", "Cleo | 27", "Metz | 57000", "Year | Sum", "Year: 2023 | Sum: 7",
    ]  # fmt: skip


def test_table_continues_after_an_empty_row() -> None:
    rows: list[list[object]] = [
        ["Name", "Age"],
        ["Ann", 31],
        [],
        ["Bo", 44],
        ["Cy", 20],
        [],
        ["Town", "Code"],
        ["Lyon", 69],
    ]
    assert [text for kind, text in blocks(sheet(rows))][2:] == [
        "Name: Ann | Age: 31",
        "Name: Bo | Age: 44",
        "Name: Cy | Age: 20",
        "Town | Code",
        "Town: Lyon | Code: 69",
    ]


def test_hidden_cells_are_left_out_but_filtered_kept() -> None:
    rows: list[list[object]] = [["Name", "Age", "Pay"], ["Ann", 31, 1], ["Bo", 44, 2], ["Cy", 20, 3]]

    def hide(page: Any) -> None:
        page.row_dimensions[3].hidden = True
        page.row_dimensions[4].hidden = True
        page.row_dimensions[4].outlineLevel = 1
        page.column_dimensions["C"].hidden = True
        other = page.parent.create_sheet("Secret")
        other.append(["not", "seen"])
        other.sheet_state = "hidden"

    def filtered(page: Any) -> None:
        hide(page)
        page.auto_filter.ref = "A1:C4"
        page.auto_filter.add_filter_column(0, ["Ann"])

    assert sheet(rows, hide).text == "Fees\n\nName | Age\nName: Ann | Age: 31\nName: Cy | Age: 20"
    assert "Name: Bo | Age: 44" in sheet(rows, filtered).text


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (320, "General", "320"),
        (320.0, "General", "320"),
        (0.1 + 0.2, "General", "0.3"),
        (1e21, "General", "1e+21"),
        (0.055, "0.0%", "5.5%"),
        (0.5, "0%", "50%"),
        (2.5, "0.00", "2.50"),
        (1234.5, "#,##0.00", "1234.50"),
        (-3, "0.0;[Red]-0.0", "-3.0"),
        (90, '#,##0.00 "€"', "90.00 €"),
        (90, "[$$-409]#,##0", "$90"),
        (1051, "00000", "01051"),
        (0.25, "# ?/?", "0.25"),
        (True, "General", "TRUE"),
        (None, "General", ""),
        (" a ", "@", "a"),
        (dt.datetime(2024, 5, 1), "yyyy", "2024-05-01"),
        (dt.datetime(2024, 5, 1, 9, 30), "yyyy", "2024-05-01 09:30"),
        (dt.time(9, 30), "hh:mm", "09:30"),
    ],
)
def test_a_value_as_it_is_shown(value: object, number_format: str, text: str) -> None:
    assert shown(value, number_format) == text


def test_dates_and_formulas_have_their_results() -> None:
    def change(page: Any) -> None:
        page["B2"].number_format = "0.0%"

    document = sheet([["Day", "Share"], [dt.date(2024, 5, 1), 0.125]], change)
    assert blocks(document)[-1] == ("table_row", "Day: 2024-05-01 | Share: 12.5%")


@pytest.mark.parametrize(
    ("rows", "titles", "names"),
    [
        ([["a", "b"], ["x", "1"], ["y", "2"]], (), ("a", "b")),
        ([["x", "1"], ["y", "2"]], (), ()),
        ([["town", "code"], ["Lyon", "Rhône"], ["Nice", "Var"]], (), ("town", "code")),
        ([["fruit", "apple"], ["fruit", "pear"], ["root", "beet"]], (), ()),
        ([["Region", "2023", "2024"], ["North", "10", "12"]], (), ("Region", "2023", "2024")),
        ([["", "Mon", "Tue"], ["9:00", "in", "out"], ["10:00", "out", "in"]], (), ("", "Mon", "Tue")),
        ([["Report", ""], ["", ""], ["a", "b"], ["x", "1"]], ("Report",), ("a", "b")),
        ([["", "2023"], ["North", "10"]], (), ("", "2023")),
        ([["", "", "Report"], ["a", "b", "c"], ["x", "y", "1"]], ("Report",), ("a", "b", "c")),
        ([["Name:", "Kim"], ["Town:", "Lyon"]], (), ()),
        ([["one"], ["two"]], (), ("one",)),
        ([["only", "row"]], (), ()),
        ([], (), ()),
    ],
)
def test_header_is_detected(rows: list[list[str]], titles: tuple[str, ...], names: tuple[str, ...]) -> None:
    found = head(rows)
    assert (found.titles, found.names) == (titles, names)


def test_distant_cell_among_a_million_declared_rows() -> None:
    document = sheet([["near"]], lambda page: page.cell(1048576, 16384, "far"))
    assert blocks(document) == [("heading", "Fees"), ("prose", "near"), ("prose", "far")]
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(files.sheet())) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            assert name != "xl/worksheets/sheet1.xml" or b'<dimension ref="A1:B3"/>' in content
            copy.writestr(name, content.replace(b'ref="A1:B3"/>', b'ref="A1:XFD1048576"/>'))
    began = time.monotonic()
    assert len(given(changed.getvalue(), ".xlsx").blocks) == 4
    assert time.monotonic() - began < 2


def test_sheet_with_too_many_cells_is_refused() -> None:
    small = Grid(3)
    small.put(1, 1, "a")
    small.put(1, 2, " ")
    small.put(2, 1, "b")
    small.put(3, 1, "c")
    with pytest.raises(Unreadable, match=f"more than {grid.MAX_CELLS:,} filled cells"):
        small.put(4, 1, "d")


ODS = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0">
<office:automatic-styles><style:style style:name="h"><style:table-properties table:display="false"/></style:style>
</office:automatic-styles><office:body><office:spreadsheet>
<table:table table:name="Fees"><table:table-column table:number-columns-repeated="16384"/>
<table:table-row>{course}<table:table-cell table:number-columns-spanned="2"><text:p>Fee</text:p></table:table-cell>
<table:covered-table-cell/></table:table-row>
<table:table-row><table:covered-table-cell/><table:table-cell><text:p>day</text:p></table:table-cell>
<table:table-cell><text:p>evening</text:p></table:table-cell></table:table-row>
<table:table-row table:visibility="collapse"><table:table-cell><text:p>hidden</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>Welding</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="2" office:value-type="percentage" office:value="0.05">
<office:annotation><text:p>no</text:p></office:annotation><text:p>5 %</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
<table:table-row><table:table-cell office:value-type="date" office:date-value="2024-05-01T00:00:00"><text:p>1 mai</text:p>
</table:table-cell></table:table-row></table:table>
<table:table table:name="Secret" table:style-name="h"><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>
</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>""".replace(
    "{course}", '<table:table-cell table:number-rows-spanned="2"><text:p>Course</text:p></table:table-cell>'
)
META = """<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"><office:meta>
<dc:title>All fees</dc:title><dc:creator>A. Kim</dc:creator><dc:date>2024-05-01T09:30:00</dc:date><dc:language>fr-FR
</dc:language><meta:keyword>pay</meta:keyword><meta:keyword>travel</meta:keyword></office:meta></office:document-meta>"""


def test_an_open_document_sheet() -> None:
    document = given(files.zipped({"content.xml": ODS, "meta.xml": META}), ".ods")
    assert (document.title, document.language) == ("All fees", "fr")
    assert document.metadata == Metadata(
        author="A. Kim", date="2024-05-01T09:30:00", tags=("pay", "travel"), saved=True
    )
    assert blocks(document) == [
        ("heading", "Fees"),
        ("table_header", "Course | Fee day | Fee evening"),
        ("table_row", "Course: Welding | Fee day: 5 % | Fee evening: 5 %"),
        ("table_row", "Course: Welding | Fee day: 5 % | Fee evening: 5 %"),
        ("prose", "2024-05-01"),
    ]
    assert document.blocks[-1].anchor == "Fees!A1048006"


def test_old_and_invalid_workbooks() -> None:
    document = given(files.sheet(), ".xls")  # calamine looks at the content, not at the name
    assert blocks(document)[-1] == ("table_row", "Course: Casting | Fee: 410.5")
    assert document.blocks[-1].anchor == "Fees!A3:B3"
    with pytest.raises(Unreadable, match="no readable XLS or XLSB"):
        given(b"\xd0\xcf\x11\xe0" + b"\0" * 600, ".xls")
