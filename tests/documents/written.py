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


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
