"""The visible text of Markdown and HTML for a reader and for the gate, and markers in every notation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gate.check import check_contents, check_sentence, withholds
from actors.gate.markup import without_markup
from index.text.citations import markers
from prompts.contracts import Evidence


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("the [guide](https://a.org/b_(c)?q=1#d) says", "the guide says"),
        ('the [guide](<a b.md> "Its title") says', "the guide says"),
        ("the [guide][g] and the [notes][]", "the guide and the notes"),
        ("cited [1](https://a.org) and [1][3]", "cited [1] and [1][3]"),
        ("![a logo](a.png) here[^note] and here[^1]", "here and here[^1]"),
        ("<b>bold</b> and <a href='x' title=\"y\">link</a><br/>", "bold and link"),
        ("2 < 3 and x<y and z>w", "2 < 3 and x<y and z>w"),
        ("&lt;b&gt; &amp; &#233;&nbsp;AT&T &unknown;", "<b> & é\u00a0AT&T &unknown;"),
        ("a<!-- 12 -->b", "ab"),
    ],
)
def test_without_markup(text: str, seen: str) -> None:
    assert without_markup(text) == seen


PLAIN = "The Federal Court of Canada says the rule holds & stands."
MARKED = 'The **Federal** [Court of _Canada_](https://x.org/a_(b) "Its page") says <em>the rule</em> holds &amp; stands.[^note]'


@pytest.mark.parametrize("written", [PLAIN, MARKED])
@pytest.mark.parametrize("said", [PLAIN, MARKED])
def test_a_quotation_is_compared_without_markup(said: str, written: str) -> None:
    item = Evidence(n=1, source_id="a", title="", text=written)
    assert not withholds(check_sentence(f"The text says “{said}” [1].", [item], urls=["https://x.org/a_(b)"]))
    other = said.replace("Federal", "Provincial")
    flags = check_sentence(f"The text says “{other}” [1].", [item])
    assert "fabricated_quote" in {one.kind for one in flags}


def test_copied_footnote_cites_nothing() -> None:
    said = "The text says “the rule holds[^7] for all” [1]."
    assert not withholds(
        check_sentence(said, [Evidence(n=1, source_id="a", title="", text="the rule holds[^7] for all")])
    )
    assert withholds(check_sentence(said, [Evidence(n=1, source_id="a", title="", text="the rule holds for all")]))


def test_link_title_is_no_quotation() -> None:
    item = Evidence(n=1, source_id="a", title="", text="Press the key.")
    assert not withholds(
        check_sentence('See ["Press the key"](https://e.org/7 "The title") [1].', [item], urls=["https://e.org/7"])
    )


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("| Plan | Monthly price |", "| A | 5 € [1] |"),
        ("| Offre | Coût par Mois |", "| A | 5 € [1] |"),
        ("| 요금제 | 월 가격 |", "| A | 5 € [1] |"),
    ],
)
def test_a_table_header_is_no_sentence(header: str, row: str) -> None:
    item = Evidence(n=1, source_id="a", title="", text="Plan: A | Price: 5 €\nPlan: B | Price: 6 €")
    assert check_contents(f"{header}\n|---|---|\n{row}\n", [item]) == ()
    assert withholds(check_contents(f"{header}\n|---|---|\n{row.replace('5', '7')}\n", [item]))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("So it is [1].", [(1,)]),
        ("So it is [1, 2] and [4,2].", [(1, 2), (4, 2)]),
        ("So it is [1-3].", [(1, 2, 3)]),
        ("So it is [1–3, 7].", [(1, 2, 3, 7)]),
        ("So it is [1][3].", [(1,), (3,)]),
        ("是的［１］。好【2】", [(1,), (2,)]),
        ("是的［１、２］", [(1, 2)]),
        ("نعم [١، ٣]", [(1, 3)]),
        ("نعم [٢-٤]", [(2, 3, 4)]),
        ("hidden [\u200b1\u200b2]", [(12,)]),
        ("[3-1]", [(3, 1)]),
        ("[1-999]", [(1, 999)]),
        ("[^1]", [(1,)]),
        ("see [here], [a1], [], [2024], (1), [1.5]", []),
    ],
)
def test_markers(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [marker.numbers for marker in markers(text)] == numbers


@given(st.text(alphabet="[]［】１1٢,-– a。\u200b", max_size=30))
def test_offsets_are_into_the_text(text: str) -> None:
    at = 0
    for marker in markers(text):
        assert at <= marker.start < marker.end <= len(text)
        assert text[marker.start] in "[［【〔"
        assert text[marker.end - 1] in "]］】〕"
        at = marker.end
