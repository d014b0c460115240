"""Words of a text that match the question: their form and their exact position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.matching import content_words, matches


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("How many days until refunds are paid?", "Paid within 14 days, or until May; a refund", ["Paid", "days", "refund"]),
        ("shipping fee", "Shipping  fee; shipping fee; shipping-fee.", ["Shipping", "fee", "shipping fee", "shipping-fee"]),
        ("what does --history-max do?", "Use `--history-max 5` or --max.", ["history-max", "max"]),
        ("1,000 won?", "It costs 1000 won, not 100.", ["1000 won"]),
        ("who is it?", "Who is it?", []),
        ("", "Anything at all.", []),
        ("환불은 며칠 안에 지급되나요?", "환불은 반품을 받은 날부터 14일 안에 지급됩니다.", ["환불", "안에 지급"]),
        ("배송비 환불", "무료배송비는 환불되지 않습니다.", ["배송비", "환불"]),
        ("책", "책을 산책하며 읽는다.", ["책"]),
        ("儿童每天应在户外活动多久？", "儿童每天应在户外活动至少两小时。", ["儿童每天应", "户外活动"]),
        ("متى تغلق المكتبة؟", "تُغلق المكتبة أبوابها. في المَكْتَبَةِ", ["تُغلق", "مكتبة", "مَكْتَبَةِ"]),
        ("Où sont les étudiants ?", "E\u0301tudiant, 👩‍🎓 étudiants", ["E\u0301tudiant", "étudiants"]),
        ("¿Cuántos libros puede llevarse?", "El libro puede llevarse.", ["libro", "llevarse"]),
        ("React Context란?", "React의 Context는 값을 전달합니다.", ["React", "Context"]),
    ],
)  # fmt: skip
def test_content_words_match_in_any_form(question: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in matches(text, content_words(question))] == found


@given(st.text("aB é환불은学校أَل\u0301\u1161-— \n1,👩", max_size=60), st.text("aB é환불学校أل1 ", max_size=20))
def test_stretches_are_ordered_and_separate(text: str, question: str) -> None:
    found = matches(text, content_words(question))
    edges = [at for stretch in found for at in stretch]
    assert edges == sorted(set(edges))
    assert all(0 <= at <= len(text) for at in edges)
