"""Formats of the extra `formats`: read where it is installed, named where it is not."""

import sys
from importlib.util import find_spec

import pytest

from index.model import Document
from index.readers import Source, Unreadable, by_suffix, read

RTF = rb"""{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}{\stylesheet{\s1\outlinelevel0 heading 1;}}
{\pard\s1\outlinelevel0 Fees\par}{\pard The \u233?l\u232?ve pays\super\chftn{\footnote\pard\chftn In cash.}\par}
\trowd\cellx1000\cellx2000 A\intbl\cell B\intbl\cell\row\trowd\cellx1000\cellx2000 1\intbl\cell 2\intbl\cell\row}"""
ORG = """* Fees
The fees are:
| A | B |
|---+---|
| 1 | 2 |
#+begin_src sh
ls
#+end_src
"""


def converted(data: bytes, suffix: str) -> Document:
    return read(Source(data, f"f{suffix}", "f", suffix))


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


@pytest.mark.skipif(find_spec("kreuzberg") is None, reason="the extra is not installed")
def test_rich_text() -> None:
    document = converted(RTF, ".rtf")
    assert blocks(document) == [
        ("heading", "Fees"),
        ("prose", "The élève pays[1]"),
        ("table_header", "A | B"),
        ("table_row", "A: 1 | B: 2"),
        ("prose", "[1] In cash."),
    ]


@pytest.mark.skipif(find_spec("kreuzberg") is None, reason="the extra is not installed")
def test_org() -> None:
    assert blocks(converted(ORG.encode(), ".org")) == [
        ("heading", "Fees"),
        ("prose", "The fees are:"),
        ("table_header", "A | B"),
        ("table_row", "A: 1 | B: 2"),
        ("code", "ls"),
    ]


@pytest.mark.parametrize(("suffix", "library"), [(".doc", "kreuzberg"), (".hwp", "rhwp"), (".hwpx", "rhwp")])
def test_rubbish_has_a_reason(suffix: str, library: str) -> None:
    if find_spec(library) is None:
        pytest.skip("the extra is not installed")
    for data in (b"rubbish", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000, b"PK\x03\x04" + b"\0" * 200):
        with pytest.raises(Unreadable):
            converted(data, suffix)


@pytest.mark.parametrize("suffix", sorted(suffix for suffix, one in by_suffix().items() if one.extra == "formats"))
def test_missing_extra_is_named_with_the_remedy(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("kreuzberg", "rhwp"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Unreadable, match=r"install groundwire\[formats\] to read it") as caught:
        converted(b"x", suffix)
    assert not caught.value.failed
