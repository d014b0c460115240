"""A document as text, a line for each block: kind, level, text; then its further fields."""

import json

from index.model import Document


def lines(document: Document) -> list[str]:
    """`list_item 2 "- text"`, with `#anchor`, `(syntax)` and `<- "introduction"` where there is one."""
    written: list[str] = []
    for block in document.blocks:
        parts = [block.kind, str(block.level) if block.level else "", quoted(document.text[block.start : block.end])]
        parts += [f"({block.syntax})" if block.syntax else "", f"#{block.anchor}" if block.anchor else ""]
        if block.intro is not None:
            parts.append(f"<- {quoted(document.text[block.intro[0] : block.intro[1]])}")
        written.append(" ".join(filter(None, parts)))
    return written


def assert_sliced(document: Document) -> None:
    """Blocks are in order, do not overlap, and leave nothing out that can be seen."""
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end <= len(document.text)
        assert not document.text[end : block.start].strip()
        assert document.text[block.start : block.end].strip()
        assert block.intro is None or 0 <= block.intro[0] < block.intro[1] <= len(document.text)
        end = block.end
    assert not document.text[end:].strip()


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
