"""An id is always exactly one token of a subject."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.wire.messages import BY_TYPE, QuestionAsked, RunFinished
from bus.wire.subjects import BadId, Key, check_id, consumed_subject, finished, key_of, parse, run_filters

HOSTILE = [
    "",
    " ",
    "a b",
    "a.b",
    ".",
    "*",
    ">",
    "a*",
    "gw.>",
    "a/b",
    "../etc",
    "a\\b",
    "a\n",
    "a\r\nPUB x",
    "a\x00",
    "é",
    "질문",
    "٣",
    "x" * 65,
    "$JS",
    "a:b",
]


@pytest.mark.parametrize("value", ["a", "0", "A-Z_9", "-", "x" * 64])
def test_a_plain_id_is_itself(value: str) -> None:
    assert check_id(value) == value


@pytest.mark.parametrize("value", HOSTILE)
def test_injection_into_a_subject_is_refused(value: str) -> None:
    with pytest.raises(BadId, match="use 1 to 64 of the characters A-Z, a-z, 0-9, _ and -"):
        check_id(value)


@given(st.text(max_size=70))
def test_valid_id_has_only_its_alphabet(value: str) -> None:
    try:
        check_id(value)
    except BadId:
        return
    assert value
    assert all(char.isascii() and (char.isalnum() or char in "_-") for char in value)


def test_long_hostile_id_is_shortened_in_the_message() -> None:
    with pytest.raises(BadId) as caught:
        check_id("." * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        ("gw.question_asked.r1", Key("question_asked", "r1")),
        ("gw.run_finished.r1.main", Key("run_finished", "r1", "main")),
        ("gw.passages_judged.r1.sq_add_2", Key("passages_judged", "r1", "sq_add_2")),
    ],
)
def test_key_and_subject_correspond(subject: str, key: Key) -> None:
    assert parse(subject) == key
    assert key.subject == subject


@pytest.mark.parametrize(
    "subject",
    [
        "gw.question_asked",
        "gw.run_finished.r1",
        "gw.a.b.c.d",
        "xx.run_finished.r1.main",
        "gw.run_finished.r 1.main",
        "gw.run_finished.r1.*",
        "gw.run_finished..main",
        "",
    ],
)
def test_other_subjects_name_no_key(subject: str) -> None:
    with pytest.raises(BadId):
        parse(subject)


def test_filters_of_a_run_and_its_consumers() -> None:
    assert run_filters("r1") == ["gw.question_asked.r1", "gw.*.r1.*"]
    assert consumed_subject(QuestionAsked) == "gw.question_asked.*"
    assert consumed_subject(RunFinished) == "gw.run_finished.*.*"
    assert finished("r1") == key_of(RunFinished, "r1")
    assert len({consumed_subject(message) for message in BY_TYPE.values()}) == len(BY_TYPE)
