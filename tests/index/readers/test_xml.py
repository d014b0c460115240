"""XML by one rule; XHTML as HTML."""

from pathlib import Path

import pytest

from index.model import Document
from index.readers import Source, Unreadable, read

OTHER = """<rss><channel><title>News</title><about>All <b>of</b> it</about>
<list><item><name>France</name><code>FR</code></item><item><name>Spain</name></item></list>
<conf><port>80</port><host>x</host></conf><z><a>one</a><a>two</a></z></channel></rss>"""


def xml(text: str) -> Document:
    return read(Source(text.encode(), "d.xml", "d", ".xml"))


def blocks(document: Document) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            OTHER,
            [
                ("prose", 0, "News"),
                ("prose", 0, "All of it"),
                ("table_header", 0, "name | code"),
                ("table_row", 0, "name: France | code: FR"),
                ("table_row", 0, "name: Spain"),
                ("definition", 0, "port: 80"),
                ("definition", 0, "host: x"),
                ("prose", 0, "one"),
                ("prose", 0, "two"),
            ],
        ),
        (
            "<html xmlns='http://www.w3.org/1999/xhtml'><h1>T</h1><p>x</p></html>",
            [("heading", 1, "T"), ("prose", 0, "x")],
        ),
    ],
)
def test_elements_become_blocks(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert blocks(xml(text)) == expected


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a>&l9;</a>', "amplification"),
        ("<a><b>x</a>", "no readable XML"),
        ("<config level='3'/>", "no text"),
    ],
)
def test_unread_file_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        xml(text)


def test_no_external_entity_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]><a>before &x; after</a>'
    assert xml(text).text == "before &x; after"
