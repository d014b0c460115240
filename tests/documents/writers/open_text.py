"""OpenDocument text: one walk over the description."""

from collections.abc import Iterator
from html import escape

from tests.documents import described as d
from tests.documents.writers.sheets import open_document


def odt(described: d.Described) -> bytes:
    body = "".join(_odt(described))
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style")
    )
    styles = "".join(
        f'<style:style style:name="{name.replace(" ", "_20_")}" style:display-name="{name}" style:family="paragraph"/>'
        for name in ("Preformatted Text", "Quotations", "Caption")
    )
    numbered = (
        '<text:list-style style:name="numbers"><text:list-level-style-number text:level="1" style:num-suffix="." '
        'style:num-format="1"/></text:list-style><text:list-style style:name="bullets">'
        + "".join(f'<text:list-level-style-bullet text:level="{at}" text:bullet-char="•"/>' for at in (1, 2, 3))
        + "</text:list-style>"
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}{numbered}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return open_document("text", content, described)


def _odt(described: d.Described) -> Iterator[str]:
    for block in described.blocks:
        match block:
            case d.Heading():
                yield f'<text:h text:outline-level="{block.level}">{escape(block.text)}</text:h>'
            case d.Prose():
                note = (
                    '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
                    f"<text:p>{escape(block.note)}</text:p></text:note-body></text:note>"
                )
                yield f"<text:p>{escape(block.text)}{note if block.note else ''}</text:p>"
            case d.Items():
                yield _odt_list(block.items, ordered=block.ordered)
            case d.Table():
                yield f'<text:p text:style-name="Caption">{escape(block.caption)}</text:p>'
                rows = [
                    f"<table:table-row>{''.join(map(_odt_cell, line))}</table:table-row>" for line in d.placed(block)
                ]
                head, body = "".join(rows[: block.header]), "".join(rows[block.header :])
                yield f"<table:table><table:table-header-rows>{head}</table:table-header-rows>{body}</table:table>"
            case d.Code():
                yield _odt_code(block.text)
            case d.Quotation():
                yield f'<text:p text:style-name="Quotations">{escape(block.text)}</text:p>'
            case d.Definition():
                yield f"<text:p>{escape(block.term)}: {escape(block.text)}</text:p>"


def _odt_code(text: str) -> str:
    """A line is a paragraph; several spaces are written with their number."""
    made = ""
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        spaces = f'<text:s text:c="{len(line) - len(bare)}"/>' if bare != line else ""
        made += f'<text:p text:style-name="Preformatted_20_Text">{spaces}{escape(bare)}</text:p>'
    return made


def _odt_list(items: list[d.Item], *, ordered: bool = False) -> str:
    made = ""
    for item in items:
        code = _odt_code(item.code) if item.code else ""
        inner = _odt_list(item.inner) if item.inner else ""
        made += f"<text:list-item><text:p>{escape(item.text.replace('`', ''))}</text:p>{code}{inner}</text:list-item>"
    return f'<text:list text:style-name="{"numbers" if ordered else "bullets"}">{made}</text:list>'


def _odt_cell(one: d.Placed | None) -> str:
    if one is None:
        return "<table:covered-table-cell/>"
    spans = f' table:number-rows-spanned="{one.down}" table:number-columns-spanned="{one.across}"'
    if isinstance(one.cell, str):
        inside = f"<text:p>{escape(one.cell)}</text:p>"
    else:
        rows = (
            "".join(f"<table:table-cell><text:p>{escape(text)}</text:p></table:table-cell>" for text in row)
            for row in one.cell
        )
        inside = f"<table:table>{''.join(f'<table:table-row>{row}</table:table-row>' for row in rows)}</table:table>"
    return f"<table:table-cell{spans if one.down > 1 or one.across > 1 else ''}>{inside}</table:table-cell>"
