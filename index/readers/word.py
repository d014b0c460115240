"""DOCX by python-docx, which opens the package; its body is walked here, since the library leaves out what it does not model."""

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from index.model import BlockKind, Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable, row
from index.readers.packages import language, metadata, opened, usual
from index.readers.tabular import Head, head, in_a_cell, joined
from index.readers.word_styles import Role, Styles
from index.readers.word_text import WRAPPERS, Notes, TextRun, W, boxes_in, is_on, paragraph_text, pieces_of, value

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from lxml.etree import _Element as Element


_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def read_word(source: Source) -> Document:
    """Raises Unreadable."""
    import docx

    with opened(source.data, "DOCX"):
        data = usual(source.data, r"ms-word|openxmlformats-officedocument\.wordprocessingml", _MAIN)
        document = docx.Document(io.BytesIO(data))
        body = _Body(document)
        body.walk(document.element.body)
        builder = body.finish()
        core = document.core_properties
        value = metadata(core, core.author)
        title = (core.title or "").strip() or body.title or source.title
        tongue = language(core.language)
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, title, language=tongue, metadata=value)


class _Body:
    """Walks block by block. A block is held until it is known that the next paragraph does not go on with it."""

    def __init__(self, document: "WordDocument") -> None:
        self.title = ""
        self._builder = TextBuilder()
        related = _related(document)
        self._styles = Styles(document.styles.element, related.get("numbering"))
        self._notes = Notes({})
        self._notes = Notes(
            {
                (kind, note.get(W + "id", "")): self._texts(note)
                for kind in ("footnote", "endnote")
                if (part := related.get(f"{kind}s")) is not None
                for note in part.findall(W + kind)
            }
        )
        self._held: list[str] = []
        self._kind: BlockKind = "prose"
        self._level = 0
        self._is_term = False
        self._pending: list[str] = []
        self._caption: tuple[int, int] | None = None

    def finish(self) -> TextBuilder:
        self._let_go()
        self._pending += self._notes.take()
        self._add_notes()
        return self._builder

    def walk(self, container: "Element") -> None:
        for child in container:
            if child.tag == W + "p":
                self._paragraph(child)
            elif child.tag == W + "tbl":
                self._table(child)
            elif child.tag in WRAPPERS or child.tag == W + "sdt":
                self.walk(child)

    def _paragraph(self, paragraph: "Element") -> None:
        self._pending += self._notes.take()
        parts = list(pieces_of(paragraph, self._notes, self._styles.name))
        if not any(part.text.strip() for part in parts) and paragraph.find(W + "del") is not None:
            return
        role = self._styles.role(paragraph)
        if role.kind == "prose" and _is_all_code(parts):
            role = Role("code")
        if role.kind is not None:
            text = "".join(part.text for part in parts) if role.kind == "code" else paragraph_text(parts).strip()
            self._take(role, text)
        for box in boxes_in(paragraph):
            self.walk(box)

    def _take(self, role: Role, text: str) -> None:
        if role.kind == "code":
            if self._held and self._kind == "code":
                self._held.append(text)
            elif text.strip():
                self._hold(role, text)
        elif not text:
            return
        elif role.continues and self._held and self._kind == "list_item":
            self._held.append(text)
        elif self._is_term and role.kind == "definition" and not role.term:
            self._held[-1] += f": {text}"
            self._is_term = False
        else:
            self._hold(role._replace(kind="prose") if role.continues else role, (role.marker or "") + text)
            if role.kind == "heading" and not self.title:
                self.title = text

    def _hold(self, role: Role, text: str) -> None:
        self._let_go()
        alone = role.kind in ("heading", "prose", "quotation")
        if alone:
            self._add_notes()
        self._held, self._kind, self._level = [text], role.kind or "prose", role.level
        self._is_term = role.term
        if alone:
            stretch = self._let_go()
            self._caption = stretch if role.caption else None

    def _let_go(self) -> tuple[int, int] | None:
        stretch = self._builder.add("\n".join(self._held), self._kind, self._level)
        self._held.clear()
        self._is_term = False
        self._caption = None
        return stretch

    def _add_notes(self) -> None:
        for note in self._pending:
            self._builder.add(note)
        self._pending.clear()

    def _text(self, paragraph: "Element") -> str:
        return paragraph_text(list(pieces_of(paragraph, self._notes, self._styles.name))).strip()

    def _table(self, table: "Element") -> None:
        self._pending += self._notes.take()
        rows = rows_of(table, self._cell)
        if max(map(len, rows.cells), default=0) == 1:
            for line in _inside(table, "tr"):  # a frame around text
                for cell in _inside(line, "tc"):
                    self.walk(cell)
            return
        caption = self._caption
        self._let_go()
        first = head_of(rows)
        for title in first.titles:
            caption = self._builder.add(title)
        self._builder.add(row(first.names), "table_header", intro=caption)
        for at, cells in enumerate(rows.cells[first.rows :], first.rows):
            if at in rows.wide:
                self._builder.add(cells[0])
            else:
                self._builder.add(first.row(cells), "table_row", intro=caption)

    def _cell(self, cell: "Element") -> str:
        """A cell's paragraphs on one line, the items of a list and the rows of a table in it set apart."""
        parts: list[str] = []
        for child in cell.iter(W + "p", W + "tbl"):
            if next(child.iterancestors(W + "tc", W + "txbxContent")) is not cell:
                continue
            item = False
            if child.tag == W + "tbl":
                rows = rows_of(child, self._cell)
                text = in_a_cell(rows.cells, head_of(rows))
            else:
                role = self._styles.role(child)
                item = role.kind == "list_item"
                text = (role.marker or "").removeprefix("- ") + self._text(child)
                text = " ".join((text, *map(self._texts, boxes_in(child))))
            if text.strip():
                separator = "; " if parts and (item or child.tag == W + "tbl") and parts[-1][-1] not in ":：;" else " "
                parts.append((separator if parts else "") + text.strip())
        return "".join(parts)

    def _texts(self, container: "Element") -> str:
        return " ".join(filter(None, map(self._text, container.iter(W + "p"))))


