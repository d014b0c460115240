"""HTML, and the formats of text with marks: Markdown, MDX, reStructuredText, plain text."""

import unicodedata
from collections.abc import Iterator
from html import escape

from tests.documents import described as d


def html(described: d.Described) -> bytes:
    direction = "rtl" if described.language in d.RIGHT_TO_LEFT else "ltr"
    page = (
        f'<!DOCTYPE html><html lang="{described.language}" dir="{direction}"><head><meta charset="utf-8"/>'
        f"<title>{escape(described.title)}</title>"
        f'<meta name="author" content="{escape(described.author)}"/>'
        f'<meta name="keywords" content="{escape(", ".join(described.tags))}"/>'
        f'<meta name="date" content="{described.date:%Y-%m-%dT%H:%M:%SZ}"/></head><body>{html_body(described)}</body></html>'
    )
    return page.encode()


def xhtml(described: d.Described) -> bytes:
    page = html(described).decode().removeprefix("<!DOCTYPE html>")
    return ('<?xml version="1.0"?>' + page.replace("<html ", '<html xmlns="http://www.w3.org/1999/xhtml" ', 1)).encode()


def html_body(described: d.Described) -> str:
    return "\n".join(_html(described))


def _html(described: d.Described) -> Iterator[str]:
    notes: list[str] = []
    for block in described.blocks:
        match block:
            case d.Heading():
                yield f"<h{block.level}>{escape(block.text)}</h{block.level}>"
            case d.Prose():
                mark = ""
                if block.note:
                    notes.append(block.note)
                    mark = f'<sup><a href="#fn{len(notes)}" role="doc-noteref">{len(notes)}</a></sup>'
                style = ' style="writing-mode: vertical-rl"' if block.vertical else ""
                yield f"<p{style}>{_html_inline(block.text)}{mark}</p>"
            case d.Items():
                yield _html_items(block.items, "ol" if block.ordered else "ul")
            case d.Table():
                yield _html_table(block)
            case d.Code():
                yield f'<pre><code class="language-{block.syntax}">{escape(block.text)}</code></pre>'
            case d.Quotation():
                yield f"<blockquote><p>{escape(block.text)}</p></blockquote>"
            case d.Definition():
                yield f"<dl><dt>{escape(block.term)}</dt><dd>{escape(block.text)}</dd></dl>"
    if notes:
        items = "".join(f'<li id="fn{number}"><p>{escape(note)}</p></li>' for number, note in enumerate(notes, 1))
        yield f'<section role="doc-endnotes"><ol>{items}</ol></section>'


def _html_inline(text: str) -> str:
    return "".join(f"<code>{escape(part)}</code>" if code else escape(part) for part, code in d.inline(text))


def _html_items(items: list[d.Item], name: str) -> str:
    made = ""
    for item in items:
        code = f'<pre><code class="language-sh">{escape(item.code)}</code></pre>' if item.code else ""
        made += f"<li>{_html_inline(item.text)}{code}{_html_items(item.inner, 'ul') if item.inner else ''}</li>"
    return f"<{name}>{made}</{name}>"


