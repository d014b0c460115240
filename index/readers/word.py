"""DOCX by python-docx."""

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from index.languages import every
from index.model import Document
from index.readers.building import TextBuilder, row
from index.readers.formats import Format, Source
from index.readers.packages import opened
from index.readers.unreadable import Unreadable

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_STYLES = "|".join(every(lambda language: language.headings.style.split()))
_HEADING = re.compile(rf"(?:{_STYLES}) (\d)", re.IGNORECASE)


def read_word(source: Source) -> Document:
    """Raises Unreadable."""
    import docx
    from docx.table import Table

    builder = TextBuilder()
    with opened(source.data, "DOCX"):
        document = docx.Document(io.BytesIO(source.data))
        items: list[str] = []
        for part in document.iter_inner_content():
            if isinstance(part, Table):
                _close_list(builder, items)
                for line in _docx_rows(part):
                    builder.add(line, "table_row")
                continue
            style = (part.style.name if part.style is not None else None) or ""
            heading = _HEADING.search(style)
            if part.text.strip() and (style.startswith("List") or _is_numbered(part)) and not heading:
                items.append(f"- {part.text.strip()}")
                continue
            _close_list(builder, items)
            if heading or style == "Title":
                builder.add(part.text, "heading", int(next(filter(None, heading.groups()))) if heading else 1)
            else:
                builder.add(part.text)
        _close_list(builder, items)
        title = document.core_properties.title or ""
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, title.strip() or source.title)


def _is_numbered(paragraph: "Paragraph") -> bool:
    properties = paragraph._p.pPr  # the library has no public access to a paragraph's numbering
    return properties is not None and properties.numPr is not None


def _close_list(builder: TextBuilder, items: list[str]) -> None:
    for item in items:
        builder.add(item, "list_item", 1)
    items.clear()


def _docx_rows(table: "Table") -> Iterator[str]:
    for one in table.rows:
        cells: list[str] = []
        last = None
        for cell in one.cells:
            if cell._tc is not last:  # a merged cell is returned once per column
                cells.append(cell.text)
            last = cell._tc
        yield row(cells)


FORMATS = (Format("Word", (".docx",), read_word, "python-docx", "headings, lists, tables"),)
