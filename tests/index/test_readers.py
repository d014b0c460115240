"""Every kind of file read into a document: text, title, blocks and pages; or the reason why not."""

import io
import zipfile

import pytest

from index.model import Document
from index.passages import cut
from index.readers.decoding import decode
from index.readers.formats import Source
from index.readers.formats import read as read_source
from index.readers.pdf import join_lines
from index.readers.records import read_records
from index.readers.unreadable import Unreadable
from tests.index import files

MARKDOWN = """---
title: "Handbook"
url: https://example.org/handbook
---
# Welcome

Intro text
over two lines.

## Fees

The fees are:

| Course | Fee |
|---|---|
| Welding | 320 |

- one
- two

```
code
```
"""


def read(data: bytes, source_id: str, suffix: str, title: str) -> Document:
    return read_source(Source(data, source_id, title, suffix))


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_markdown_keeps_the_files_own_text_and_knows_its_blocks() -> None:
    document = read(MARKDOWN.encode(), "a.md", ".md", "a")
    assert document.text == MARKDOWN
    assert (document.title, document.url) == ("Handbook", "https://example.org/handbook")
    assert blocks(document) == [
        ("heading", "# Welcome"),
        ("prose", "Intro text\nover two lines."),
        ("heading", "## Fees"),
        ("prose", "The fees are:"),
        ("table_row", "| Course | Fee |\n|---|---|\n| Welding | 320 |"),
        ("list_item", "- one\n- two"),
        ("code", "```\ncode\n```"),
    ]


def test_markdown_takes_its_first_heading_as_title() -> None:
    assert read(b"text\n\n# Rules of the house #\n", "x.md", ".md", "x").title == "Rules of the house"
    assert read(b"just text", "x.md", ".md", "my file").title == "my file"


def test_plain_text_knows_chapters() -> None:
    document = read(
        "제1장 총칙\n이 규정은 모두에게 적용한다.\n제2장 환불\n환불은 사흘 안에 한다.\n".encode(), "r.txt", ".txt", "r"
    )
    assert [text for kind, text in blocks(document) if kind == "heading"] == ["제1장 총칙", "제2장 환불"]


def test_pdf_knows_its_pages() -> None:
    data = files.pdf([["Helmets are worn everywhere."], ["Gloves are worn at the furnace."]])
    document = read(data, "f.pdf", ".pdf", "f")
    assert document.title == "Foundry handbook"
    gloves = next(passage for passage in cut(document, 0) if "Helmets" in passage.text)
    assert gloves.page == 1
    assert [number for _, number in document.pages] == [1, 2]
    assert document.text[document.pages[1][0] :].startswith("Gloves")


@pytest.mark.parametrize(
    ("page", "paragraphs"),
    [
        (
            "The furnace is opened by the\nforeman alone.\nGloves are worn.",
            ["The furnace is opened by the foreman alone.", "Gloves are worn."],
        ),
        ("The regula-\ntion holds", ["The regulation holds"]),
        ("每年检查一次视力并且记录\n在档案里。", ["每年检查一次视力并且记录在档案里。"]),
        ("A long line of text without end\n\nanother", ["A long line of text without end", "another"]),
        ("1. one item of the list here\n2. two", ["1. one item of the list here", "2. two"]),
    ],
)
def test_lines_that_the_page_broke_are_joined(page: str, paragraphs: list[str]) -> None:
    assert join_lines(page) == paragraphs


def test_word() -> None:
    document = read(files.word(), "t.docx", ".docx", "t")
    assert document.title == "Travel rules"
    assert blocks(document) == [
        ("heading", "Travel"),
        ("prose", "Trips are approved by the head of department."),
        ("heading", "Rates"),
        ("list_item", "- Breakfast is paid."),
        ("list_item", "- Dinner is paid."),
        ("table_row", "City | Rate"),
        ("table_row", "Lyon | 90 euros"),
    ]


def test_slides_are_pages() -> None:
    document = read(files.slides(), "s.pptx", ".pptx", "s")
    assert [number for _, number in document.pages] == [1, 2]
    assert ("heading", "Closing") in blocks(document)
    assert cut(document, 0)[-1].text.endswith("The gate closes at ten.")


