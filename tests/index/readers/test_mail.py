"""E-mail: headers, text, quoted replies, attachments; damaged messages."""

import random

import pytest

from index.readers import Unreadable
from tests.index.readers.office import given
from tests.index.readers.test_cases import FOLDER, cases

MESSAGE, _ = cases(FOLDER / "eml.txt")["a message"]


@pytest.mark.parametrize("encoding", ["utf-8", "euc-kr"])
def test_wrongly_declared_encoding_is_corrected(encoding: str) -> None:
    text = "환불은 구매일로부터 14일 이내에 신청하실 수 있습니다. 고객센터로 문의해 주세요."
    data = b"From: a@example.org\nContent-Type: text/plain; charset=nonsense\n\n" + text.encode(encoding)
    assert text in given(data, ".eml").text


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
        given(data, suffix)


def test_damaged_messages_are_read_or_named() -> None:
    chance = random.Random(7)
    for _ in range(80):
        data = bytearray(MESSAGE.encode())
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(4)] = chance.randbytes(chance.randrange(3))
        try:
            assert given(bytes(data), ".eml").text
        except Unreadable:
            continue
