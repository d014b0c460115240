"""A citation points to the sentence of its block that the marked sentence repeats."""

import pytest

from bus.runs.citing import at_sentence, sentence_of
from bus.wire.messages import CitedPlace

REFUNDS = "Refunds are paid within 14 days. The shipping fee is not refunded. Opened software cannot be returned."
KOREAN = "환불은 14일 안에 지급됩니다. 배송비 3,000원은 환불되지 않습니다. 개봉한 소프트웨어는 반품할 수 없습니다."
CHINESE = "儿童每天应在户外活动至少两小时。低浓度阿托品滴眼液每晚使用一次。角膜塑形镜只能在夜间佩戴。"


@pytest.mark.parametrize(
    ("block", "answer", "cited"),
    [
        (REFUNDS, "The shipping fee is not refunded [1].", "The shipping fee is not refunded."),
        (REFUNDS, "Yes, within 14 days all refunds are paid [1].", "Refunds are paid within 14 days."),
        (REFUNDS, "Something else altogether happens [1].", None),
        (REFUNDS, "[1]", None),
        (KOREAN, "- 배송비 3,000원은 환불되지 않습니다 [1].", "배송비 3,000원은 환불되지 않습니다."),
        (CHINESE, "角膜塑形镜只能在夜间佩戴[1]。", "角膜塑形镜只能在夜间佩戴。"),
        ("The fee is 3. The fee is 3.", "The fee is 3 [1].", None),
        ("- one book\n- two films", "Two films may be borrowed [1].", "- two films"),
    ],
)
def test_sentence_of_a_mark(block: str, answer: str, cited: str | None) -> None:
    place = CitedPlace(n=1, url="", page=None, source_start=100, source_end=100 + len(block), cited_text=block)
    found = sentence_of(f"First of all. {answer}", 14 + answer.index("["), place)
    assert (found and block[found[0] - 100 : found[1] - 100]) == cited


def test_address_of_a_sentence() -> None:
    assert at_sentence("/sources/a.md?start=0&end=90", "a.md", (5, 20)) == "/sources/a.md?start=5&end=20"
    assert at_sentence("/sources/a.md?start=0&end=90", "a.md", None) == "/sources/a.md?start=0&end=90"
    assert at_sentence("https://example.org/a#b", "a.md", (5, 20)) == "https://example.org/a#b"
