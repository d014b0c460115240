"""HTML: each thing that a page shows, as the block that it is."""

import re

import pytest
from hypothesis import example, settings
from hypothesis import given as each
from hypothesis import strategies as st

from index.readers import Unreadable
from index.readers.formats import TextBuilder
from index.readers.html import read_fragment
from tests.documents.written import assert_sliced
from tests.index.readers.office import given

KOREAN = "환불은 구매일로부터 14일 이내에 신청하실 수 있습니다."
FRENCH = "Les élèves de l'école s'inscrivent en été."


@pytest.mark.parametrize(
    ("text", "head", "encoding"),
    [
        (KOREAN, "", "utf-8"),
        (KOREAN, "", "utf-8-sig"),
        (KOREAN, "<meta charset=iso-8859-1>", "utf-8"),
        (KOREAN, "<meta charset=latin1>", "utf-16"),
        (KOREAN, "<meta charset='euc-kr'>", "euc-kr"),
        (KOREAN, '<meta http-equiv="Content-Type" content="text/html; charset=ks_c_5601-1987">', "cp949"),
        (KOREAN, "<meta charset='utf-8'>", "euc-kr"),
        (FRENCH, "", "utf-8"),
        (FRENCH, "", "latin-1"),
        (FRENCH, "<?xml version='1.0' encoding='ISO-8859-1'?>", "latin-1"),
        (FRENCH, "<meta charset=nonsense>", "utf-8"),
        ("“Dix € par élève”", "<meta charset=iso-8859-1>", "cp1252"),
    ],
)
def test_encodings(text: str, head: str, encoding: str) -> None:
    assert given(f"{head}<p>{text}</p>".encode(encoding), ".html").text == text


@pytest.mark.parametrize("html", ["<html><script>x</script></html>", "<!-- -->", "<p hidden>x"])
def test_page_without_text_has_a_reason(html: str) -> None:
    with pytest.raises(Unreadable, match="no text"):
        given(html.encode(), ".html")


@pytest.mark.parametrize(
    "around", ["<div>", "<ul><li>", "<table><tr><th>a<th>b<tr><td>1<td>", "<table><tr><td>", "<blockquote>"]
)
def test_very_deep_html_is_read(around: str) -> None:
    assert "deep down" in given((around * 500 + "deep down").encode(), ".html").text


def test_embedded_fragment_becomes_blocks() -> None:
    builder = TextBuilder()
    builder.add("Before")
    read_fragment(builder, "<details><summary>More</summary><p>Hidden at <b>first</b></p></details>")
    read_fragment(builder, "</div><!-- nothing -->")
    builder.add("After")
    assert builder.finish("a", "a").text == "Before\n\nMore\n\nHidden at first\n\nAfter"


_INLINE = ("b", "i", "code", "span", "a", "sup", "q", "em")
_BLOCK = ("p", "div", "section", "h2", "blockquote", "pre", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th",
          "thead", "caption", "figure", "figcaption", "details", "ruby", "rt", "aside", "header")  # fmt: skip


@st.composite
def trees(draw: st.DrawFn) -> str:
    """Elements in any order and depth, each text in them a word of its own."""
    count = 0

    def text() -> str:
        nonlocal count
        count += 1
        return f"w{count}w"

    def element(depth: int) -> str:
        tag = draw(st.sampled_from(_BLOCK + _INLINE))
        span = draw(st.sampled_from(("", " rowspan=2", " colspan=2", " rowspan=0")))
        inside = [
            draw(st.sampled_from((text, lambda: element(depth + 1) if depth < 6 else "", lambda: "<br>")))()
            for _ in range(3)
        ]
        return f"<{tag}{span}>{' '.join(inside)}</{tag}>"

    return " ".join([text(), element(0), text(), element(0), text()])


@example("<dl><dt>w1w <div>w2w <dd>w3w</dd> w4w</div></dt></dl>")
@each(trees())
@settings(max_examples=50)
def test_every_visible_word_is_in_ordered_blocks(html: str) -> None:
    document = given(html.encode(), ".html")
    assert_sliced(document)
    words = set(re.findall(r"w\d+w", html))
    assert set(re.findall(r"w\d+w", document.text)) == words
