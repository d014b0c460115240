"""DOCX: each thing that Word shows, as the block that it is."""

import datetime as dt

import docx
import openpyxl
import pptx
import pytest

from index.model import Metadata
from tests.index.files import saved
from tests.index.readers.office import blocks, given, item, p, table, tc, tr, word


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx"])
def test_properties(suffix: str) -> None:
    """Of the three formats, whose libraries give them in the same form."""
    made = {".docx": docx.Document, ".pptx": pptx.Presentation, ".xlsx": openpyxl.Workbook}[suffix]()
    if suffix == ".docx":
        made.add_paragraph("Text.")
    elif suffix == ".pptx":
        made.slides.add_slide(made.slide_layouts[0]).shapes.title.text = "Text."
    else:
        made.active.append(["Text."])
    core = made.properties if suffix == ".xlsx" else made.core_properties
    core.title, core.keywords, core.version, core.language = "Rules", "pay; travel, pay", "2.1", "fr-CA"
    core.author = core.creator = "A. Kim"
    core.modified = dt.datetime(2024, 5, 1, 9, 30, tzinfo=dt.UTC)
    document = given(saved(made), suffix)
    assert (document.title, document.language) == ("Rules", "fr")
    date = document.metadata.date
    assert suffix == ".xlsx" or date == "2024-05-01T09:30:00+00:00"  # openpyxl writes when it saves
    assert document.metadata == Metadata(author="A. Kim", date=date, version="2.1", tags=("pay", "travel"), saved=True)


def test_template_of_the_library_is_no_author() -> None:
    made = docx.Document()
    made.add_paragraph("Text.")
    assert given(saved(made), ".docx").metadata == Metadata()


def level(at: int, form: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'
    )


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="90">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%2)")}'
    f"{level(2, 'bullet', '•')}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="91">{level(0, "upperRoman", "Part %1")}{level(1, "decimal", "%1.%2")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="92">{level(0, "bullet", " ")}</w:abstractNum>'
    '<w:num w:numId="90"><w:abstractNumId w:val="90"/></w:num>'
    '<w:num w:numId="91"><w:abstractNumId w:val="91"/></w:num>'
    '<w:num w:numId="92"><w:abstractNumId w:val="92"/></w:num>'
    '<w:num w:numId="93"><w:abstractNumId w:val="90"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>'
)


