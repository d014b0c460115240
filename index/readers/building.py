"""Build a document's text piece by piece, recording its blocks and pages."""

from index.model import Block, BlockKind, Document


class TextBuilder:
    """Separates pieces by an empty line, so that no sentence runs from one into the next."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[tuple[int, int]] = []

    def page(self, number: int) -> None:
        self._pages.append((self._length, number))

    def add(self, text: str, kind: BlockKind = "text", level: int = 0) -> None:
        text = text.strip()
        if not text:
            return
        self._blocks.append(Block(self._length, self._length + len(text), kind, level))
        self._parts.append(text + "\n\n")
        self._length += len(text) + 2

    def __bool__(self) -> bool:
        return bool(self._parts)

    def finish(self, source_id: str, title: str, url: str = "") -> Document:
        return Document(
            source_id=source_id,
            title=title,
            text="".join(self._parts),
            url=url,
            blocks=tuple(self._blocks),
            pages=tuple(self._pages),
        )


def row(cells: list[str]) -> str:
    """One table row; empty cells at the end are dropped."""
    cleaned = [" ".join(cell.split()) for cell in cells]
    while cleaned and not cleaned[-1]:
        cleaned.pop()
    return " | ".join(cleaned)