def _html_table(table: d.Table) -> str:
    lines = []
    for at, line in enumerate(d.placed(table)):
        name = "th" if at < table.header else "td"
        cells = (
            f'<{name} rowspan="{one.down}" colspan="{one.across}">{_html_cell(one.cell)}</{name}>'
            for one in line
            if one is not None
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head, body = "".join(lines[: table.header]), "".join(lines[table.header :])
    return f"<table><caption>{escape(table.caption)}</caption><thead>{head}</thead><tbody>{body}</tbody></table>"


def _html_cell(cell: d.Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return "<table>" + "".join(f"<tr><td>{'</td><td>'.join(map(escape, row))}</td></tr>" for row in cell) + "</table>"


def markdown(described: d.Described) -> bytes:
    front = (
        f'---\ntitle: "{described.title}"\nauthor: "{described.author}"\ndate: {described.date:%Y-%m-%dT%H:%M:%SZ}\n'
        f"tags: [{', '.join(described.tags)}]\nlanguage: {described.language}\n---\n\n"
    )
    return (front + markdown_body(described)).encode()


def mdx(described: d.Described) -> bytes:
    """With the navigation of a documentation site around its text."""
    body = markdown_body(described).partition("\n\n")
    note = '\n\n<Note title="">\n\n{}\n\n</Note>'
    first = next(block for block in described.blocks if isinstance(block, d.Prose))
    plain = body[2].replace("[^1]", "", 1).replace(f"\n\n[^1]: {first.note}", "")
    text = f"{body[0]}\n\n{plain.replace(first.text, first.text + note.format(first.note), 1)}"
    return f"import {{ Note }} from './note.jsx'\nexport const weeks = 3\n\n{text}\n".encode()


def markdown_body(described: d.Described) -> str:
    parts: list[str] = []
    notes: list[str] = []
    for block in described.blocks:
        match block:
            case d.Heading():
                parts.append(f"{'#' * block.level} {block.text}")
            case d.Prose():
                if block.note:
                    notes.append(f"[^{len(notes) + 1}]: {block.note}")
                parts.append(block.text + (f"[^{len(notes)}]" if block.note else ""))
            case d.Items():
                parts.append("\n".join(_marked_items(block.items, ordered=block.ordered)))
            case d.Table():
                names, rows = d.joined_header(block), d.spread(block)[block.header :]
                lines = [names, ["---"] * len(names), *rows]
                parts += [block.caption, "\n".join(f"| {' | '.join(line)} |" for line in lines)]
            case d.Code():
                parts.append(f"```{block.syntax}\n{block.text}\n```")
            case d.Quotation():
                parts.append(f"> {block.text}")
            case d.Definition():
                parts.append(f"{block.term}\n:   {block.text}")
    return "\n\n".join(parts + notes) + "\n"


def _marked_items(items: list[d.Item], indent: str = "", *, ordered: bool = False) -> Iterator[str]:
    for number, item in enumerate(items, 1):
        marker = f"{number}. " if ordered else "- "
        inner = indent + " " * len(marker)
        yield f"{indent}{marker}{item.text}"
        if item.code:
            yield ""
            yield from (f"{inner}{line}" for line in f"```sh\n{item.code}\n```".split("\n"))
            yield ""
        yield from _marked_items(item.inner, inner)


def restructured(described: d.Described) -> bytes:
    parts: list[str] = [f":Author: {described.author}\n:Date: {described.date:%Y-%m-%d}"]
    notes: list[str] = []
    for block in described.blocks:
        match block:
            case d.Heading():
                parts.append(f"{block.text}\n{'=-'[block.level - 1] * wide(block.text)}")
            case d.Prose():
                if block.note:
                    notes.append(f".. [{len(notes) + 1}] {block.note}")
                parts.append(block.text.replace("`", "``") + (f" [{len(notes)}]_" if block.note else ""))
            case d.Items():
                parts.append("\n".join(_rst_items(block.items, ordered=block.ordered)))
            case d.Table():
                rows = [d.joined_header(block), *d.spread(block)[block.header :]]
                cells = "\n".join(f"   {'  ' if at else '* '}- {cell}" for row in rows for at, cell in enumerate(row))
                parts.append(f".. list-table:: {block.caption}\n   :header-rows: 1\n\n{cells}")
            case d.Code():
                lines = "\n".join(f"   {line}".rstrip() for line in block.text.split("\n"))
                parts.append(f".. code-block:: {block.syntax}\n\n{lines}")
            case d.Quotation():
                parts.append(f"..\n\n   {block.text}")
            case d.Definition():
                parts.append(f"{block.term}\n   {block.text}")
    title, meta = parts[1], parts[0]
    return ("\n\n".join([title, meta, *parts[2:], *notes]) + "\n").encode()


def _rst_items(items: list[d.Item], indent: str = "", *, ordered: bool = False) -> Iterator[str]:
    for number, item in enumerate(items, 1):
        marker = f"{number}. " if ordered else "- "
        inner = indent + " " * len(marker)
        yield f"{indent}{marker}{item.text.replace('`', '``')}"
        if item.code:
            yield from ("", f"{inner}.. code-block:: sh", "")
            yield from (f"{inner}   {line}" for line in item.code.split("\n"))
            yield ""
        if item.inner:
            yield ""
            yield from _rst_items(item.inner, inner)
            yield ""


def wide(text: str) -> int:
    """The columns that a text takes up on a terminal."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def plain(described: d.Described) -> bytes:
    """Plain typed text, without marks."""
    parts: list[str] = []
    for block in described.blocks:
        match block:
            case d.Items():
                parts.append(
                    "\n".join(_marked_items(block.items, ordered=block.ordered))
                    .replace("```sh\n", "")
                    .replace("```", "")
                )
            case d.Table():
                rows = [d.joined_header(block), *d.spread(block)[block.header :]]
                parts += [block.caption, "\n".join("   ".join(row) for row in rows)]
            case d.Definition():
                parts.append(f"{block.term}: {block.text}")
            case _:
                parts.append(block.text)
                if isinstance(block, d.Prose) and block.note:
                    parts.append(block.note)
    return ("\n\n".join(parts) + "\n").encode("utf-8-sig")
