"""OpenDocument text, EPUB, XHTML, and XML by one rule."""

from pathlib import Path

import pytest

from index.model import Metadata
from index.readers import Unreadable
from tests.index import files
from tests.index.readers.office import given

ODT = {"META-INF/manifest.xml": "<manifest/>", "content.xml": "<a/>"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 rubbish", "damaged archive"),
        (files.zipped({"META-INF/manifest.xml": "<manifest/>"}), "no readable ODT"),
        (files.zipped(ODT | {"content.xml": "<a>"}), "no readable ODT"),
        (files.zipped(ODT | {"META-INF/manifest.xml": "<encryption-data/>"}), "password"),
        (files.zipped(ODT), "no text"),
    ],
)
def test_unread_file_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        given(data, ".odt")


CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>Forge</dc:title><dc:creator>Ada L.</dc:creator><dc:creator>Bob</dc:creator><dc:language>ja</dc:language>
<dc:date>2024-03-04</dc:date><dc:subject>heat</dc:subject></metadata><manifest>
<item id="b" href="b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="i" href="i.png" media-type="image/png"/>
</manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="i"/><itemref idref="gone"/>
</spine></package>"""
PAGES = {
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": PACKAGE,
    "OEBPS/a.xhtml": "<?xml version='1.0' encoding='utf-8'?><html><h1 id='one'>一</h1><p>文<a epub:type='noteref' href='#n'>1</a>",
    "OEBPS/b two.xhtml": "<html><p style='writing-mode: vertical-rl'><ruby>漢<rt>かん</rt></ruby>字</p><aside id='n'>注</aside>",
    "OEBPS/nav.xhtml": "<p>Contents</p>",
}


def test_epub() -> None:
    document = given(files.zipped(PAGES), ".epub")
    assert [(block.kind, document.text[block.start : block.end], block.anchor) for block in document.blocks] == [
        ("heading", "一", "one"),
        ("prose", "文[1]", ""),
        ("prose", "漢(かん)字", ""),
        ("prose", "注", ""),
    ]
    assert (document.title, document.language) == ("Forge", "ja")
    assert document.metadata == Metadata(author="Ada L., Bob", date="2024-03-04", tags=("heat",))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (files.zipped(PAGES | {"META-INF/encryption.xml": "<CipherReference URI='OEBPS/a.xhtml'/>"}), "protected"),
        (files.zipped(PAGES | {"META-INF/container.xml": "<container/>"}), "names no package"),
        (files.zipped(PAGES | {"OEBPS/book.opf": "<package/>"}), "no text"),
        (files.bomb(), "ZIP bomb"),
        (b"PK", "damaged"),
    ],
)
def test_unread_book_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        given(data, ".epub")


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a>&l9;</a>', "amplification"),
        ("<a><b>x</a>", "no readable XML"),
        ("<config level='3'/>", "no text"),
    ],
)
def test_unread_xml_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        given(text.encode(), ".xml")


def test_no_external_entity_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]><a>before &x; after</a>'
    assert given(text.encode(), ".xml").text == "before &x; after"
