"""An answer shown in pieces is as harmless, and numbered the same, as the answer shown whole; only sources can be clicked."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.answering.outgoing import harmless
from actors.text.links import defang
from actors.text.numbering import Numbering, as_evidence, numbered
from actors.text.safe_stream import SafeStream
from index.text.citations import fences, markers, strip_markers

SOURCE = "https://ok.example/a"
LINES = (Path(__file__).parents[1] / "prompts/injections.jsonl").read_text(encoding="utf-8").splitlines()
TEXTS = [
    *(json.loads(line)["text"] for line in LINES),
    "Call 010-1234-5678 or +82 10 1234 5678, mail kim.lee@example.org, card 4111 1111 1111 1111.",
    f"See [the rules]({SOURCE}) [1]. And [x](https://evil.example/y(1)) ![i](http://e.example/i.png) end. a < b, 5 > 3!",
    "It costs 1,000 won (5 %) [2][3].\nNext line <b>bold</b> &amp; more &#x41; done.\n[ref]: http://evil.example\n[1]: fine",
]


TEXTS += [
    "Run [1]:\n\n```html\n<b>[x](http://e.example)</b> & [open\n\n<!-- a -->\n```\nThen <i>go</i> on.",
    "Not a fence: ```\n<b>\n```\n and ``<i>`` [x](http://e.example).\n```\n<b> never closed",
]


def clean(text: str) -> str:
    """As an answer's text is cleaned, with all code taken for copied."""
    pieces, at = [], 0
    for fence in fences(text):
        pieces += [defang(text[at : fence.start], [SOURCE]), text[fence.start : fence.end]]
        at = fence.end
    return "".join([*pieces, defang(text[at:], [SOURCE])])


def shown(pieces: list[str]) -> str:
    flow = SafeStream(clean)
    return "".join([*(flow.feed(piece) for piece in pieces), flow.finish()])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("text", TEXTS)
def test_in_pieces_as_when_whole(text: str, size: int) -> None:
    assert shown([text[at : at + size] for at in range(0, len(text), size)]) == clean(text)


@settings(max_examples=150, derandomize=True)
@given(st.text(alphabet="a1 -.[](){}<>!&#:/@\nh", max_size=60), st.integers(1, 5))
def test_nothing_in_the_stream_is_clickable(text: str, size: int) -> None:
    told = shown([text[at : at + size] for at in range(0, len(text), size)])
    assert "](h" not in told
    assert "//h" not in told


def test_plain_words_do_not_wait_for_the_end() -> None:
    flow = SafeStream(clean)
    said = [flow.feed(piece) for piece in ("The shop ", "opens at ", "nine on ", "weekdays")]
    assert "".join(said) == "The shop opens at nine on "[: len("".join(said))]
    assert len("".join(said)) >= len("The shop opens at ")


FIVE = frozenset(range(1, 6))
ANY = range(1000)


@pytest.mark.parametrize(
    ("written", "shown", "cited"),
    [
        ("A [1]. B [2].", "A [1]. B [2].", (1, 2)),
        ("A [4]. B [2]. C [4].", "A [1]. B [2]. C [1].", (4, 2)),
        ("A [4, 2]. B [2,3].", "A [1, 2]. B [2,3].", (4, 2, 3)),
        ("A [3-5].", "A [1-3].", (3, 4, 5)),
        ("A [2]. B [1–3].", "A [1]. B [1–3].", (2, 1, 3)),
        ("A [2]. B [4-5].", "A [1]. B [2, 3].", (2, 4, 5)),
        ("A［４］。B【2、3】", "A［１］。B【2、3】", (4, 2, 3)),
        ("أ [٤، ٢]. ب [٢].", "أ [١، ٢]. ب [٢].", (4, 2)),
        ("A[^4].", "A[^1].", (4,)),
        ("A [9]. B [3].", "A. B [1].", (3,)),
        ("A [3, 9] b.", "A [1] b.", (3,)),
        ("`a[4]` says A [4].", "`a[4]` says A [1].", (4,)),
        ("```\na[4]\n```\nA [4].", "```\na[4]\n```\nA [1].", (4,)),
        ("It's 5` long [4] and 3` wide.", "It's 5` long [4] and 3` wide.", ()),
        ("[2024] and [ x ] and [", "[2024] and [ x ] and [", ()),
        ("", "", ()),
    ],
)
def test_numbers_are_those_of_reading_order(written: str, shown: str, cited: tuple[int, ...]) -> None:
    assert numbered(written, FIVE) == (shown, cited)
    assert numbered(written, FIVE, active=False) == (written, ())


