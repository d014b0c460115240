"""Passages with known blocks, for the tests of citations and shown text."""

from bus.wire.parts import Passage
from index.model import BlockKind, Hit
from index.readers.formats import TextBuilder, introduced
from index.text.passages import cut
from runtime.processes.served import passage_of

type Piece = tuple[BlockKind, str]


def passages(
    *pieces: Piece, title: str = "Handbook", url: str = "https://example.org/h", anchor: str = ""
) -> list[Passage]:
    """The passages of a document of these blocks, as they are retrieved; every heading gets `anchor` and its number."""
    builder = TextBuilder()
    for number, (kind, text) in enumerate(pieces, 1):
        name = f"{anchor}{number}" if anchor and kind == "heading" else ""
        builder.add(text, kind, 1 if kind in ("heading", "list_item") else 0, anchor=name)
    document = introduced(builder.finish("handbook.md", title, url))
    return [
        passage_of(
            Hit(
                source_id=one.source_id, title=one.title, url=one.url, score=0.5, score_type="fusion", text=one.text,
                char_start=one.char_start, char_end=one.char_end, language="en", snapshot="s1", headings=one.headings,
                blocks=one.blocks, intros=one.intros,
            )
        )
        for one in cut(document, 1)
    ]  # fmt: skip
