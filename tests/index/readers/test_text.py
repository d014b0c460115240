"""Plain text: paragraphs, items, code, headings and their introductions; front matter in four notations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model import Metadata
from index.readers.front_matter import iso_date, split
from index.readers.text import chapters


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
