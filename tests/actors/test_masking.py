"""Personal data is masked, look-alikes are not, and masking is stable."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.answer.masking import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to jo.doe@example.co.kr.", "Write to j***@***.kr."),
        ("문의: help@예시.한국", "문의: h***@***.한국"),
        ("연락처는 010-1234-5678입니다", "연락처는 ***-****-5678입니다"),
        ("02-123-4567 또는 01012345678", "**-***-4567 또는 *******5678"),
        ("고객센터 1588-1234", "고객센터 ****-1234"),
        ("Appelez le 06 12 34 56 78.", "Appelez le ** ** ** 56 78."),
        ("+33 6 12 34 56 78", "+** * ** ** 56 78"),
        ("Call (212) 555-1234 now", "Call (***) ***-1234 now"),
        ("الهاتف ٠١٠-١٢٣٤-٥٦٧٨", "الهاتف ***-****-٥٦٧٨"),
        ("电话 138-1234-5678", "电话 ***-****-5678"),
        ("주민번호 900101-1234567", "주민번호 ******-*******"),
        ("9001011234567", "*************"),
        ("card 4111 1111 1111 1111", "card **** **** **** 1111"),
        ("card 5500-0000-0000-0004.", "card ****-****-****-0004."),
    ],
)
def test_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "In 2019-2020 it was 1,234,567 [1].",
        "2019-05-03, 15일, 1 234 567 890 €",
        "card 4111 1111 1111 1112",
        "π = 3.14159265358979",
        "[1, 2] [1-3]",
        "pages 100-105",
        "@everyone a@b",
    ],
)
def test_left_alone(text: str) -> None:
    assert mask(text) == text


@settings(deadline=None)
@given(st.text(alphabet="0123456789-+() .@ab가é", max_size=40))
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)
