"""OpenDocument text, EPUB, XHTML, and XML by one rule."""

import io
import zipfile
from pathlib import Path

import pytest

from index.model import Document, Metadata
from index.readers import Source, Unreadable, read
from tests.index import files

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta")
)
CONTENT = f"""<office:document-content {SPACES}><office:automatic-styles>
<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="P2" style:parent-style-name="Quotations"/>
<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>
<text:list-level-style-bullet text:level="2"/></text:list-style></office:automatic-styles><office:body><office:text>
<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
<text:p text:style-name="Title">Forge</text:p><text:h text:outline-level="2">First<text:bookmark text:name="b"/></text:h>
<text:p>Bring<text:note>
<text:note-citation>1</text:note-citation><text:note-body><text:p>Or not.</text:p></text:note-body></text:note>
10<text:span text:style-name="T1">6</text:span> things:</text:p>
<text:list text:style-name="L1"><text:list-item><text:p>tools</text:p><text:p text:style-name="P1">ls</text:p>
<text:p text:style-name="P1"><text:s text:c="2"/>x</text:p><text:list><text:list-item><text:p>hammer</text:p></text:list-item>
</text:list></text:list-item><text:list-item><text:p>gloves</text:p></text:list-item></text:list>
<text:p text:style-name="P2">Wear a<text:line-break/>helmet.</text:p><text:p>مرحبا<text:tab/>بكم</text:p>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>A</text:p></table:table-cell><table:table-cell>
<text:p>B</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row>
<table:table-cell table:number-columns-spanned="2"><text:p>1</text:p></table:table-cell><table:covered-table-cell/>
</table:table-row><table:table-row><table:table-cell><text:p>2</text:p></table:table-cell><table:table-cell><text:p>3</text:p>
</table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>"""
META = f"""<office:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>Rules</dc:title>
<dc:creator>Ada L.</dc:creator><dc:date>2024-03-04T10:00:00</dc:date><meta:keyword>fees, heat</meta:keyword>
<dc:language>fr-FR</dc:language></office:meta></office:document-meta>"""


def odt(manifest: str = "<manifest/>", **parts: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in {
            "META-INF/manifest.xml": manifest,
            **{f"{name}.xml": text for name, text in parts.items()},
        }.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def read_odt(data: bytes, suffix: str = ".odt") -> Document:
    return read(Source(data, f"f{suffix}", "f", suffix))


def test_odt() -> None:
    document = read_odt(odt(content=CONTENT, meta=META))
    assert [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks] == [
        ("heading", 1, "Forge"),
        ("heading", 2, "First"),
        ("prose", 0, "Bring[1] 10^6 things:"),
        ("list_item", 1, "1. tools"),
        ("code", 0, "ls\n  x"),
        ("list_item", 2, "- hammer"),
        ("list_item", 1, "2. gloves"),
        ("quotation", 0, "Wear a\nhelmet."),
        ("prose", 0, "مرحبا بكم"),
        ("table_header", 0, "A | B"),
        ("table_row", 0, "1"),
        ("table_row", 0, "A: 2 | B: 3"),
        ("prose", 0, "[1] Or not."),
    ]
    assert (document.title, document.language) == ("Rules", "fr")
    assert document.metadata == Metadata(author="Ada L.", date="2024-03-04T10:00:00", tags=("fees", "heat"))


def test_a_flat_file() -> None:
    flat = CONTENT.replace("document-content", "document").replace(
        "<office:automatic", "<office:meta/><office:automatic", 1
    )
    assert read_odt(flat.encode(), ".fodt").text == read_odt(odt(content=CONTENT)).text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 rubbish", "damaged archive"),
        (odt(), "no readable ODT"),
        (odt(content="<a>"), "no readable ODT"),
        (odt(manifest="<encryption-data/>", content=CONTENT), "password"),
        (odt(content=f"<office:document-content {SPACES}/>"), "no text"),
    ],
)
def test_unread_file_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_odt(data)


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
def test_unread_book_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        book(data)


def xml(text: str) -> Document:
    return read(Source(text.encode(), "d.xml", "d", ".xml"))


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
        xml(text)


def test_no_external_entity_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]><a>before &x; after</a>'
    assert xml(text).text == "before &x; after"
