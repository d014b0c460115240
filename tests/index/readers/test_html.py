"""HTML: each thing that a page shows, as the block that it is."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model import Document, Metadata
from index.readers import Source, Unreadable, read
from index.readers.formats import TextBuilder
from index.readers.html import read_fragment
from tests.index.readers.office import blocks


def page(html: str | bytes, suffix: str = ".html") -> Document:
    return read(Source(html.encode() if isinstance(html, str) else html, "p.html", "p", suffix))


def test_page_has_its_visible_text() -> None:
    document = page(
        """<html><head><title> Rates &amp; dates </title><link rel="canonical" href="https://example.org/r">
        <style>p{}</style></head><body><nav>Home</nav><h1>Rates</h1><p>One <b>bold</b> wo<wbr>rd.<script>x()</script></p>
        <ul><li>first<ul><li>inner</li></ul></li><li>second</li></ul>
        <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><div>Loose end</div></body></html>"""
    )
    assert (document.title, document.url) == ("Rates & dates", "https://example.org/r")
    assert blocks(document) == [
        ("heading", "Rates"),
        ("prose", "One bold word."),
        ("list_item", "- first"),
        ("list_item", "- inner"),
        ("list_item", "- second"),
        ("table_header", "A | B"),
        ("table_row", "A: 1 | B: 2"),
        ("prose", "Loose end"),
    ]


BLOCKS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a line break is a line's end, two are a paragraph's": (
        "<p>one<br>two<br><br>three", [("prose", "one\ntwo"), ("prose", "three")],
    ),
    "several paragraphs of an item are one block, its code is code": (
        "<ol start=3><li><p>First<p>more<pre>a\n b</pre>after<li>next</ol>",
        [("list_item", "3. First\nmore"), ("code", "a\n b"), ("prose", "after"), ("list_item", "4. next")],
    ),
    "numbers as the page shows them": (
        "<ol reversed><li>c<li>b</ol><ol type=i><li>x<li value=9>y</ol><ol type=A><li>z</ol>",
        [("list_item", f"{text}") for text in ("2. c", "1. b", "i. x", "ix. y", "A. z")],
    ),
    "a checked item": (
        "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
        [("list_item", "- [x] done"), ("list_item", "- [ ] open")],
    ),
    "terms with their descriptions": (
        "<dl><dt>A<dt>B<dd>both<dd>again<dt>C<dd><ul><li>c</ul><dt>D</dl>",
        [("definition", "A, B: both\nagain"), ("definition", "C:"), ("list_item", "- c"), ("definition", "D")],
    ),
    "merged cells say what they hold in every row and column": (
        """<table><caption>Fees</caption><tr><th rowspan=2>Course<th colspan=2>Fee<tr><th>day<th>night
        <tr><td rowspan=2>Welding<td>1<td>2<tr><td colspan=2>free<tr><td colspan=3>closed in May</table>""",
        [
            ("prose", "Fees"),
            ("table_header", "Course | Fee day | Fee night"),
            ("table_row", "Course: Welding | Fee day: 1 | Fee night: 2"),
            ("table_row", "Course: Welding | Fee day: free | Fee night: free"),
            ("table_row", "closed in May"),
        ],
    ),
    "a header in the first column only": (
        "<table><tr><th>Name<td>Ada<tr><th>Born<td>1815<td>London</table>",
        [("table_row", "Name: Ada"), ("table_row", "Born: 1815 | London")],
    ),
    "no header": ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", [("table_row", "1 | 2"), ("table_row", "3 | 4")]),
    "a table in a cell is said in its row, code in a cell stands below": (
        "<table><tr><th>A<th>B<tr><td>1<td>see <table><tr><th>x<th>y<tr><td>2<td>3</table><pre>c\nd</pre> end</table>",
        [("table_header", "A | B"), ("table_row", "A: 1 | B: see x: y; 2: 3 end"), ("code", "c\nd")],
    ),
    "a table of three columns in a cell": (
        "<table><tr><th>A<th>B<tr><td>1<td><table><tr><th>x<th>y<th>z<tr><td>2<td>3<td>4<tr><td colspan=3>all</table></table>",
        [("table_header", "A | B"), ("table_row", "A: 1 | B: x: 2, y: 3, z: 4; x: all")],
    ),
    "a table that arranges the page": (
        "<table><tr><td><h2>Left</h2>text<td><table><tr><td>deep</table></table>",
        [("heading", "Left"), ("prose", "text"), ("prose", "deep")],
    ),
    "the foot of a table is its end, and no column is made up": (
        "<table><tfoot><tr><td colspan=9>sum<td>3<tbody><tr><td colspan=9>a<td>3</table>",
        [("table_row", "a | 3"), ("table_row", "sum | 3")],
    ),
    "quotations with who said it": (
        "<blockquote><p>Wear a helmet.<footer>The foreman</footer></blockquote>",
        [("quotation", "Wear a helmet."), ("quotation", "The foreman")],
    ),
    "footnotes": (
        """<p>Paid<sup><a href="#n1">1</a></sup> daily.</p><footer class="footnotes"><ol><li id=n1>In cash. <a href="#r">↩</a>
        </ol></footer>""",
        [("prose", "Paid[1] daily."), ("prose", "[1] In cash.")],
    ),
    "powers and indices": ("<p>10<sup>-6</sup> m<sup>2</sup> H<sub>2</sub>O", [("prose", "10^-6 m2 H2O")]),
    "reading aids stand after the word": (
        "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>です", [("prose", "漢字(かんじ)です")],
    ),
    "vertical text": ('<p style="writing-mode: vertical-rl">縦書きの<br>文章', [("prose", "縦書きの\n文章")]),
    "right to left in the order of reading": (
        '<p dir="rtl">السعر <bdo dir="ltr">100</bdo> دينار</p>', [("prose", "السعر 100 دينار")],
    ),
    "pictures that say something": (
        """<figure><img alt="Parts of a furnace" src=f.png><figcaption>Figure 1</figcaption></figure>
        <a href="/"><img alt="Logo"></a><img alt="IMG_12.JPG"><a href="big.png"><img alt="The gate"></a>""",
        [("prose", "Parts of a furnace"), ("prose", "Figure 1"), ("prose", "The gate")],
    ),
    "formulas": (
        '<p>so <math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math> and <math><mi>y</mi></math>',
        [("prose", "so x^2 and y")],
    ),
    "what opens": ("<details><summary>More</summary>inner</details>", [("prose", "More"), ("prose", "inner")]),
    "templates that a script shows": (
        """<script type="text/x-handlebars-template"><h2>Hello {{name}}</h2></script><script>no()</script>
        <script type="text/markdown">* item</script><template shadowrootmode=open><p>shown</template><template>not</template>""",
        [("heading", "Hello"), ("list_item", "- item"), ("prose", "shown")],
    ),
    "what nobody sees": (
        """<p>seen</p><p hidden>1<p aria-hidden=true>2<p style="display: none">3<noscript>4</noscript>
        <div class="sr-only">5</div><div id="cookie-banner">6</div><ul class="nav"><li><a href=x>7</a></ul>
        <p hidden=until-found>found""",
        [("prose", "seen"), ("prose", "found")],
    ),
    "a page in its header, a form around it, a question on a button": (
        "<header>top</header><form><h2><button>Why?</button></h2>so<button>Send</button></form><aside>side</aside>",
        [("prose", "top"), ("heading", "Why?"), ("prose", "so"), ("prose", "side")],
    ),
    "a page that is all menu": ("<nav><ul><li>Home</ul></nav>", [("list_item", "- Home")]),
    "inline code keeps its backticks": (
        "<h2><code>f()</code> now</h2><p>Call <code>f`</code><code></code>",
        [("heading", "`f()` now"), ("prose", "Call ``f```")],
    ),
    "numbered lines of code": (
        """<table class="highlighttable"><tr><td class="linenos"><pre>1
        2</pre><td><pre>a<br>b</pre></table>""",
        [("code", "a\nb")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name: str) -> None:
    html, expected = BLOCKS[name]
    assert blocks(page(html)) == expected


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<h2 id=own>H</h2>", "own"),
        ("<section id=around><h2>H</h2></section>", "around"),
        ("<section id=around><div><h2>H</h2></div></section>", "around"),
        ("<section id=around><p>x</p><div><h2>H</h2></div></section>", ""),
        ("<h2><a name=inside></a>H</h2>", "inside"),
        ("<h2>H<a href='#link'>¶</a></h2>", "link"),
        ("<p><a id=before></a></p><h2>H</h2>", "before"),
        ("<h2>H</h2>", ""),
    ],
)
def test_anchor_of_a_heading(html: str, anchor: str) -> None:
    (heading,) = [block for block in page(html).blocks if block.kind == "heading"]
    assert heading.anchor == anchor


@pytest.mark.parametrize(
    ("html", "syntax"),
    [
        ("<pre><code class='language-sh'>x</code></pre>", "sh"),
        ("<pre class='lang-py other'>x</pre>", "py"),
        ("<div class='highlight-python3 notranslate'><div class=highlight><pre>x</pre></div></div>", "python3"),
        ("<div class='highlight highlight-source-toml'><pre>x</pre></div>", "toml"),
        ("<pre class='sourceCode haskell'>x</pre>", "haskell"),
        ("<pre class='brush: java'>x</pre>", "java"),
        ("<pre class='language-none'>x</pre>", ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_language_of_code(html: str, syntax: str) -> None:
    assert [block.syntax for block in page(html).blocks] == [syntax]


def test_item_depth_and_introduction() -> None:
    document = page("<p>Bring:<ul><li>tools<ol><li>hammer</ol><li>gloves</ul>")
    found = [
        (block.level, document.text[slice(*block.intro)])
        for block in document.blocks
        if block.kind == "list_item" and block.intro
    ]
    assert found == [(1, "Bring:"), (2, "- tools"), (1, "Bring:")]


def test_metadata() -> None:
    document = page(
        """<html lang="pt-BR"><head><meta name=Author content="Ada L."><meta property="article:author" content="https://a.b/c">
        <meta property="article:published_time" content="2024-03-01T10:00:00Z"><meta name="keywords" content="welding, fees">
        <meta property="article:tag" content="fees"><meta property="og:title" content="Fees"><meta name="version" content="2.1">
        <meta property="og:url" content="https://example.org/fees"></head><body>x"""
    )
    assert (document.title, document.url, document.language) == ("Fees", "https://example.org/fees", "pt")
    assert document.metadata == Metadata(
        author="Ada L.", date="2024-03-01T10:00:00+00:00", version="2.1", tags=("welding", "fees")
    )


@pytest.mark.parametrize(
    ("data", "date", "author"),
    [
        ('{"@type":"Article","headline":"H","author":{"name":"Ada"},"dateModified":"2024-05-06"}', "2024-05-06", "Ada"),
        ('{"@graph":[{"@type":"Site"},{"headline":"H","author":["A","B"],"datePublished":"2023"}]}', "", "A, B"),
        ("[1, null]", "", ""),
        ("{broken", "", ""),
    ],
)
def test_linked_data(data: str, date: str, author: str) -> None:
    metadata = page(f'<script type="application/ld+json">{data}</script>x').metadata
    assert (metadata.date, metadata.author) == (date, author)


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
    assert page(f"{head}<p>{text}</p>".encode(encoding)).text == text


@pytest.mark.parametrize("html", ["<html><script>x</script></html>", "<!-- -->", "<p hidden>x"])
def test_page_without_text_has_a_reason(html: str) -> None:
    with pytest.raises(Unreadable, match="no text"):
        page(html)


@pytest.mark.parametrize(
    "around", ["<div>", "<ul><li>", "<table><tr><th>a<th>b<tr><td>1<td>", "<table><tr><td>", "<blockquote>"]
)
def test_very_deep_html_is_read(around: str) -> None:
    assert "deep down" in page(around * 500 + "deep down").text


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


@given(trees())
@settings(max_examples=50)
def test_every_visible_word_is_in_ordered_blocks(html: str) -> None:
    document = page(html)
    ends = [0, *(block.end for block in document.blocks)]
    assert all(end <= block.start < block.end for end, block in zip(ends, document.blocks, strict=False))
    outside = [document.text[end : block.start] for end, block in zip(ends, document.blocks, strict=False)]
    assert not "".join(outside).strip()
    assert ends[-1] == len(document.text)
    words = set(re.findall(r"w\d+w", html))
    assert set(re.findall(r"w\d+w", document.text)) == words
