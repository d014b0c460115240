"""Plain text: paragraphs, items, code, headings and their introductions; front matter in four notations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model import Block, Document, Metadata
from index.readers import Source, read
from index.readers.front_matter import iso_date, split
from index.readers.text import chapters


def test_plain_text_knows_chapters() -> None:
    text = "제1장 총칙\n이 규정은 모두에게 적용한다.\n제2장 환불\n환불은 사흘 안에 한다.\n"
    document = read(Source(text.encode(), "r.txt", "r", ".txt"))
    assert document.text == text
    headings = [document.text[block.start : block.end] for block in document.blocks if block.kind == "heading"]
    assert headings == ["제1장 총칙", "제2장 환불"]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("One line\nand more.\n\n  Two.\n", [("prose", 0, "One line\nand more."), ("prose", 0, "Two.")]),
        ("Bring:\n- one\n  more\n  * inner\n- two\n",
         [("prose", 0, "Bring:"), ("list_item", 1, "- one\n  more"), ("list_item", 2, "* inner"), ("list_item", 1, "- two")]),
        ("1) a\n2) b", [("list_item", 1, "1) a"), ("list_item", 1, "2) b")]),
        ("가. 하나\n나. 둘\n\n① 셋", [("list_item", 1, "가. 하나"), ("list_item", 1, "나. 둘"), ("list_item", 1, "① 셋")]),
        ("Born on\n12. March 1990.", [("prose", 0, "Born on\n12. March 1990.")]),
        ("Run:\n\n    a b\n    c", [("prose", 0, "Run:"), ("code", 0, "    a b\n    c")]),
        ("```sh\na\n\nb\n```\nEnd", [("code", 0, "```sh\na\n\nb\n```"), ("prose", 0, "End")]),
        ("```\nhalf", [("prose", 0, "```\nhalf")]),
    ],
)  # fmt: skip
def test_plain_text_is_its_blocks(text: str, blocks: list[tuple[str, int, str]]) -> None:
    assert [(block.kind, block.level, text[block.start : block.end]) for block in chapters(text)] == blocks


@given(
    st.lists(
        st.sampled_from([*"ab:.`~-1)①가\n\t 제장", "\n\n", "- ", "1. ", "```", "    ", "Chapter 1\n"]), max_size=60
    ).map("".join)
)
@settings(max_examples=300)
def test_every_word_is_in_a_block(text: str) -> None:
    at = 0
    for block in chapters(text):
        assert at <= block.start < block.end
        assert not text[at : block.start].strip()
        at = block.end
    assert not text[at:].strip()


def intros(text: str, suffix: str = ".md") -> list[tuple[str, str]]:
    document = read(Source(text.encode(), f"a{suffix}", "a", suffix))
    return [(_said(document, block), _intro(document, block)) for block in document.blocks if block.kind != "prose"]


def _said(document: Document, block: Block) -> str:
    return document.text[block.start : block.end]


def _intro(document: Document, block: Block) -> str:
    return document.text[slice(*block.intro)] if block.intro else ""


def test_table_after_code_has_no_earlier_introduction() -> None:
    text = "Fees:\n\n| A |\n|--|\n| 1 |\n\n```\nls\n```\n\n| B |\n|--|\n| 2 |\n"
    assert intros(text) == [("A", "Fees:"), ("A: 1", "Fees:"), ("ls", ""), ("B", ""), ("B: 2", "")]


def test_adjacent_tables_share_their_introduction() -> None:
    text = "<p>Fees:</p><table><tr><th>A<tr><td>1</table><table><tr><th>B<tr><td>2</table>"
    assert {intro for _, intro in intros(text, ".html")} == {"Fees:"}


def test_items_after_code_keep_the_list_introduction() -> None:
    markdown = "Do:\n\n- one\n\n  ```\n  ls\n  ```\n\n  More.\n- two\n"
    html = "<p>Do:</p><ul><li>one<pre>ls</pre>More.<li>two</ul>"
    expected = [("- one", "Do:"), ("ls", "- one"), ("- two", "Do:")]
    assert intros(markdown) == expected
    assert intros(html, ".html") == expected
    nested = "<p>Do:</p><ul><li>one<ul><li>in</ul>More.<li>two</ul>"
    assert intros(nested, ".html") == [("- one", "Do:"), ("- in", "- one"), ("- two", "Do:")]


def test_very_short_sentence_takes_its_predecessor() -> None:
    assert intros("Hello. Send its number. For example:\n\n- 117\n") == [("- 117", "Send its number. For example:")]
    assert intros(f"{'Long ' * 80}end. For example:\n\n- 117\n") == [("- 117", "For example:")]


YAML = """---
title: "Rates: 2024"
permalink: https://example.org/rates
lang: ko-KR
authors: [Ann, {name: Bo}]
date: 2023-01-02
lastmod: 2024-05-06 07:08:09 +0900
version: 1.10
supersedes: rates-2023
tags: [fees, dates]
categories: fees
keywords: a, b
groups:
  - staff
