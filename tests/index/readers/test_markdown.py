"""Markdown and MDX: what a person sees of the rendered page, as the blocks that it is made of."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token

from index.model import Document
from index.readers import Source, read
from index.readers.markdown import read_markdown
from index.readers.markdown_inline import Anchors, InlineText, is_quick
from index.readers.markdown_syntax import parser, read_lines


def markdown(text: str, suffix: str = ".md") -> Document:
    return read(Source(text.encode(), f"a{suffix}", "the file", suffix))


def blocks(text: str, suffix: str = ".md") -> list[tuple[str, str]]:
    document = markdown(text, suffix)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


PAGE = """---
title: "Handbook"
url: https://example.org/handbook
---
# Welcome

Intro **text**
over two [lines](https://example.org).

## Fees

The fees are:

| Course | Fee |
|---|---|
| Welding \\| Iron | `320` |

> Said by *her*.

```js {3-4}
code();
```
"""


def test_a_page_is_its_blocks() -> None:
    document = markdown(PAGE)
    assert (document.title, document.url) == ("Handbook", "https://example.org/handbook")
    assert blocks(PAGE) == [
        ("heading", "Welcome"),
        ("prose", "Intro text over two lines."),
        ("heading", "Fees"),
        ("prose", "The fees are:"),
        ("table_header", "Course | Fee"),
        ("table_row", "Course: Welding | Iron | Fee: `320`"),
        ("quotation", "Said by her."),
        ("code", "code();"),
    ]
    assert document.blocks[-1].syntax == "js"
    assert [(block.level, block.anchor) for block in document.blocks if block.kind == "heading"] == [
        (1, "welcome"),
        (2, "fees"),
    ]


def test_title_is_the_first_heading_without_marks() -> None:
    assert markdown("text\n\n# Rules of *the* `house` #\n").title == "Rules of the house"
    assert markdown("## Second\n\n# First\n").title == "First"
    assert markdown("---\ntitle: <StrictMode>\n---\n## Use").title == "<StrictMode>"
    assert markdown("just text").title == "the file"
    assert markdown("---\ntitle: The `init` command\n---\ntext").title == "The init command"


def test_items_are_separate_blocks() -> None:
    text = """Steps:

1. one

   more
2. two:

   ```sh
   run
   ```

   after
   - inner
     1) deep
3. three