def _is_all_code(pieces: list[TextRun]) -> bool:
    return any(part.text.strip() for part in pieces) and all(part.code for part in pieces if part.text.strip())


def _related(document: "WordDocument") -> dict[str, "Element"]:
    """The parts other than the body, by the last word of their relationship: numbering, footnotes, endnotes."""
    from docx.oxml import parse_xml

    wanted = ("numbering", "footnotes", "endnotes")
    parts = {
        one.reltype.rpartition("/")[2]: one.target_part
        for one in document.part.rels.values()
        if not one.is_external and one.reltype.rpartition("/")[2] in wanted
    }
    return {name: parse_xml(part.blob) for name, part in parts.items()}


FORMATS = (
    Format(
        "Word",
        (".docx", ".docm", ".dotx", ".dotm"),
        read_word,
        "python-docx",
        "headings, nested and numbered lists, tables with merged and nested cells, notes, quotations, code, definitions,"
        " text boxes, content controls, insertions, equations as text, properties",
        "the table of contents, headers and footers, comments, deletions, hidden text, pictures and charts",
    ),
)


class Rows(NamedTuple):
    """`wide`: the positions of rows that are one merged cell; `grouping`: of rows with a cell over several columns.

    `header`: how many rows the document marks as repeated on each page.
    """

    cells: list[list[str]]
    wide: set[int]
    grouping: set[int]
    header: int


def rows_of(table: "Element", text_of: Callable[["Element"], str]) -> Rows:
    """`text_of` gives the text of one cell, a `tc`."""
    result = Rows([], set(), set(), 0)
    header = 0
    for tr in _inside(table, "tr"):
        properties = tr.find(W + "trPr")
        if properties is not None and (properties.find(W + "del") is not None or is_on(properties.find(W + "hidden"))):
            continue
        above = result.cells[-1] if result.cells else []
        before = "" if properties is None else value(properties.find(W + "gridBefore"))
        cells = [""] * (int(before) if before.isdigit() else 0)
        spans: list[int] = []
        for tc in _inside(tr, "tc"):
            span = value(tc.find(f"{W}tcPr/{W}gridSpan"))
            spans.append(int(span) if span.isdigit() else 1)
            merged = tc.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and value(merged) != "restart"
            text = above[len(cells)] if goes_on and len(cells) < len(above) else text_of(tc)
            cells += [text] * min(spans[-1], 200)
        at = len(result.cells)
        if len(spans) == 1 and spans[0] > 2:
            result.wide.add(at)
        elif any(span > 1 for span in spans):
            result.grouping.add(at)
        if header == at and properties is not None and is_on(properties.find(W + "tblHeader")):
            header += 1
        result.cells.append(cells)
    return result._replace(header=header)


def head_of(rows: Rows) -> Head:
    """The header is what the document marks as such, else the first row if it looks like one."""
    if 0 < rows.header < len(rows.cells):
        return Head((), joined(rows.cells[: rows.header]), rows.header)
    return head(rows.cells, rows.grouping)


def _inside(element: "Element", name: str) -> Iterator["Element"]:
    """The rows of a table or cells of a row, those in content controls too."""
    for child in element:
        if child.tag == W + name:
            yield child
        elif child.tag in WRAPPERS or child.tag == W + "sdt":
            yield from _inside(child, name)