---
"""
TOML = """+++
title = "Rates: 2024"
url = "https://example.org/rates"
language = "ko"
author = "Ann, Bo"
date = 2023-01-02
updated = 2024-05-06T07:08:09+09:00
version = 1.10
replaces = "rates-2023"
tags = ["fees", "dates", "a", "b"]
groups = ["staff"]
+++
"""
JSON = """{
  "title": "Rates: 2024", "canonical": "https://example.org/rates", "locale": "ko_KR", "author": ["Ann", "Bo"],
  "date": "2024-05-06T07:08:09+09:00", "version": "1.10", "replaces": "rates-2023", "tags": "fees, dates, a, b",
  "group": "staff"
}
"""


@pytest.mark.parametrize("text", [YAML, TOML, TOML.replace("+++", "---toml", 1).replace("+++", "---"), JSON])
def test_metadata_of_a_document(text: str) -> None:
    front, rest = split(text + "\n# Text\n")
    assert rest.strip() == "# Text"
    assert (front.title, front.url, front.language) == ("Rates: 2024", "https://example.org/rates", "ko")
    assert front.metadata == Metadata(
        author="Ann, Bo", date="2024-05-06T07:08:09+09:00", version="1.10", replaces="rates-2023",
        tags=("fees", "dates", "a", "b"), groups=("staff",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        ("---\ntitle: a: b\ngroups: [staff, x]\n---\nText", "a: b", "Text"),
        ("---\ntitle: 'half\ngroups:\n - staff\n - x\n---\nText", "half", "Text"),
        ("+++\ntitle = half\ngroups = [staff, x]\n+++\nText", "half", "Text"),
    ],
)
def test_broken_front_matter_is_read_line_by_line(text: str, title: str, rest: str) -> None:
    front, after = split(text)
    assert (front.title, after, front.metadata.groups) == (title, rest, ("staff", "x"))


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA thematic break.\n\n---\n\nMore.",
        "---\nNote: a sentence with a colon.\nIt goes on\nfor some lines\n---\nMore.",
        "---\n- a list\n- of two\n---\n",
        "---\ntitle: never closed\n",
        '{"a": broken\n}\ntext',
        "{not json}\n",
        "Text\n---\ntitle: x\n---\n",
    ],
)
def test_other_text_is_no_front_matter(text: str) -> None:
    front, rest = split(text)
    assert (front.title, rest) == ("", text)


def test_relative_address_and_unknown_language_are_dropped() -> None:
    front, _ = split("---\nurl: /rates/\nlang: tlh\n---\n")
    assert (front.url, front.language) == ("", None)


def test_fields_above_a_rule_are_front_matter() -> None:
    assert split("importance: 5\nlibs:\n  - lodash\n\n---\n\n# Task\n")[1].strip() == "# Task"


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("2024-3-1", "2024-03-01"),
        ("2024.03.01", "2024-03-01"),
        ("2024-03-01 9:05", "2024-03-01T09:05:00"),
        ("2024-03-01T09:05:06Z", "2024-03-01T09:05:06+00:00"),
        ("2024-13-01", ""),
        ("soon", ""),
    ],
)
def test_dates_are_iso(said: str, date: str) -> None:
    assert iso_date(said) == date
