"""E-mail: headers, text, quoted replies, attachments; damaged messages."""

import random

import pytest

from index.model import Document, Metadata
from index.readers import Source, Unreadable, read
from tests.index.readers.office import blocks

MESSAGE = """From: =?utf-8?q?Ada_L=2E?= <ada@example.org>
To: bob@example.org
Date: Mon, 4 Mar 2024 10:00:00 +0100
Subject: =?utf-8?b?7ZmY67aI?= rules
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: multipart/alternative; boundary=y

--y
Content-Type: text/plain; charset=utf-8; format=flowed
Content-Transfer-Encoding: 8bit

Bonjour Bob, this is\x20
flowed.

Bring:
- tools
  and more
* gloves

Bob wrote:
> What shall
>> I bring?
Thanks
--y
Content-Type: text/html

<p>not this</p>
--y--
--x
Content-Type: message/rfc822

From: carl@example.org
Subject: before
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<h1>D=E9part</h1>
--x
Content-Type: application/pdf
Content-Disposition: attachment; filename="rules.pdf"

AAAA
--x--
"""


def mail(data: bytes, suffix: str = ".eml") -> Document:
    return read(Source(data, f"m{suffix}", "m", suffix))


def test_a_message() -> None:
    document = mail(MESSAGE.encode())
    assert blocks(document) == [
        (
            "prose",
            'From: "Ada L." <ada@example.org>\nTo: bob@example.org\nDate: Mon, 04 Mar 2024 10:00:00 +0100\nSubject: 환불 rules',
        ),
        ("prose", "Bonjour Bob, this is flowed."),
        ("prose", "Bring:"),
        ("list_item", "- tools\nand more"),
        ("list_item", "- gloves"),
        ("prose", "Bob wrote:"),
        ("quotation", "What shall\nI bring?"),
        ("prose", "Thanks"),
        ("prose", "From: carl@example.org\nSubject: before"),
        ("heading", "Départ"),
        ("prose", "Attachments: rules.pdf"),
    ]
    assert document.title == "환불 rules"
    assert document.metadata == Metadata(author="Ada L.", date="2024-03-04T10:00:00+01:00")


def test_mailbox_has_a_section_for_each_message() -> None:
    one = b"From a@example.org Mon Mar  4 10:00:00 2024\nFrom: a@example.org\nSubject: %s\n\nHello\n>From here\n\n"
    document = mail(one % b"first" + one % b"second", ".mbox")
    assert [text for kind, text in blocks(document) if kind == "heading"] == ["first", "second"]
    assert document.text.count("Hello\nFrom here") == 2


@pytest.mark.parametrize("encoding", ["utf-8", "euc-kr"])
def test_wrongly_declared_encoding_is_corrected(encoding: str) -> None:
    text = "환불은 구매일로부터 14일 이내에 신청하실 수 있습니다. 고객센터로 문의해 주세요."
    data = b"From: a@example.org\nContent-Type: text/plain; charset=nonsense\n\n" + text.encode(encoding)
    assert text in mail(data).text


@pytest.mark.parametrize(
    ("suffix", "data", "reason"),
    [
        (".eml", b"just text", "no e-mail"),
        (".eml", b"", "no e-mail"),
        (".mbox", b"Subject: x\n\ny", "no readable MBOX"),
    ],
)
def test_unread_file_has_a_reason(suffix: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        mail(data, suffix)


def test_damaged_messages_are_read_or_named() -> None:
    chance = random.Random(7)
    for _ in range(80):
        data = bytearray(MESSAGE.encode())
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(4)] = chance.randbytes(chance.randrange(3))
        try:
            assert mail(bytes(data)).text
        except Unreadable:
            continue
