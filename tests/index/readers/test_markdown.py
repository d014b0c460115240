"""Markdown and MDX: what a person sees of the rendered page, as the blocks that it is made of."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token

from index.readers import Source
from index.readers.markdown import read_markdown
from index.readers.markdown_inline import Anchors, InlineText, is_quick
from index.readers.markdown_syntax import parser, read_lines
from tests.documents.written import assert_sliced


def test_repeated_anchors_are_numbered() -> None:
    anchors = Anchors()
    assert [anchors.of(title) for title in ("a", "a", "a-1", "a", "A")] == ["a", "a-1", "a-1-1", "a-2", "a-3"]


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


@given(st.lists(_LINES, max_size=12).map("\n".join), st.sampled_from([".md", ".mdx"]))
@settings(max_examples=40)
def test_no_visible_word_is_lost(text: str, suffix: str) -> None:
    document = read_markdown(Source(text.encode(), "a", "a", suffix))
    assert_sliced(document)
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
    assert_sliced(read_markdown(Source(text.encode(), "a", "a", suffix)))


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


def test_brackets_within_brackets_are_text() -> None:
    """Each would cost the parser as much as a line has nested ones."""
    line = "![" * 5000 + "a"
    document = read_markdown(Source(f"{line}\n\nIt rains [often](b.md).".encode(), "a.md", "a", ".md"))
    assert [document.text[block.start : block.end] for block in document.blocks] == [line, "It rains often."]
