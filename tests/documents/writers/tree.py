"""XML: DocBook, JATS, DITA and OpenDocument text, each a table of element names around one walk over the description."""

from collections.abc import Iterator
from html import escape

from tests.documents.described import (
    Cell,
    Code,
    Definition,
    Described,
    Heading,
    Item,
    Items,
    Part,
    Placed,
    Prose,
    Quotation,
    Table,
    flat,
    inline,
    placed,
)
from tests.documents.writers.sheets import open_document

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def docbook(described: Described) -> bytes:
    info = (
        f"<info><title>{escape(described.title)}</title><author><personname>{escape(described.author)}</personname></author>"
        f"<date>{described.date:%Y-%m-%d}</date><keywordset>"
        + "".join(f"<keyword>{escape(tag)}</keyword>" for tag in described.tags)
        + "</keywordset></info>"
    )
    parts = []
    for heading, blocks in _sections(described):
        inside = "".join(map(_docbook, blocks))
        parts.append(
            inside if heading.level == 1 else f"<section><title>{escape(heading.text)}</title>{inside}</section>"
        )
    root = f'<article xmlns="http://docbook.org/ns/docbook" version="5.0" xml:lang="{described.language}">'
    return f"{_HEAD}{root}{info}{''.join(parts)}</article>".encode()


def _docbook(block: Part) -> str:
    match block:
        case Prose():
            note = f"<footnote><para>{escape(block.note)}</para></footnote>" if block.note else ""
            return f"<para>{_coded(block.text, 'code')}{note}</para>"
        case Items():
            return _items(
                block.items, "orderedlist" if block.ordered else "itemizedlist", "listitem", "para", "programlisting"
            )
        case Table():
            return (
                f"<table><caption>{escape(block.caption)}</caption><thead>{_rows(block, 'th', head=True)}</thead>"
                f"<tbody>{_rows(block, 'td', head=False)}</tbody></table>"
            )
        case Code():
            return f'<programlisting language="{block.syntax}">{escape(block.text)}</programlisting>'
        case Quotation():
            return f"<blockquote><para>{escape(block.text)}</para></blockquote>"
        case Definition():
            return (
                f"<variablelist><varlistentry><term>{escape(block.term)}</term><listitem><para>{escape(block.text)}</para>"
                "</listitem></varlistentry></variablelist>"
            )
    raise TypeError(block)


def jats(described: Described) -> bytes:
    front = (
        "<front><article-meta><title-group><article-title>"
        f"{escape(described.title)}</article-title></title-group><contrib-group><contrib contrib-type='author'><name>"
        f"<surname>{escape(described.author)}</surname></name></contrib></contrib-group>"
        f"<pub-date><day>{described.date.day}</day><month>{described.date.month}</month><year>{described.date.year}</year>"
        "</pub-date><kwd-group>" + "".join(f"<kwd>{escape(tag)}</kwd>" for tag in described.tags) + "</kwd-group>"
        "</article-meta></front>"
    )
    parts = []
    notes = ""
    for heading, blocks in _sections(described):
        inside = "".join(map(_jats, blocks))
        parts.append(inside if heading.level == 1 else f"<sec><title>{escape(heading.text)}</title>{inside}</sec>")
        notes += "".join(
            f'<fn id="fn1"><p>{escape(block.note)}</p></fn>'
            for block in blocks
            if isinstance(block, Prose) and block.note
        )
    back = f"<back><fn-group>{notes}</fn-group></back>"
    root = f'<article xml:lang="{described.language}">'
    return f"{_HEAD}{root}{front}<body>{''.join(parts)}</body>{back}</article>".encode()


def _jats(block: Part) -> str:
    match block:
        case Prose():
            mark = '<xref ref-type="fn" rid="fn1">1</xref>' if block.note else ""
            return f"<p>{_coded(block.text, 'monospace')}{mark}</p>"
        case Items():
            kind = "order" if block.ordered else "bullet"
            return _items(block.items, f'list list-type="{kind}"', "list-item", "p", "code")
        case Table():
            return (
                f"<table-wrap><caption><p>{escape(block.caption)}</p></caption><table><thead>{_rows(block, 'th', head=True)}"
                f"</thead><tbody>{_rows(block, 'td', head=False)}</tbody></table></table-wrap>"
            )
        case Code():
            return f'<code language="{block.syntax}">{escape(block.text)}</code>'
        case Quotation():
            return f"<disp-quote><p>{escape(block.text)}</p></disp-quote>"
        case Definition():
            told = f"<term>{escape(block.term)}</term><def><p>{escape(block.text)}</p></def>"
            return f"<def-list><def-item>{told}</def-item></def-list>"
    raise TypeError(block)


def dita(described: Described) -> bytes:
    parts = []
    for heading, blocks in _sections(described):
        inside = "".join(map(_dita, blocks))
        parts.append(
            inside if heading.level == 1 else f"<section><title>{escape(heading.text)}</title>{inside}</section>"
        )
    keywords = "".join(f"<keyword>{escape(tag)}</keyword>" for tag in described.tags)
    prolog = (
        f"<prolog><author>{escape(described.author)}</author><critdates><created date='{described.date:%Y-%m-%d}'/></critdates>"
        f"<metadata><keywords>{keywords}</keywords></metadata></prolog>"
    )
    root = f'<topic id="shed" xml:lang="{described.language}"><title>{escape(described.title)}</title>'
    return f"{_HEAD}{root}{prolog}<body>{''.join(parts)}</body></topic>".encode()