def test_sheet() -> None:
    document = read(files.sheet(), "s.xlsx", ".xlsx", "s")
    assert blocks(document) == [
        ("heading", "Fees"),
        ("table_header", "Course | Fee"),
        ("table_row", "Course: Welding | Fee: 320"),
        ("table_row", "Course: Casting | Fee: 410.5"),
    ]


def test_csv_is_one_table() -> None:
    assert blocks(read(b"a,b\n1,2\n", "t.csv", ".csv", "t")) == [
        ("table_header", "a | b"),
        ("table_row", "a: 1 | b: 2"),
    ]


@pytest.mark.parametrize(
    ("suffix", "data", "reason"),
    [
        (".pdf", b"%PDF-1.4 rubbish", "no readable PDF"),
        (".pdf", files.pdf([["secret"]], password="x"), "password"),
        (".pdf", files.pdf([[]]), "scanned"),
        (".docx", b"PK\x03\x04 rubbish", "damaged archive"),
        (".docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "password"),
        (".docx", files.bomb(), "ZIP bomb"),
        (".docx", files.sheet(), "no readable DOCX"),
        (".xlsx", files.word(), "no readable XLSX"),
        (".pptx", files.word(), "no readable PPTX"),
        (".xlsx", files.sheet()[:-200], "damaged archive"),
        (".txt", b"   \n\n ", "no text"),
        (".txt", bytes(range(256)) * 40, "binary"),
        (".md", b"\x00\x01\x02\x03" * 500, "binary"),
    ],
)
def test_what_cannot_be_read_says_why(suffix: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason) as caught:
        read(data, f"x{suffix}", suffix, "x")
    assert "\n" not in str(caught.value)


def test_an_archive_with_a_missing_part_is_damaged() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(Unreadable):
        read(buffer.getvalue(), "x.docx", ".docx", "x")


KOREAN = "환불은 구매일로부터 14일 이내에 신청하실 수 있습니다. 고객센터로 문의해 주세요."
CHINESE = "第十五条 近视患者应当每年检查一次视力。医生会根据情况调整镜片。"
FRENCH = "Les étudiants doivent s'inscrire avant le 15 octobre à l'université, très tôt."
ARABIC = "يجب على الطلاب التسجيل قبل نهاية الشهر في الجامعة"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (KOREAN, "utf-8"),
        (KOREAN, "utf-8-sig"),
        (KOREAN, "utf-16"),
        (KOREAN, "utf-32"),
        (KOREAN, "euc-kr"),
        (CHINESE, "gb18030"),
        (FRENCH, "latin-1"),
        (ARABIC, "cp1256"),
    ],
)
def test_encodings(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_broken_utf8_loses_only_what_is_broken() -> None:
    broken = KOREAN.encode()[:50] + b"\xff\xfe" + KOREAN.encode()[51:] * 3
    text = decode(broken)
    assert "\ufffd" in text
    assert "고객센터로 문의해 주세요." in text


def test_newlines_become_one_kind() -> None:
    assert decode(b"a\r\nb\rc") == "a\nb\nc"


def test_records_name_the_line_that_is_broken() -> None:
    lines = [
        b'{"source_id":"a","text":"one"}',
        b"",
        b'{"source_id":"b","text":',
        b'{"text":"no id"}',
        b'{"source_id":7,"text":"seven","title":"T","url":"u","language":"ko","more":1}',
        b'{"source_id":"e","text":"  "}',
        b'{"source_id":"f\\n","text":"x"}',
        b'{"source_id":"g","text":"half \\ud800 pair"}',
        b'{"source_id":"","text":"x"}',
        b"\xff\xff",
        b"[1,2]",
    ]
    found = dict(read_records(io.BytesIO(b"\n".join(lines))))
    good = {number: item for number, item in found.items() if isinstance(item, Document)}
    assert sorted(good) == [1, 5, 7, 8] or sorted(good) == [1, 5, 7]
    assert (good[5].source_id, good[5].title, good[5].url, good[5].language) == ("7", "T", "u", "ko")
    assert sorted(set(found) - set(good))[:3] == [3, 4, 6]
    assert "broken JSON" in str(found[3])
    assert "source_id" in str(found[4])
