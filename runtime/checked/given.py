"""Documents that are given for a check, as the passages that a search would return."""

from pathlib import Path

import msgspec

from bus.wire.messages import Block, Passage
from index.text.passages import cut
from runtime.checked.file import document_of


def passages_of(path: Path) -> list[Passage]:
    """The passages of a file, in order. Raises Unreadable, OSError."""
    document = document_of(str(path), path.read_bytes())
    return [
        Passage(
            source_id=document.source_id,
            title=document.title,
            url=document.url,
            score=1.0,
            score_type="given",
            text=each.text,
            char_start=each.char_start,
            char_end=each.char_end,
            language=each.language,
            snapshot="",
            page=each.page,
            headings=each.headings,
            blocks=tuple(Block(**msgspec.structs.asdict(block)) for block in each.blocks),
            intros=each.intros,
        )
        for each in cut(document, 0)
    ]
