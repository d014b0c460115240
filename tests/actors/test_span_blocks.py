"""A citation is complete: picks grow to the unit they touch, with its introduction inside or next to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.prompt_evidence import chunks_of, evidence_of
from actors.evidence.spans import numbered, picked, window
from actors.evidence.thresholds import LIST_SPAN_CHARS
from bus.wire.parts import Passage, Span
from index.model import BlockKind
from index.text.units import units
from prompts.contracts import PickedSpan
from tests.actors.blocks import Piece, passages

GUIDE: tuple[Piece, ...] = (
    ("heading", "Install"),
    ("prose", "It runs on every system that has a shell and some memory. Install the tool from the package index:"),
    ("code", "pip install tool\n\ntool --version. Now"),
    ("heading", "Options"),
    ("prose", "The tool takes these options:"),
    ("list_item", "- `--fast` makes it quicker than it was before. It needs more memory than it had, and says so when it starts."),
    ("list_item", "- `--quiet` says nothing at all, which is what most people want from a tool that works as it should do."),
    ("heading", "Prices"),
    ("prose", "Prices by plan:"),
    ("table_header", "Plan | Price | Note"),
    ("table_row", "Plan: Basic | Price: 5 | Note: No support. Cancel at any time."),
    ("table_row", "Plan: Pro | Price: 9 | Note: Support by mail."),
)  # fmt: skip


def spans(*texts: str, of: tuple[Piece, ...] = GUIDE) -> tuple[Span, ...]:
    found = passages(*of, anchor="h")
    picks = [PickedSpan(passage=n, text=text) for text in texts for n, p in enumerate(found, 1) if text in p.text][:1]
    return numbered(found, picked(found, picks))


@pytest.mark.parametrize(
    ("pick", "text", "block", "intro", "heading"),
    [
        ("--version", "Install the tool from the package index:\n\npip install tool\n\ntool --version. Now", "code", "",
         "Install"),
        ("No support", "Plan: Basic | Price: 5 | Note: No support. Cancel at any time.", "table_row", "Prices by plan:",
         "Prices"),
        ("It needs more", f"The tool takes these options:\n\n{GUIDE[5][1]}", "list_item", "", "Options"),
        ("says nothing", GUIDE[6][1], "list_item", "The tool takes these options:", "Options"),
        ("every system", "It runs on every system that has a shell and some memory.", "prose", "", "Install"),
    ],
)  # fmt: skip
def test_a_pick_grows_to_the_whole(pick: str, text: str, block: str, intro: str, heading: str) -> None:
    (span,) = spans(pick)
    assert (span.text, span.block, span.intro, span.headings) == (text, block, intro, (heading,))


def test_list_is_cited_with_its_introduction() -> None:
    (span,) = spans("takes these options")
    assert span.text.startswith("The tool takes these options:")
    assert span.text.endswith("as it should do.")


def test_long_list_is_cited_as_far_as_it_fits() -> None:
    items: list[Piece] = [("list_item", f"- Item {n}: {'word ' * 20}end {n}.") for n in range(12)]
    (span,) = spans("Bring these things:", of=(("prose", "Bring these things:"), *items))
    assert span.text.endswith(".")
    assert LIST_SPAN_CHARS - 130 < len(span.text) <= LIST_SPAN_CHARS


def test_heading_is_no_evidence_but_its_text_is() -> None:
    (span,) = spans("Prices")
    assert span.text.startswith("Prices by plan:\n\nPlan | Price | Note\nPlan: Basic")


def test_address_opens_the_section_of_the_span() -> None:
    assert [span.url for pick in ("every system", "says nothing") for span in spans(pick)] == [
        "https://example.org/h#h1",
        "https://example.org/h#h4",
    ]


def test_earlier_introduction_accompanies_the_span() -> None:
    items: list[Piece] = [("list_item", f"- Thing {n}: {'word ' * 30}end {n}.") for n in range(20)]
    found = passages(("prose", "Bring these things:"), *items)
    assert len(found) > 1
    last = len(found)
    (span,) = numbered(found, picked(found, [PickedSpan(passage=last, text="end 19")]))
    assert span.text.startswith("- Thing 19")
    assert span.intro == "Bring these things:"
    (evidence,) = evidence_of((span,))
    assert (evidence.intro, evidence.units[0].intro) == (span.intro, span.intro)
    assert chunks_of(found, to_model=False)[-1].intro == span.intro


def test_window_is_complete_and_stays_in_its_section() -> None:
    found = passages(*GUIDE)
    (span,) = numbered(found, window(found, "Which plan has support by mail?"))
    assert span.text.endswith("Support by mail.")
    assert "as it should do" not in span.text


KINDS: tuple[BlockKind, ...] = ("prose", "heading", "list_item", "table_header", "table_row", "code", "definition")
documents = st.lists(
    st.tuples(st.sampled_from(KINDS), st.text(alphabet="ab. :|\n-é環", max_size=90)), min_size=1, max_size=9
)


@given(documents, st.data())
def test_span_begins_and_ends_with_a_unit(pieces: list[Piece], data: st.DataObject) -> None:
    found = passages(*pieces)
    if not found:
        return
    at = data.draw(st.integers(0, len(found) - 1))
    start = data.draw(st.integers(0, len(found[at].text) - 1))
    end = data.draw(st.integers(start + 1, len(found[at].text)))
    slices = picked(found, [PickedSpan(passage=at + 1, text=found[at].text[start:end])]) or window(found, "a b")
    for span in numbered(found, slices):
        (passage,) = [p for p in found if p.char_start <= span.source_start and span.source_end <= p.char_end][:1]
        assert passage.text[span.source_start - passage.char_start : span.source_end - passage.char_start] == span.text
        assert _is_whole(passage, span)


def _is_whole(passage: Passage, span: Span) -> bool:
    cut = [unit for unit in units(passage.text, passage.blocks, passage.char_start) if unit.answers]
    first, last = span.source_start - passage.char_start, span.source_end - passage.char_start
    return not cut or (any(unit.start == first for unit in cut) and any(unit.end == last for unit in cut))