TEXT = st.lists(
    st.sampled_from(
        [
            "[1]", "[2]", "[4, 2]", "[3-5]", "［５］", "[٤]", "[", "]", "`", "```", "\n", " ", "a", "a.", "환불", "12", "-",
            ",",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(TEXT, st.data())
def test_pieces_are_numbered_like_the_whole(text: str, data: st.DataObject) -> None:
    numbering, shown, at = Numbering(ANY), "", 0
    while at < len(text):
        size = data.draw(st.integers(1, 4))
        shown += numbering.feed(text[at : at + size])
        at += size
    shown += numbering.finish()
    whole, cited = numbered(text, ANY)
    assert markers(shown) == markers(whole)
    assert tuple(numbering.cited) == cited
    numbers = list(dict.fromkeys(n for marker in markers(whole) for n in marker.numbers))
    assert numbers == list(range(1, len(numbers) + 1))


@given(TEXT)
def test_the_way_back(text: str) -> None:
    known = numbered(text, ANY)
    back = as_evidence(*known)
    assert strip_markers(back) == strip_markers(text)
    assert [sorted(one.numbers) for one in markers(back)] == [sorted(one.numbers) for one in markers(text)]


def test_resumed_text_continues_the_numbers() -> None:
    first = Numbering(FIVE)
    shown = first.feed("A [4]. B [2]. ")
    second = Numbering(FIVE, first.cited)
    assert shown + second.feed("C [5, 4].") == "A [1]. B [2]. C [1, 3]."


LINKED = "https://docs.example/refunds?lang=ko"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [the rules](https://evil.example/x).", "See the rules."),
        (f"See [the rules]({LINKED}).", f"See [the rules]({LINKED})."),
        (f"See {LINKED}, please.", f"See {LINKED}, please."),
        (f"<{LINKED}>", f"<{LINKED}>"),
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
        ("wordwordwordwordwordhttp://e.x", "wordwordwordwordword"),
    ],
)
def test_defang(text: str, shown: str) -> None:
    assert defang(text, [LINKED]) == shown


@given(
    st.lists(
        st.sampled_from(
            ["<", ">", "img ", "[", "]", "(", ")", "!", "http://e.x", "//", "a", "\u200b", "&lt;", "script", "/", " "]
        ),
        max_size=14,
    )
)
def test_defanging_is_idempotent_and_removes_addresses(pieces: list[str]) -> None:
    shown = defang("".join(pieces), [LINKED])
    assert defang(shown, [LINKED]) == shown
    assert "http://e.x" not in shown
    assert "\u200b" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Compare RefCell<T>/Rc<T>, Box<Node> and Vec<u8> [1].", None),
        ("Compare Rc<U>, T<form> and T<TextArea> [1].", "Compare Rc, T and T [1]."),
        ("See https://docs.rs/std, <https://docs.rs/std> and [2] [1].", None),
        ("See https://docs.rs/std/x, https://docs.rs and https://docs.rs/st [1].", "See ,  and  [1]."),
        ("Write to <ann@docs.rs> or <bob@docs.rs> [1].", "Write to <ann@docs.rs> or  [1]."),
        ("Click javascript:alert or ftp://docs.rs/a [1].", "Click  or  [1]."),
        ("Open \x1b]8;;https://docs.rs/c\x07here\x1b]8;;\x07 [1].", "Open \x1b]8;;]8;;\x07 [1]."),
        ("Write `<form action='x'>` or `Box<T>` [1].", None),
        ("Write `<form action='y'>` or `Arc<T>` [1].", "Write `⟨form action='y'⟩` or `Arc⟨T⟩` [1]."),
        ("See https://evil.example/a and Arc<U>.", "See  and Arc."),
        ("<img src=x> [std](https://docs.rs/std) ![std](https://docs.rs/std)", " std std"),
    ],
)
def test_quoted_text_stays(text: str, shown: str | None) -> None:
    source = (
        "Compare RefCell<T>/Rc<T>, Box<Node> and Vec<u8>. Compare T<form> and T<TextArea>. See https://docs.rs/std, and [2]. "
        "Write `<form action='x'>` or `Box<T>`. <img src=x> [std](https://docs.rs/std) ![std](https://docs.rs/std) "
        "Write to <ann@docs.rs>. Click javascript:alert or ftp://docs.rs/a. "
        "Open \x1b]8;;https://docs.rs/c\x07here\x1b]8;;\x07."
    )
    assert harmless(text, [source], ()) == (text if shown is None else shown)


def test_page_of_a_citation_may_be_linked() -> None:
    cited = "https://example.org/fees?a=1#when"
    text = "[a](https://example.org/fees?a=1) [b](https://example.org/fees?a=1#when) [c](https://example.org/fees?a=1#other)"
    assert defang(text, [cited]) == text.replace("[c](https://example.org/fees?a=1#other)", "c")