def test_numbered_lists_nest_continue_and_restart() -> None:
    body = [
        p("The steps:"),
        item("one", 90),
        item("inner", 90, 1),
        item("inner too", 90, 1),
        item("deep", 90, 2),
        item("two", 90),
        item("more of two", 92),
        item("inner again", 90, 1),
        p("Between."),
        item("three", 90),
        item("seven", 93),
        p("Scope", "Heading1", '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="91"/></w:numPr>'),
        p("Limits", "Heading2", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="91"/></w:numPr>'),
    ]
    document = word("".join(body), numbering=NUMBERING)
    found = [(block.level, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        (0, "The steps:"),
        (1, "1. one"),
        (2, "a) inner"),
        (2, "b) inner too"),
        (3, "- deep"),
        (1, "2. two\nmore of two"),
        (2, "a) inner again"),
        (0, "Between."),
        (1, "3. three"),
        (1, "7. seven"),
        (1, "Part I Scope"),
        (2, "I.1 Limits"),
    ]
    assert document.blocks[2].intro == (document.blocks[1].start, document.blocks[1].end)


@pytest.mark.parametrize("style", ["제목 2", "标题 2", "عنوان 2", "Título 2", "Titre 2", "heading 2"])
def test_headings_of_every_language(style: str) -> None:
    named = f'<w:style w:type="paragraph" w:styleId="x1"><w:name w:val="{style}"/></w:style>'
    document = word(p("Scope", "x1") + p("Text."), styles=named)
    assert [(block.kind, block.level) for block in document.blocks] == [("heading", 2), ("prose", 0)]


def test_outline_levels_are_headings_without_contents_table() -> None:
    toc = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    body = (
        p("Scope 3", "TOC1")
        + p("Scope", more='<w:outlineLvl w:val="2"/>')
        + p("Text.", more='<w:outlineLvl w:val="9"/>')
    )
    document = word(body, styles=toc)
    assert [(block.kind, block.level) for block in document.blocks] == [("heading", 3), ("prose", 0)]


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


INLINE = {
    "a link": (f'{run("See ")}<w:hyperlink w:anchor="a">{run("the rules")}</w:hyperlink>{run(".")}', "See the rules."),
    "what was inserted": (f'{run("Pay ")}<w:ins w:id="1" w:author="a">{run("twice")}</w:ins>', "Pay twice"),
    "not what was deleted": (
        f'{run("Pay")}<w:del w:id="1" w:author="a"><w:r><w:delText> never</w:delText></w:r></w:del>',
        "Pay",
    ),
    "not what was moved away": (f'{run("Pay")}<w:moveFrom w:id="1" w:author="a">{run(" x")}</w:moveFrom>', "Pay"),
    "a field's result": (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF a</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("Table 3")}<w:r><w:fldChar w:fldCharType="end"/></w:r>',
        "Table 3",
    ),
    "a simple field": (f'<w:fldSimple w:instr="DATE">{run("May")}</w:fldSimple>', "May"),
    "a control": (f"<w:sdt><w:sdtPr/><w:sdtContent>{run('chosen')}</w:sdtContent></w:sdt>", "chosen"),
    "not a control's prompt": (
        f"{run('Name: ')}<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click')}</w:sdtContent></w:sdt>",
        "Name:",
    ),
    "nothing hidden": (f"{run('seen')}<w:r><w:rPr><w:vanish/></w:rPr><w:t> not</w:t></w:r>", "seen"),
    "tabs and hyphens": ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t></w:r>", "a\tb-c"),
    "code in a sentence": (
        f'{run("Call ")}<w:r><w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr><w:t>open()</w:t></w:r>{run(" first.")}',
        "Call `open()` first.",
    ),
    "an equation": (
        "<m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
        "</m:den></m:f><m:r><m:t>+</m:t></m:r><m:sSup><m:e><m:r><m:t>y</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r>"
        "</m:sup></m:sSup></m:oMath>",
        "x=(a+b)/2+y^2",
    ),
    "the base of a ruby": (
        "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>han</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase>"
        "</w:ruby></w:r>",
        "漢",
    ),
}


@pytest.mark.parametrize("name", INLINE)
def test_a_paragraph_holds(name: str) -> None:
    markup, text = INLINE[name]
    assert word(p(markup) + p("End.")).text == f"{text}\n\nEnd."


def test_kinds_by_style() -> None:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in ("Source Code", "Definition Term", "Definition")
    )
    body = [
        p("Run it:"),
        p("for x in y:", "SourceCode"),
        p("    stop()", "SourceCode"),
        p("", "SourceCode"),
        p("go()", "SourceCode"),
        p("To be.", "Quote"),
        p("Gate", "DefinitionTerm"),
        p("A door.", "Definition"),
        p("Table 1. Fees", "Caption"),
        table(tr("Name", "Fee"), tr("Ann", "3")),
    ]
    document = word("".join(body), styles=styles)
    assert blocks(document) == [
        ("prose", "Run it:"),
        ("code", "for x in y:\n    stop()\n\ngo()"),
        ("quotation", "To be."),
        ("definition", "Gate: A door."),
        ("prose", "Table 1. Fees"),
        ("table_header", "Name | Fee"),
        ("table_row", "Name: Ann | Fee: 3"),
    ]
    assert document.blocks[-1].intro == (document.blocks[4].start, document.blocks[4].end)


