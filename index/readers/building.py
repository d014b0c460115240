"""Build a document's text block by block. What no person would see is not added; visible text is in one of the blocks."""

from collections.abc import Iterable, Sequence

from index.model import Block, BlockKind, Document, Metadata

_NO_METADATA = Metadata()
#: Kinds that follow each other without an empty line.
_LINES = frozenset(("list_item", "table_header", "table_row"))


class TextBuilder:
    """Separates blocks by an empty line, so that no sentence runs from one into the next; items and rows by a line break."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[tuple[int, int]] = []

    def page(self, number: int, back: int = 0) -> None:
        """A page begins with the next block, or that many characters before the end of the last one."""
        self._pages.append((self._length - back, number))

    def add(
        self,
        text: str,
        kind: BlockKind = "prose",
        level: int = 0,
        *,
        anchor: str = "",
        syntax: str = "",
        intro: tuple[int, int] | None = None,
    ) -> tuple[int, int] | None:
        """The block's range. Code keeps its indentation; a text without a visible character adds nothing."""
        text = text.strip("\n").rstrip() if kind == "code" else text.strip()
        if not text.strip():
            return None
        if self._blocks:
            close = kind in _LINES and self._blocks[-1].kind in _LINES
            gap = "\n" if close else "\n\n"
            self._parts.append(gap)
            self._length += len(gap)
            if self._pages and self._pages[-1][0] == self._length - len(gap):
                self._pages[-1] = (self._length, self._pages[-1][1])
        start, end = self._length, self._length + len(text)
        self._blocks.append(Block(start, end, kind, level, intro, anchor, syntax))
        self._parts.append(text)
        self._length = end
        return start, end

    def table(self, rows: Iterable[Sequence[str]], columns: Sequence[str] = (), anchors: Iterable[str] = ()) -> None:
        """A table's header and rows. Without names of columns each row is its cells. `anchors`: one for each row."""
        self.add(row(columns), "table_header")
        anchor = iter(anchors)
        for cells in rows:
            self.add(row(cells, columns), "table_row", anchor=next(anchor, ""))

    def __bool__(self) -> bool:
        return bool(self._parts)

    def finish(
        self,
        source_id: str,
        title: str,
        url: str = "",
        language: str | None = None,
        metadata: Metadata = _NO_METADATA,
    ) -> Document:
        return Document(
            source_id=source_id,
            title=title,
            text="".join(self._parts),
            url=url,
            language=language,
            blocks=tuple(self._blocks),
            pages=tuple(self._pages),
            metadata=metadata,
        )


def row(cells: Sequence[str], columns: Sequence[str] = ()) -> str:
    """One table row, each cell with its column's name; empty cells are left out where names distinguish the others."""
    cleaned = [" ".join(cell.split()) for cell in cells]
    names = [" ".join(name.split()) for name in columns]
    if any(names):
        names += [""] * (len(cleaned) - len(names))
        named = zip(names, cleaned, strict=False)
        return " | ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
    while cleaned and not cleaned[-1]:
        cleaned.pop()
    return " | ".join(cleaned)