- [x] done
"""
    document = markdown(text)
    seen = [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]
    assert seen == [
        ("prose", 0, "Steps:"),
        ("list_item", 1, "1. one\nmore"),
        ("list_item", 1, "2. two:"),
        ("code", 0, "run"),
        ("prose", 0, "after"),
        ("list_item", 2, "- inner"),
        ("list_item", 3, "1) deep"),
        ("list_item", 1, "3. three"),
        ("list_item", 1, "- [x] done"),
    ]
    intros = [document.text[slice(*block.intro)] if block.intro else None for block in document.blocks]
    assert intros[3:8] == ["2. two:", "2. two:", "2. two:", "- inner", "Steps:"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("每年检查一次视力\n并且记录，\n在档案里。", "每年检查一次视力并且记录，在档案里。"),
        ("한 줄\n두 줄", "한 줄 두 줄"),
        ("one  \ntwo", "one\ntwo"),
        ("&amp; &eacute; &#35;", "& é #"),
        ("<https://x.org> <kbd>K</kbd><br>next <!-- no -->", "https://x.org K\nnext"),
        ("![A *gate*](g.png) <img src=x alt='second gate'>", "A gate second gate"),
        ("`{{ x }}` and ``a`b`` and `**`", "`{{ x }}` and ``a`b`` and `**`"),
        ("**굵게(bold)**는 ~~old~~ \\*\\*not\\*\\*", "굵게(bold)는 old **not**"),
        ("A[^1] b^[inline *note*].\n\n[^1]: The note.", "A[1] b[2].\n\n[1] The note.\n\n[2] inline note"),
        ("[ref][x] and [y]({{ site.url }}/a) and [z]({{< ref \"a b\" >}})\n\n[x]: {{ site.base }}/p", "ref and y and z"),
        ("Ask in {% channel \"people\" %}.", "Ask in people."),
        ("<!-- a\n\nb -->\n\nSeen", "Seen"),
        ("Text {: .class }\n{: #id }", "Text"),
        ("[iframe src=\"a\" height=3]\n\n[[toc]]\n\nSeen", "Seen"),
        ("<details>\n<summary>More</summary>\n\nHidden *text*\n\n</details>", "More\n\nHidden text"),
        ("<div markdown=\"1\">\nSome *text*\n</div>", "Some text"),
    ],
)  # fmt: skip
def test_text_is_the_visible_text(source: str, text: str) -> None:
    assert markdown(source).text == text


@pytest.mark.parametrize(
    "source",
    [
        "> [!NOTE] Take care\n> The body *here*.\n> - an item",
        ":::tip Take care {open}\nThe body *here*.\n- an item\n:::",
        '!!! note "Take care"\n    The body *here*.\n\n    - an item\n',
        '=== "Take care"\n\n    The body *here*.\n\n    - an item\n',
        '<Note title="Take care">\nThe body *here*.\n- an item\n</Note>',
        '{% hint title="Take care" %}\nThe body *here*.\n- an item\n{% endhint %}',
        '{{< note title="Take care" >}}\nThe body *here*.\n- an item\n{{< /note >}}',
        '````smart header="Take care"\nThe body *here*.\n- an item\n````',
        "!!! Take care\n!!!\n!!! The body *here*.\n!!! - an item",
    ],
)
def test_asides_are_what_they_hold(source: str) -> None:
    found = blocks(f"Before\n\n{source}\n\nAfter")
    assert "\n".join(text for _, text in found).split("\n") == [
        "Before",
        "Take care",
        "The body here.",
        "- an item",
        "After",
    ]
    assert ("list_item", "- an item") in found


def test_code_keeps_what_looks_like_markup() -> None:
    code = '{{ printf "%s" .Name }}\n{% if x %}<Tabs>{/* c */}\nimport a from "b"'
    for source in (f"```go\n{code}\n```", "\n".join(f"    {line}" for line in code.split("\n"))):
        assert blocks(f"See:\n\n{source}")[1] == ("code", code)
    assert blocks("{% highlight ruby %}\ndef x\n{% endhighlight %}") == [("code", "def x")]
    assert blocks("```\n{% raw %}{% image %}{% endraw %}\n```") == [("code", "{% image %}")]


@pytest.mark.parametrize(
    ("info", "syntax"),
    [
        ("js {3-4}", "js"),
        ("js{1,2}", "js"),
        ("{.python .numbered}", "python"),
        ('title="a.txt"', ""),
        ("C++ linenos", "C++"),
        ("{code-block} rust", "rust"),
        ("", ""),
    ],
)
def test_the_syntax_is_the_first_word(info: str, syntax: str) -> None:
    assert markdown(f"```{info}\nx\n```").blocks[0].syntax == syntax


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("## Set up `uv` & run it!", "set-up-uv--run-it"),
        ("## Head {#my-id}", "my-id"),
        ("## Head {: .c #s }", "s"),
        ('## Head <a href="#x" id="x"></a>', "x"),
        ("## Head [#very-plain]", "very-plain"),
        ("## Head {/*here*/}", "here"),
        ("## 환불 규정 (요약)", "환불-규정-요약"),
        ("## 第一章　总则", "第一章总则"),
        ("## À qui s’adresse-t-il ?", "à-qui-sadresse-t-il-"),
        ("## Último año", "último-año"),
        ("## رُسوم الدراسة", "رُسوم-الدراسة"),
    ],
)
def test_headings_have_their_anchors(heading: str, anchor: str) -> None:
    document = markdown(heading)
    assert document.blocks[0].anchor == anchor
    assert not re.search(r"[#{}*]", document.text)


def test_repeated_anchors_are_numbered() -> None:
    anchors = Anchors()
    assert [anchors.of(title) for title in ("a", "a", "a-1", "a", "A")] == ["a", "a-1", "a-1-1", "a-2", "a-3"]


def test_definitions_and_tables_of_html() -> None:
    assert blocks("Term *a*\n: first\n: second\n\nOther:\n: third") == [
        ("definition", "Term a: first\nsecond"),
        ("definition", "Other:third"),
    ]
    page = "<table><tr><th>A</th></tr>\n\n<tr><td>\n\n**b** c\n\n</td></tr></table>\n\nAfter"
    assert "b c" in markdown(page).text
    assert "**" not in markdown(page).text


MDX = """import { Tabs } from '@x/y'
import Badge from "~/b.astro"

export const data = {
  a: [1, 2],

  b: "{",
}

<Steps>
1. Install {/* not this */}

    <Tabs client:load items={["a", "b"]} onChange={() => { go() }}>
      <Tab label="npm">
        ```sh
        npm i {x}
        ```
      </Tab>
      <Tab label="pnpm">
        Use **pnpm**{" "}now.
      </Tab>
    </Tabs>

2. Run `{it}` <Badge text="x" /> {data.a}
</Steps>

<p>
  Loose *text*
