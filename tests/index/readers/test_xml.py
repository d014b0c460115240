"""XML: the vocabularies of documents by their elements, any other by the rule."""

from pathlib import Path

import pytest

from index.model import Document
from index.readers.formats import Source, read
from index.readers.unreadable import Unreadable

DOCBOOK = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "http://127.0.0.1:9/docbookx.dtd" [<!ENTITY app "Forge">]>
<article lang="fr-CA"><articleinfo><title>&app; guide</title>
<author><firstname>Ada</firstname><surname>L.</surname></author><pubdate>2024-02-03</pubdate>
<keywordset><keyword>fees</keyword></keywordset></articleinfo>
<section id="s1"><title>First &mdash; part</title>
<para>Use <command>forge</command><footnote><para>a note</para></footnote> like:
<itemizedlist><listitem><para>one</para><para>more</para><programlisting language="sh">a
 b</programlisting></listitem><listitem><para>two</para></listitem></itemizedlist> end &unknown;.</para>
<note><title>Mind</title><para>careful <weird>odd</weird> thing.</para></note>
<table><title>Tab</title><tgroup cols="3"><colspec colname="a"/><colspec colname="b"/><colspec colname="c"/>
<thead><row><entry>A</entry><entry>B</entry><entry>C</entry></row></thead>
<tbody><row><entry morerows="1">1</entry><entry namest="b" nameend="c">23</entry></row><row><entry>4</entry><entry>5</entry></row>
</tbody></tgroup></table>
<variablelist><varlistentry><term>T</term><listitem><para>def</para></listitem></varlistentry></variablelist>
</section></article>"""

DITA = """<task id="t" xml:lang="en"><title>Change oil</title><prolog><author>Bob</author></prolog><taskbody>
<context>In <wintitle>Win</wintitle> now.</context>
<steps><step><cmd>Open <uicontrol>A</uicontrol></cmd><info>Some info</info>
<substeps><substep><cmd>in</cmd></substep></substeps></step>
<step><cmd>Close</cmd><stepxmp><codeblock outputclass="language-xml">&lt;a/></codeblock></stepxmp></step></steps>
<result><simpletable><sthead><stentry>K</stentry><stentry>V</stentry></sthead>
<strow><stentry>a</stentry><stentry>b</stentry></strow></simpletable></result></taskbody></task>"""

JATS = """<article><front><journal-meta><journal-title>J</journal-title></journal-meta><article-meta>
<title-group><article-title>On furnaces</article-title></title-group>
<contrib-group><contrib contrib-type="author">
<name><surname>L.</surname><given-names>Ada</given-names></name></contrib></contrib-group>
<pub-date><day>4</day><month>3</month><year>2024</year></pub-date><kwd-group><kwd>heat</kwd></kwd-group></article-meta></front>
<body><sec id="i"><title>Intro</title><p>Hot<xref ref-type="fn" rid="f">1</xref>.</p>
<list list-type="order"><list-item><p>one</p></list-item></list><code language="sh">a
b</code>
<table-wrap><label>Table 1</label><caption><title>Heat</title></caption>
<table><tr><th>A</th></tr><tr><td>9</td></tr></table></table-wrap>
</sec></body><back><fn-group><fn id="f"><label>1</label><p>Very.</p></fn></fn-group></back></article>"""

TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:lang="es"><teiHeader><titleStmt><title>Libro</title></titleStmt></teiHeader>
<text><body><div><head>Uno</head><p>Hola<note place="foot">nota</note></p><quote>Dicho</quote></div></body></text></TEI>"""

FICTION = """<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><book-title>Book</book-title>
<author><first-name>Ada</first-name><last-name>L.</last-name></author></title-info></description>
<body><section><title><p>One</p></title><p>Text</p></section></body><binary>AAAA</binary></FictionBook>"""

OUTLINE = (
    """<opml><head><title>Plan</title></head><body><outline text="One"><outline text="Two"/></outline></body></opml>"""
)

