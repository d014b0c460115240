"""Spans are verbatim slices at exact offsets, long enough to read, numbered in reading order."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.spans import best_first, grow, numbered, picked, share_held, window
from actors.evidence.thresholds import FULL_SPAN_CHARS, SHORT_SPAN_CHARS, WINDOW_CHARS
from bus.wire.parts import Passage, Span
from prompts.contracts import PickedSpan
from tests.message_samples import OPENING, REFUNDS, passage

LETTERS = "ab. \n환불은다。退款，ة؟ é14[1]!?"
texts = st.text(alphabet=LETTERS, min_size=1, max_size=600)


@st.composite
def passages(draw: st.DrawFn) -> list[Passage]:
    made: list[Passage] = []
    for n in range(draw(st.integers(1, 4))):
        text, start = draw(texts), draw(st.integers(0, 500))
        score = draw(st.sampled_from([0.1, 0.5, 0.9]))
        made.append(passage(f"d{n % 2}.md", text, char_start=start, char_end=start + len(text), score=score))
    return made


def stands_in(span: Span, among: list[Passage]) -> bool:
    """Whether the span is a verbatim slice of a passage of its document, at its offsets."""
    return any(
        p.source_id == span.source_id
        and p.char_start <= span.source_start
        and span.source_end <= p.char_end
        and p.text[span.source_start - p.char_start : span.source_end - p.char_start] == span.text
        for p in among
    )


@given(texts, st.data())
def test_grown_slice_contains_the_old_one(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = grow(text, start, end)
    assert 0 <= first <= start < end <= last <= len(text)
    if end - start >= SHORT_SPAN_CHARS:
        assert (first, last) == (start, end)


@given(st.text(alphabet="ab c", min_size=2 * FULL_SPAN_CHARS, max_size=400), st.data())
def test_without_sentences_a_slice_grows_to_the_limit(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(FULL_SPAN_CHARS, max(FULL_SPAN_CHARS, len(text) - FULL_SPAN_CHARS)))
    first, last = grow(text, start, min(len(text), start + 10))
    assert last - first <= 2 * FULL_SPAN_CHARS


@given(passages(), st.data())
def test_every_span_is_a_verbatim_slice(found: list[Passage], data: st.DataObject) -> None:
    picks = []
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(found) - 1))
        start = data.draw(st.integers(0, len(found[at].text) - 1))
        end = data.draw(st.integers(start + 1, len(found[at].text)))
        picks.append(PickedSpan(passage=at + 1, text=found[at].text[start:end]))
    spans = numbered(found, picked(found, picks))
    assert all(stands_in(span, found) for span in spans)
    assert [span.n for span in spans] == list(range(1, len(spans) + 1))
    sources = [span.source_id for span in spans]
    assert [s for n, s in enumerate(sources) if n == 0 or sources[n - 1] != s] == list(dict.fromkeys(sources))
    for before, after in itertools.pairwise(spans):
        if before.source_id == after.source_id:
            assert (before.source_start, before.source_end) <= (after.source_start, after.source_end)


@given(passages(), texts)
def test_the_window_is_one_verbatim_slice(found: list[Passage], query: str) -> None:
    (span,) = numbered(found, window(found, query))
    assert stands_in(span, found)
    assert 0 < len(span.text) <= WINDOW_CHARS


@pytest.mark.parametrize(
    ("pick", "spans"),
    [
        (PickedSpan(passage=1, text="Refunds are paid within 14 days of the return."), 1),
        (PickedSpan(passage=1, text="  Opened software cannot be returned.\n"), 1),
        (PickedSpan(passage=1, text="   "), 0),
        (PickedSpan(passage=0, text="Refunds"), 0),
        (PickedSpan(passage=2, text="Refunds"), 0),
        (PickedSpan(passage=-1, text="Refunds"), 0),
        (PickedSpan(passage=2, text="Refunds are paid within 14 days"), 1),
        (PickedSpan(passage=1, text="Refunds are\npaid  within 14 days"), 1),
    ],
)
def test_pick_needs_words_and_a_passage(pick: PickedSpan, spans: int) -> None:
    assert len(picked([passage()], [pick])) == spans


ROW = "Mars\nRefunds are paid within 30 days of the sale.\nThe fee of 617,94 euros for the room is due on 5 May."
BULLETS = "- the deposit rises to 250 euros\n- the excess rises from 350 to 500 euros\n- the key costs 45 euros"


@pytest.mark.parametrize(
    ("text", "pick", "evidence"),
    [
        (REFUNDS, "Refunds are paid within 30 days of the return.", REFUNDS[: REFUNDS.index("The")].strip()),
        (ROW, "The fee of 617,99 euros for the room is due on 5 May.", ROW[ROW.index("The fee") :]),
        (BULLETS, BULLETS.replace("the excess rises from 350", "the excess goes up from 350"), BULLETS[2:]),
        (BULLETS, "45 euros for a lost key", BULLETS[BULLETS.index("- the key") :]),
        (REFUNDS, "Les remboursements sont versés en deux semaines.", REFUNDS),
    ],
    ids=["another number", "digit miscopied", "words of one bullet", "reworded", "translated"],
)
def test_miscopied_pick_is_the_text_that_it_means(text: str, pick: str, evidence: str) -> None:
    (at, start, end), *others = picked(
        [passage("other.md", OPENING), passage(text=text)], [PickedSpan(passage=2, text=pick)]
    )
    assert (at, others) == (1, [])
    assert evidence in text[start:end]
    assert len(text[start:end]) <= max(len(evidence), 2 * FULL_SPAN_CHARS)


@pytest.mark.parametrize(
    ("text", "part", "grown"),
    [
        (REFUNDS, "14 days", "Refunds are paid within 14 days of the return. The shipping fee of 3,000 won is not refunded."),
        (OPENING, "at ten", "The shop opens at nine on weekdays. On Saturdays it opens at ten and closes at two."),
        ("환불은 14일 안에 됩니다.", "14일", "환불은 14일 안에 됩니다."),
    ],
)  # fmt: skip
def test_short_slice_grows_at_sentence_ends(text: str, part: str, grown: str) -> None:
    at = text.index(part)
    start, end = grow(text, at, at + len(part))
    assert text[start:end] == grown


def test_documents_are_ordered_by_their_best_slice() -> None:
    low, high = passage("low.md", REFUNDS, score=0.2), passage("high.md", OPENING, score=0.9)
    spans = numbered([low, high], [(1, 36, 83), (0, 0, 46), (1, 0, 35)])
    assert [(s.n, s.source_id, s.source_start) for s in spans] == [
        (1, "high.md", 100),
        (2, "high.md", 136),
        (3, "low.md", 100),
    ]


def test_answering_span_can_come_first() -> None:
    low = passage()
    spans = best_first(numbered([low], [(0, 0, 20), (0, 30, 45)]), low, 32)
    assert [(span.n, span.source_start) for span in spans] == [(1, 30 + low.char_start), (2, low.char_start)]


def test_overlapping_slices_become_one_span() -> None:
    spans = numbered([passage()], [(0, 0, 46), (0, 20, 60), (0, 30, 40)])
    assert [(s.source_start, s.source_end, s.text) for s in spans] == [(100, 160, REFUNDS[:60])]


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("When does it open on Saturdays?", "opening.md"),
        ("Is the shipping fee refunded?", "refunds.md"),
        ("xyzzy", "refunds.md"),
    ],
)
def test_window_has_the_most_query_words(query: str, source: str) -> None:
    (span,) = numbered(
        [passage(), passage("opening.md", OPENING)], window([passage(), passage("opening.md", OPENING)], query)
    )
    assert span.source_id == source


@pytest.mark.parametrize(
    ("query", "text", "least", "most"),
    [
        ("refunds paid", REFUNDS, 1.0, 1.0),
        ("환불 기간", "환불은 기간 안에", 1.0, 1.0),
        ("holiday calendar", REFUNDS, 0.0, 0.0),
        ("", REFUNDS, 0.0, 0.0),
        ("refunds holiday", REFUNDS, 0.4, 0.6),
    ],
)
def test_the_share_of_terms_held(query: str, text: str, least: float, most: float) -> None:
    assert least <= share_held(query, text) <= most
