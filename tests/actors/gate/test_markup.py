"""What a reader sees of Markdown and HTML, and what the gate makes of it."""

import pytest

from actors.gate.check import check_answer, check_sentence, withholds
from actors.gate.markup import without_markup
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
    ("header", "row"), [("| Plan | Monthly price |", "| A | 5 € [1] |"), ("| 요금제 | 월 가격 |", "| A | 5 € [1] |")]
)
def test_a_table_header_is_no_sentence(header: str, row: str) -> None:
    item = Evidence(n=1, source_id="a", title="", text="Plan: A | Price: 5 €\nPlan: B | Price: 6 €")
    assert check_answer(f"{header}\n|---|---|\n{row}\n", [item]) == ()
    assert withholds(check_answer(f"{header}\n|---|---|\n{row.replace('5', '7')}\n", [item]))