OTHER = """<rss><channel><title>News</title><about>All <b>of</b> it</about>
<list><item><name>France</name><code>FR</code></item><item><name>Spain</name></item></list>
<conf><port>80</port><host>x</host></conf><z><a>one</a><a>two</a></z></channel></rss>"""


def xml(text: str, suffix: str = ".xml") -> Document:
    return read(Source(text.encode(), "d.xml", "d", suffix))


def blocks(document: Document) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, document.text[block.start : block.end]) for block in document.blocks]


def test_docbook() -> None:
    document = xml(DOCBOOK)
    assert blocks(document) == [
        ("heading", 1, "Forge guide"),
        ("heading", 2, "First — part"),
        ("prose", 0, "Use `forge`[1] like:"),
        ("list_item", 1, "- one\nmore"),
        ("code", 0, "a\n b"),
        ("list_item", 1, "- two"),
        ("prose", 0, "end &unknown;."),
        ("prose", 0, "Mind"),
        ("prose", 0, "careful odd thing."),
        ("prose", 0, "Tab"),
        ("table_header", 0, "A | B | C"),
        ("table_row", 0, "A: 1 | B: 23 | C: 23"),
        ("table_row", 0, "A: 1 | B: 4 | C: 5"),
        ("definition", 0, "T: def"),
        ("prose", 0, "[1] a note"),
    ]
    assert [block.anchor for block in document.blocks if block.kind == "heading"] == ["", "s1"]
    assert [block.syntax for block in document.blocks if block.kind == "code"] == ["sh"]
    assert (document.title, document.language) == ("Forge guide", "fr")
    about = document.metadata
    assert (about.author, about.date, about.tags) == ("Ada L.", "2024-02-03", ("fees",))


def test_dita() -> None:
    document = xml(DITA, ".dita")
    assert blocks(document) == [
        ("heading", 1, "Change oil"),
        ("prose", 0, "In Win now."),
        ("list_item", 1, "1. Open A\nSome info"),
        ("list_item", 2, "1. in"),
        ("list_item", 1, "2. Close"),
        ("code", 0, "<a/>"),
        ("table_header", 0, "K | V"),
        ("table_row", 0, "K: a | V: b"),
    ]
    assert (document.title, document.language, document.metadata.author) == ("Change oil", "en", "Bob")


def test_jats() -> None:
    document = xml(JATS)
    assert blocks(document) == [
        ("heading", 1, "On furnaces"),
        ("heading", 2, "Intro"),
        ("prose", 0, "Hot[1]."),
        ("list_item", 1, "1. one"),
        ("code", 0, "a\nb"),
        ("prose", 0, "Table 1"),
        ("prose", 0, "Heat"),
        ("table_header", 0, "A"),
        ("table_row", 0, "A: 9"),
        ("prose", 0, "[1] Very."),
    ]
    about = document.metadata
    assert (about.author, about.date, about.tags) == ("Ada L.", "2024-03-04", ("heat",))


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        (
            TEI,
            "Libro",
            [("heading", 1, "Uno"), ("prose", 0, "Hola[1]"), ("quotation", 0, "Dicho"), ("prose", 0, "[1] nota")],
        ),
        (FICTION, "Book", [("heading", 1, "One"), ("prose", 0, "Text")]),
        (OUTLINE, "Plan", [("list_item", 1, "- One"), ("list_item", 2, "- Two")]),
        (
            OTHER,
            "d",
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
            "d",
            [("heading", 1, "T"), ("prose", 0, "x")],
        ),
    ],
)
def test_other_vocabularies_and_none(text: str, title: str, expected: list[tuple[str, int, str]]) -> None:
    document = xml(text)
    assert (document.title, blocks(document)) == (title, expected)


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a>&l9;</a>', "amplification"),
        ("<a><b>x</a>", "no readable XML"),
        ("<map><topicref href='a.dita'/></map>", "map"),
        ("<config level='3'/>", "no text"),
    ],
)
def test_unread_file_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        xml(text)


def test_nothing_outside_the_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]><a>before &x; after</a>'
    assert xml(text).text == "before &x; after"
