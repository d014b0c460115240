"""Every kind of file read into a document: text, title, blocks and pages; or the reason why not."""

import pytest

from index.readers import Unreadable
from index.readers.text import decode
from tests.index import files
from tests.index.readers.office import given


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
def test_unreadable_file_has_a_reason(suffix: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason) as caught:
        given(data, suffix)
    assert "\n" not in str(caught.value)


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


def test_broken_utf8_loses_only_its_bytes() -> None:
    broken = KOREAN.encode()[:50] + b"\xff\xfe" + KOREAN.encode()[51:] * 3
    text = decode(broken)
    assert "\ufffd" in text
    assert "고객센터로 문의해 주세요." in text


def test_newlines_become_one_kind() -> None:
    assert decode(b"a\r\nb\rc") == "a\nb\nc"
