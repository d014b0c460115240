"""Units are readable slices: they never overlap, never cross a block's edge, and cover the whole text."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model import Block, BlockKind, Document
from index.readers.building import TextBuilder
from index.readers.introductions import introduced as with_introductions
from index.text.sentences import split
from index.text.units import LONGEST, introduced, units

Piece = tuple[BlockKind, str]


def document(*pieces: Piece) -> Document:
    builder = TextBuilder()
    for kind, text in pieces:
        builder.add(text, kind, 1 if kind in ("heading", "list_item") else 0)
    return with_introductions(builder.finish("a", "A"))


def told(read: Document) -> list[str]:
    return [read.text[unit.start : unit.end] for unit in units(read.text, read.blocks)]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("prose", "It is red. It is big.")], ["It is red.", "It is big."]),
        ([("heading", "Setup"), ("prose", "It is red.")], ["Setup", "It is red."]),
        (
            [("prose", "Bring:"), ("list_item", "- bread, e.g. rye. Fresh."), ("list_item", "- milk")],
            ["Bring:", "- bread, e.g. rye. Fresh.", "- milk"],
        ),
        (
            [("table_row", "Name: a. b | Use: First. Then more."), ("table_row", "Name: c | Use: None.")],
            ["Name: a. b | Use: First. Then more.", "Name: c | Use: None."],
        ),
        (
            [("prose", "It is fast. Install it:"), ("code", "  pip install x\n\n  x --go. Now"), ("prose", "Done.")],
            ["It is fast. Install it:\n\n  pip install x\n\n  x --go. Now", "Done."],
        ),
        ([("list_item", "1. Run this:"), ("code", "make")], ["1. Run this:\n\nmake"]),
        ([("list_item", "1. It is slow. Run this:"), ("code", "make")], ["1. It is slow. Run this:\n\nmake"]),
        ([("heading", "Usage"), ("code", "make"), ("code", "make all")], ["Usage", "make", "make all"]),
        ([("definition", "Refund\nMoney that is paid back.")], ["Refund\nMoney that is paid back."]),
        ([("quotation", "We came. We saw.")], ["We came.", "We saw."]),
        ([("prose", "Water is H2O"), ("prose", "2 litres a day.")], ["Water is H2O", "2 litres a day."]),
    ],
)
def test_what_a_unit_is(pieces: list[Piece], expected: list[str]) -> None:
    assert told(document(*pieces)) == expected


def test_without_blocks_units_are_sentences() -> None:
    text = "It is red. It is big."
    assert [(unit.start, unit.end) for unit in units(text)] == split(text)


def test_long_item_is_several_units() -> None:
    read = document(("list_item", "- " + "It goes on and on. " * (LONGEST // 18)))
    found = units(read.text, read.blocks)
    assert len(found) > 2
    assert {unit.kind for unit in found} == {"list_item"}


def test_whole_list_block_is_several_units() -> None:
    assert told(document(("list_item", "1. It is red.\n2. It is big."))) == ["1. It is red.", "2. It is big."]


def test_an_introduction_and_what_it_introduces() -> None:
    read = document(("prose", "Hello. Bring:"), ("list_item", "- bread"), ("list_item", "- milk"), ("prose", "Bye."))
    found = units(read.text, read.blocks)
    assert [read.text[unit.start : unit.end] for unit in introduced(found, 1)] == ["- bread", "- milk"]
    assert [introduced(found, at) for at in (0, 2, 4)] == [[], [], []]
    assert found[2].intro == (found[0].start, found[1].end)


def test_item_introduction_may_precede_the_text() -> None:
    read = document(("prose", "Bring:"), ("list_item", "- bread"))
    block = read.blocks[1]
    (unit,) = units(read.text[block.start :], read.blocks, block.start)
    assert unit.intro == (-8, -2)


KINDS: tuple[BlockKind, ...] = (
    "prose", "heading", "list_item", "table_header", "table_row", "code", "quotation", "definition",
)  # fmt: skip
pieces = st.lists(st.tuples(st.sampled_from(KINDS), st.text(alphabet="ab1 .:|\n-`환。", max_size=40)), max_size=8)


@given(pieces, st.integers(0, 30))
def test_units_are_ordered_slices_without_loss(found: list[Piece], skipped: int) -> None:
    read = document(*found)
    text = read.text[skipped:]
    cut = units(text, read.blocks, skipped) if read.blocks else []
    assert all(0 <= unit.start < unit.end <= len(text) for unit in cut)
    assert all(one.end <= other.start for one, other in itertools.pairwise(cut))
    held = {at for unit in cut for at in range(unit.start, unit.end)}
    for block in read.blocks:
        letters = [at for at in range(block.start - skipped, block.end - skipped) if at >= 0 and text[at].isalnum()]
        assert held.issuperset(letters)
    for unit in cut:
        blocks = [block for block in read.blocks if _meets(block, unit.start + skipped, unit.end + skipped)]
        assert len(blocks) == 1 or (unit.kind == "code" and len(blocks) == 2)


def _meets(block: Block, start: int, end: int) -> bool:
    return block.start < end and start < block.end
