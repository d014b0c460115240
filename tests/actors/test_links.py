"""Only sources can be clicked; nothing invisible remains; words stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.answering.cleaning import harmless
from actors.text.links import defang

SOURCE = "https://docs.example/refunds?lang=ko"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [the rules](https://evil.example/x).", "See the rules."),
        (f"See [the rules]({SOURCE}).", f"See [the rules]({SOURCE})."),
        (f"See {SOURCE}, please.", f"See {SOURCE}, please."),
        (f"<{SOURCE}>", f"<{SOURCE}>"),
        ("See https://evil.example/x, please.", "See , please."),
        ("참고:https://evil.example/x 입니다", "참고: 입니다"),
        ("www.evil.example/a 참고", " 참고"),
        ("![로고](http://evil.example/a.png?q=secret) 끝", "로고 끝"),
        ("![x][ref]\n[ref]: http://evil.example", "x\n"),
        ('<img src="x" onerror="alert(1)">مرحبا', "مرحبا"),
        ("<b>粗体</b><br/>", "粗体"),
        ("<script>alert(1)</script>ok", "ok"),
        ("<scr<script>ipt>alert(1)</script>", ""),
        ("a<!-- hidden -->b", "ab"),
        ("&lt;img src=x&gt; fin", " img src=x  fin"),
        ("java\u200bscript:alert", ""),
        ("\u202eevil\u202c ok\u2066\u2069\ufeff", "evil ok"),
        ("Put `<script>` into the `<head lang='fr'>` of it", "Put `⟨script⟩` into the `⟨head lang='fr'⟩` of it"),
        ("<hash_algorithm> names the algorithm", "⟨hash_algorithm⟩ names the algorithm"),
        ("`<img src=https://evil.example/a>`", "`⟨img src=`"),
        ("`one <b>\ntwo`", "`one \ntwo`"),
        ("5 < 6 and 7 > 3 [1]", "5 < 6 and 7 > 3 [1]"),
        ("Fait [1] [2, 3].", "Fait [1] [2, 3]."),
        ("Note: data: 5 / 6", "Note: data: 5 / 6"),
    ],
)
def test_defang(text: str, shown: str) -> None:
    assert defang(text, [SOURCE]) == shown


@given(
    st.lists(
        st.sampled_from(
            ["<", ">", "img ", "[", "]", "(", ")", "!", "http://e.x", "//", "a", "\u200b", "&lt;", "script", "/", " "]
        ),
        max_size=14,
    )
)
def test_defanging_is_idempotent_and_removes_addresses(pieces: list[str]) -> None:
    shown = defang("".join(pieces), [SOURCE])
    assert defang(shown, [SOURCE]) == shown
    assert "http://e.x" not in shown
    assert "\u200b" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Compare RefCell<T>/Rc<T>, Box<Node> and Vec<u8> [1].", None),
        ("Compare Rc<U>, T<form> and T<TextArea> [1].", "Compare Rc, T and T [1]."),
        ("See https://docs.rs/std, and [2] [1].", "See , and [2] [1]."),
        ("Write `<form action='x'>` or `Box<T>` [1].", None),
        ("Write `<form action='y'>` or `Arc<T>` [1].", "Write `⟨form action='y'⟩` or `Arc⟨T⟩` [1]."),
        ("See https://evil.example/a and Arc<U>.", "See  and Arc."),
        ("<img src=x> [std](https://docs.rs/std) ![std](https://docs.rs/std)", " std std"),
    ],
)
def test_quoted_text_stays(text: str, shown: str | None) -> None:
    source = (
        "Compare RefCell<T>/Rc<T>, Box<Node> and Vec<u8>. Compare T<form> and T<TextArea>. See https://docs.rs/std, and [2]. "
        "Write `<form action='x'>` or `Box<T>`. <img src=x> [std](https://docs.rs/std) ![std](https://docs.rs/std)"
    )
    assert harmless(text, [source], ()) == (text if shown is None else shown)


def test_page_of_a_citation_may_be_linked() -> None:
    cited = "https://example.org/fees?a=1#when"
    text = "[a](https://example.org/fees?a=1) [b](https://example.org/fees?a=1#when) [c](https://example.org/fees?a=1#other)"
    assert defang(text, [cited]) == text.replace("[c](https://example.org/fees?a=1#other)", "c")