def _dita(block: Part) -> str:
    match block:
        case Prose():
            note = f"<fn>{escape(block.note)}</fn>" if block.note else ""
            return f"<p>{_coded(block.text, 'codeph')}{note}</p>"
        case Items():
            return _items(block.items, "ol" if block.ordered else "ul", "li", "p", "codeblock")
        case Table():
            head, body = _entries(block, head=True), _entries(block, head=False)
            columns = "".join(f'<colspec colname="c{at}"/>' for at in range(1, len(block.rows[0]) + 1))
            return (
                f"<table><title>{escape(block.caption)}</title><tgroup cols='{len(block.rows[0])}'>{columns}"
                f"<thead>{head}</thead><tbody>{body}</tbody></tgroup></table>"
            )
        case Code():
            return f'<codeblock outputclass="language-{block.syntax}">{escape(block.text)}</codeblock>'
        case Quotation():
            return f"<lq>{escape(block.text)}</lq>"
        case Definition():
            return f"<dl><dlentry><dt>{escape(block.term)}</dt><dd>{escape(block.text)}</dd></dlentry></dl>"
    raise TypeError(block)


def _entries(table: Table, *, head: bool) -> str:
    """The rows of a table as CALS writes them."""
    made = ""
    for at, line in enumerate(placed(table)):
        if (at < table.header) is head:
            made += "<row>"
            for column, one in enumerate(line, 1):
                if one is not None:
                    across = f' namest="c{column}" nameend="c{column + one.across - 1}"' if one.across > 1 else ""
                    down = f' morerows="{one.down - 1}"' if one.down > 1 else ""
                    made += f"<entry{across}{down}>{escape(flat(one.cell))}</entry>"
            made += "</row>"
    return made


def odt(described: Described) -> bytes:
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


def _odt(described: Described) -> Iterator[str]:
    for block in described.blocks:
        match block:
            case Heading():
                yield f'<text:h text:outline-level="{block.level}">{escape(block.text)}</text:h>'
            case Prose():
                note = (
                    '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
                    f"<text:p>{escape(block.note)}</text:p></text:note-body></text:note>"
                )
                yield f"<text:p>{escape(block.text)}{note if block.note else ''}</text:p>"
            case Items():
                yield _odt_list(block.items, ordered=block.ordered)
            case Table():
                yield f'<text:p text:style-name="Caption">{escape(block.caption)}</text:p>'
                rows = [f"<table:table-row>{''.join(map(_odt_cell, line))}</table:table-row>" for line in placed(block)]
                head, body = "".join(rows[: block.header]), "".join(rows[block.header :])
                yield f"<table:table><table:table-header-rows>{head}</table:table-header-rows>{body}</table:table>"
            case Code():
                yield _odt_code(block.text)
            case Quotation():
                yield f'<text:p text:style-name="Quotations">{escape(block.text)}</text:p>'
            case Definition():
                yield f"<text:p>{escape(block.term)}: {escape(block.text)}</text:p>"


def _odt_code(text: str) -> str:
    """A line is a paragraph; several spaces are written with their number."""
    made = ""
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        spaces = f'<text:s text:c="{len(line) - len(bare)}"/>' if bare != line else ""
        made += f'<text:p text:style-name="Preformatted_20_Text">{spaces}{escape(bare)}</text:p>'
    return made


def _odt_list(items: list[Item], *, ordered: bool = False) -> str:
    made = ""
    for item in items:
        code = _odt_code(item.code) if item.code else ""
        inner = _odt_list(item.inner) if item.inner else ""
        made += f"<text:list-item><text:p>{escape(item.text.replace('`', ''))}</text:p>{code}{inner}</text:list-item>"
    return f'<text:list text:style-name="{"numbers" if ordered else "bullets"}">{made}</text:list>'


def _odt_cell(one: Placed | None) -> str:
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


def _sections(described: Described) -> Iterator[tuple[Heading, list[Part]]]:
    found: list[tuple[Heading, list[Part]]] = []
    for block in described.blocks:
        if isinstance(block, Heading):
            found.append((block, []))
        else:
            found[-1][1].append(block)
    return iter(found)


def _coded(text: str, name: str) -> str:
    return "".join(f"<{name}>{escape(part)}</{name}>" if code else escape(part) for part, code in inline(text))


def _items(items: list[Item], listed: str, item_name: str, paragraph: str, code_name: str) -> str:
    inline_name = {"programlisting": "code", "code": "monospace", "codeblock": "codeph"}[code_name]
    made = ""
    for item in items:
        code = f"<{code_name}>{escape(item.code)}</{code_name}>" if item.code else ""
        inner = _items(item.inner, listed, item_name, paragraph, code_name) if item.inner else ""
        made += f"<{item_name}><{paragraph}>{_coded(item.text, inline_name)}</{paragraph}>{code}{inner}</{item_name}>"
    return f"<{listed}>{made}</{listed.split(maxsplit=1)[0]}>"


def _rows(table: Table, name: str, *, head: bool) -> str:
    """The rows of a table as HTML writes them."""
    made = ""
    for at, line in enumerate(placed(table)):
        if (at < table.header) is head:
            cells = (
                f'<{name} rowspan="{one.down}" colspan="{one.across}">{_cell(one.cell)}</{name}>'
                for one in line
                if one is not None
            )
            made += f"<tr>{''.join(cells)}</tr>"
    return made


def _cell(cell: Cell) -> str:
    return escape(flat(cell))
