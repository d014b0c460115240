"""EPUB: pages in reading order."""

import io
import zipfile

import pytest

from index.model import Document, Metadata
from index.readers import Source, Unreadable, read
from tests.index import files

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


def epub(changed: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in {**PAGES, **(changed or {})}.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def book(data: bytes) -> Document:
    return read(Source(data, "b.epub", "b", ".epub"))


def test_epub() -> None:
    document = book(epub())
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
        (epub({"META-INF/encryption.xml": "<CipherReference URI='OEBPS/a.xhtml'/>"}), "protected"),
        (epub({"META-INF/container.xml": "<container/>"}), "names no package"),
        (epub({"OEBPS/book.opf": "<package/>"}), "no text"),
        (files.bomb(), "ZIP bomb"),
        (b"PK", "damaged"),
    ],
)
def test_unread_file_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        book(data)