def test_merged_cells_repeat_in_each_row() -> None:
    down = '<w:vMerge w:val="restart"/>'
    body = table(
        tr(tc("Region", down), tc("Fee", '<w:gridSpan w:val="2"/>')),
        tr(tc("", "<w:vMerge/>"), "2023", "2024"),
        tr(tc("North", down), "10", "11"),
        tr(tc("", "<w:vMerge/>"), tc("free", '<w:gridSpan w:val="2"/>')),
        tr(tc("Islands", '<w:gridSpan w:val="3"/>')),
        tr("South", "7", ""),
    )
    assert blocks(word(body)) == [
        ("table_header", "Region | Fee 2023 | Fee 2024"),
        ("table_row", "Region: North | Fee 2023: 10 | Fee 2024: 11"),
        ("table_row", "Region: North | Fee 2023: free | Fee 2024: free"),
        ("prose", "Islands"),
        ("table_row", "Region: South | Fee 2023: 7"),
    ]


def test_header_rows_nested_tables_and_lists() -> None:
    inner = table(tr("size", "S"), tr("price", "3"))
    body = table(
        tr("3", "4", properties="<w:tblHeader/>"),
        tr(tc(p("both:") + inner + p("")), tc(p("take") + item("one", 90) + item("two", 90))),
        tr("gone", "gone", properties='<w:del w:id="1" w:author="a"/>'),
    )
    assert blocks(word(body, numbering=NUMBERING)) == [
        ("table_header", "3 | 4"),
        ("table_row", "3: both: size: S; price: 3 | 4: take; 1. one; 2. two"),
    ]


def test_labels_and_values_have_no_header() -> None:
    rows = [tr("Make", "Lavex"), tr("Capacity", "14 places"), tr("Warranty", "3 years"), tr("Price :", "740 euros")]
    read = ["Make: Lavex", "Capacity: 14 places", "Warranty: 3 years", "Price: 740 euros"]
    assert blocks(word(table(*rows))) == [("table_row", text) for text in read]
    marked = blocks(word(table(tr("Make", "Lavex", properties="<w:tblHeader/>"), *rows[1:])))
    assert marked[0] == ("table_header", "Make | Lavex")


def test_notes_follow_their_block() -> None:
    def note(kind: str, number: int, text: str) -> str:
        return f'<w:{kind} w:id="{number}">{p(f"<w:r><w:{kind}Ref/></w:r>{run(text)}")}</w:{kind}>'

    foot = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    body = [
        p(f"{run('Fees')}{foot.format(5)}{run(' are due:')}"),
        item("now", 90),
        p(f'{run("Later.")}{foot.format(2)}<w:r><w:endnoteReference w:id="1"/></w:r>'),
        p("End."),
    ]
    document = word(
        "".join(body),
        numbering=NUMBERING,
        footnotes=note("footnote", 2, "Within a year.") + note("footnote", 5, "Without tax."),
        endnotes=note("endnote", 1, "By law."),
    )
    assert [text for _, text in blocks(document)] == [
        "Fees[1] are due:", "1. now", "[1] Without tax.", "Later.[2][i]", "[2] Within a year.", "[i] By law.", "End.",
    ]  # fmt: skip


def test_frame_with_a_control_as_cell() -> None:
    control = f"<w:sdt><w:sdtContent>{tc('The cover.')}</w:sdtContent></w:sdt>"
    assert blocks(word(table(f"<w:tr>{control}</w:tr>"))) == [("prose", "The cover.")]


def test_lists_are_recognised_by_style_name() -> None:
    document = word(p("one", "ListBullet") + p("inner", "ListBullet2") + p("deep", "ListBullet3"))
    assert [(block.kind, block.level) for block in document.blocks] == [("list_item", level) for level in (1, 2, 3)]


def test_boxes_frames_and_controls_are_read_once() -> None:
    box = f"<w:txbxContent>{p('In a box.')}</w:txbxContent>"
    drawing = (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:wsp><wps:txbx>'
        f"{box}</wps:txbx></wps:wsp></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><w:shape>{box}</w:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    body = [
        p(run("Beside.") + drawing),
        table(tr(tc(p("Framed", "Heading2") + p("Text in a frame.")))),
        f"<w:sdt><w:sdtContent>{p('Controlled.')}</w:sdtContent></w:sdt>",
    ]
    assert blocks(word("".join(body))) == [
        ("prose", "Beside."),
        ("prose", "In a box."),
        ("heading", "Framed"),
        ("prose", "Text in a frame."),
        ("prose", "Controlled."),
    ]
