"""Every message keeps its wire form: byte for byte as its golden file, and back to the same value."""

from pathlib import Path

import msgspec
import pytest

from bus.journal.records import AskRecord, Stage, decode, encode
from bus.wire.errors import Poison
from bus.wire.messages import (
    BY_TYPE,
    CATALOGUE,
    EARLIER_REQUESTS,
    MAIN,
    AnswerRequested,
    Draft,
    Message,
    QuestionAsked,
    lane_of,
    message_type,
)
from tests.message_samples import SAMPLES

GOLDEN = Path(__file__).with_name("golden")

#: To renew the golden files after a change of the wire form that is meant: `PYTHONPATH=.:tests python tests/bus/test_messages.py`.


@pytest.mark.parametrize("kind", CATALOGUE, ids=message_type)
def test_the_wire_form_is_golden(kind: type[Message]) -> None:
    golden = (GOLDEN / f"{message_type(kind)}.json").read_bytes()
    assert msgspec.json.format(encode(SAMPLES[kind])) + b"\n" == golden


@pytest.mark.parametrize("kind", CATALOGUE, ids=message_type)
def test_message_round_trips(kind: type[Message]) -> None:
    message = SAMPLES[kind]
    assert decode(message_type(kind), encode(message)) == message
    if kind is not QuestionAsked:  # no stage has made it, so a caller may write it over several lines
        stage = Stage(actor="someone", asks=(AskRecord(prompt="p", variables="v", text="two\nlines"),))
        assert decode(message_type(kind), encode(message, stage)) == message


def test_every_message_has_one_golden_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(BY_TYPE)


@pytest.mark.parametrize("kind", EARLIER_REQUESTS)
def test_earlier_request_decodes_with_its_style(kind: str) -> None:
    earlier = msgspec.json.decode((GOLDEN / f"earlier/{kind}.json").read_bytes())
    now = msgspec.structs.replace(SAMPLES[AnswerRequested], style=EARLIER_REQUESTS[kind])
    assert decode(kind, msgspec.json.encode(earlier)) == now


def test_bases_are_never_sent() -> None:
    assert not {Message, Draft} & set(CATALOGUE)


@pytest.mark.parametrize(
    ("kind", "lane"),
    [
        ("question_asked", MAIN),
        ("query_decomposed", "main"),
        ("sub_query_planned", "sq_1"),
        ("passages_judged", "sq_1"),
        ("run_finished", MAIN),
    ],
)
def test_a_message_knows_its_lane(kind: str, lane: str) -> None:
    assert lane_of(SAMPLES[BY_TYPE[kind]]) == lane


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("question_asked", b"", "truncated"),
        ("question_asked", b"\xff\xfe", "question_asked"),
        ("question_asked", b"null", "question_asked"),
        ("question_asked", b'{"type":"run_finished"}', "run_finished"),
        ("question_asked", b'{"type":"question_asked","question":""}', "length"),
        ("question_asked", b'{"type":"question_asked","question":17}', "int"),
        ("question_asked", b'{"type":"question_asked","question":"x","colour":"red"}', "colour"),
        ("question_asked", b'{"type":"question_asked","question":"x","profile":"a.b"}', "profile"),
        ("question_asked", b'{"type":"question_asked","question":"x","deadline_s":"9"}', "deadline_s"),
        ("no_such_message", b"{}", "no_such_message"),
    ],
)
def test_invalid_message_is_poison_with_a_reason(kind: str, data: bytes, why: str) -> None:
    with pytest.raises(Poison, match=why) as caught:
        decode(kind, data)
    assert "\n" not in str(caught.value)


def test_question_length_limit_is_exact() -> None:
    assert decode("question_asked", encode(QuestionAsked(question="가" * 4000)))
    with pytest.raises(Poison, match="4000"):
        decode("question_asked", encode(QuestionAsked(question="가" * 4001)))


if __name__ == "__main__":
    for each, sample in SAMPLES.items():
        (GOLDEN / f"{message_type(each)}.json").write_bytes(msgspec.json.format(encode(sample)) + b"\n")