</p>
<Card title="The card">Inside</Card>
<table><tr><th>A</th></tr><tr><td style={{ color: "red" }}>1</td></tr></table>
"""


def test_mdx_is_the_text_in_its_components() -> None:
    found = blocks(MDX, ".mdx")
    assert found[:9] == [
        ("list_item", "1. Install"),
        ("prose", "npm"),
        ("code", "npm i {x}"),
        ("prose", "pnpm"),
        ("prose", "Use pnpm now."),
        ("list_item", "2. Run `{it}`"),
        ("prose", "Loose text"),
        ("prose", "Inside"),
        found[8],
    ]
    assert "{" not in markdown(MDX, ".mdx").text.replace("{x}", "").replace("`{it}`", "")


_WORDS = st.lists(st.from_regex(r"[a-zé가-힣一-鿿]{1,6}", fullmatch=True), min_size=1, max_size=6).map(" ".join)
_LINES = st.one_of(
    _WORDS, _WORDS.map(lambda text: f"## {text}"), _WORDS.map(lambda text: f"- {text}"),
    _WORDS.map(lambda text: f"  1. {text}"), _WORDS.map(lambda text: f"> {text}"),
    _WORDS.map(lambda text: f"| {text} | **{text}** |\n|---|---|\n| {text} | `{text}` |"),
    _WORDS.map(lambda text: f"```sh\n{text}\n```"),
    _WORDS.map(lambda text: f"<details><summary>{text}</summary>\n\n*{text}*\n\n</details>"),
    _WORDS.map(lambda text: f"<Tab label='{text}'>\n  {text}\n</Tab>"), _WORDS.map(lambda text: f":::tip {text}\n{text}\n:::"),
    _WORDS.map(lambda text: f'!!! note "{text}"\n\n    {text}'), _WORDS.map(lambda text: f"term\n: {text}"),
    _WORDS.map(lambda text: f"[{text}](/a) ![{text}](b.png) {{{{< x >}}}}{text}{{{{< /x >}}}}"), st.just(""),
)  # fmt: skip


def whole(document: Document) -> None:
    """Blocks are in order, do not overlap, and hold all of the text."""
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(document.text)
        assert not document.text[at : block.start].strip()
        assert document.text[block.start : block.end].strip()
        at = block.end
    assert not document.text[at:].strip()


@given(st.lists(_LINES, max_size=12).map("\n".join), st.sampled_from([".md", ".mdx"]))
@settings(max_examples=40)
def test_no_visible_word_is_lost(text: str, suffix: str) -> None:
    document = read_markdown(Source(text.encode(), "a", "a", suffix))
    whole(document)
    seen = re.sub(r"\s", "", document.text)
    visible = re.sub(r"details|summary|Tab label|/?Tab|sh\n|tip|note|\(/a\)|\(b\.png\)|\{\{<.*?>\}\}", " ", text)
    for word in re.findall(r"[a-zé가-힣一-鿿]+", visible):
        assert word in seen


_JUNK = [
    *(
        "<", ">", "</", "/>", "<A", "<A b={", "<table>", "</td>", "<script>", "<!--", "-->", "import", "export", "from", "'a'",
    ),
    *(
        "{", "}", "{{", "}}", "{%", "%}", "{% raw %}", "={", "`", "```", "~~~", "|", "#", "- ", "1. ", "[^", "]", "(", ":::",
    ),
    *("!!!", '"', "'", "\\", "*", "_", ": ", "word", "가", "\U000f0000", "---", "+++", "\n", "\n\n", "    ", " "),
]  # fmt: skip


@given(
    st.lists(st.sampled_from(_JUNK), max_size=40).map("".join),
    st.sampled_from([".md", ".mdx"]),
)
@settings(max_examples=80)
def test_junk_is_read(text: str, suffix: str) -> None:
    whole(read_markdown(Source(text.encode(), "a", "a", suffix)))


_LINE_PIECES = [
    "`", "``", "*", "**", "_", "__", "[", "]", "](a/b.md)", '](http://a.b/c_d*e "f")', "](javascript:x)", "](<a b>)", "![",
]  # fmt: skip
_LINE_PIECES += [
    "word",
    "one two",
    "snake_case",
    "가나",
    "漢字",
    "é",
    "1",
    ".",
    ":",
    "(",
    ")",
    "!",
    "&",
    "&amp;",
    "<b>",
    "~",
    "~~",
    "^",
]
_LINE_PIECES += [" ", "  ", "\n", "\t", "\u00a0", "\\", "\U000f0000", "**bold**", "`code`", "*a b*", "[c](d)"]


@given(st.lists(st.sampled_from(_LINE_PIECES), max_size=14).map("".join))
@settings(max_examples=150)
def test_quick_path_matches_the_parser(line: str) -> None:
    line = line.strip()
    quick, slow = Token("inline", "", 0, content=line), Token("inline", "", 0, content=line)
    if line and is_quick(line):
        read_lines(parser(line, mdx=False), [slow], {})
        assert slow.children
        assert InlineText({}, {}).line(quick) == InlineText({}, {}).line(slow)


def test_most_lines_are_quickly_read() -> None:
    assert is_quick(
        "Set `a_b` in **the file**, as the [guide](../guide.md#set) _says_:\nsnake_case & more (![two](a.png))."
    )
    assert not any(
        map(is_quick, ("**a**b", "\\*", "[a]", "<b>", "a  \nb", "&amp;", "[a](javascript:b)", "~~a~~", "[^1]"))
    )


@given(
    st.lists(st.sampled_from([*_JUNK, "a\n", "b c\n", "- a\n", "> ", "===\n", "| a |\n", "|---|\n"]), max_size=25).map(
        "".join
    )
)
@settings(max_examples=100)
def test_plain_paragraph_matches_the_full_rules(text: str) -> None:
    markdown = parser(text, mdx=False)
    quick = markdown.parse(text, {"original": {}})
    with markdown.reset_rules():
        markdown.disable("plain", ignoreInvalid=True)
        assert quick == markdown.parse(text, {"original": {}})
