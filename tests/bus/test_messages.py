"""Every message keeps its wire form; records are packed where it pays; an id is one token of a subject; citations."""

import secrets
import zlib
from pathlib import Path

import msgspec
import pytest
from groundwire.wire import CitedPlace
from hypothesis import given
from hypothesis import strategies as st

from bus.journal.records import AskRecord, Stage, decode, encode, pack, unpack
from bus.runs.citing import at_sentence, sentence_of
from bus.wire.errors import Poison
from bus.wire.messages import (
    BY_TYPE,
    CATALOGUE,
    EARLIER_REQUESTS,
    MAIN,
    AnswerRequested,
    Message,
    QuestionAsked,
    RunFinished,
    lane_of,
    message_type,
)
from bus.wire.settled import Settled
from bus.wire.subjects import BadId, Key, check_id, finished, key_of, parse
from tests.bus.toys import READY
from tests.bus.wires import Wire
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
    earlier = msgspec.json.decode((GOLDEN / "earlier/simple_answer_requested.json").read_bytes()) | {"type": kind}
    now = msgspec.structs.replace(SAMPLES[AnswerRequested], style=EARLIER_REQUESTS[kind])
    assert decode(kind, msgspec.json.encode(earlier)) == now


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


STAGE = "gw.passages_ready.run.main"
LONG = b'{"passages":[' + b'"the same words again",' * 100 + b"0]}\n{}"


@given(st.binary(max_size=2000).map(lambda rest: b"{" + rest))
def test_packed_record_round_trips(data: bytes) -> None:
    assert unpack(pack(STAGE, data)) == data


@given(st.binary(max_size=200))
def test_unpacked_bytes_stay_unchanged(data: bytes) -> None:
    try:
        zlib.decompress(data)
    except zlib.error:
        assert unpack(data) == data


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_truncated_record_is_an_error(cut: int) -> None:
    packed = pack(STAGE, LONG)
    assert unpack(packed[:-cut]) == packed[:-cut]


def test_flood_of_zeros_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bus.journal.records._LONGEST", 1000)
    packed = zlib.compress(b"\0" * 1001)
    assert unpack(packed) == packed


def test_long_record_shrinks() -> None:
    assert len(pack(STAGE, LONG)) < len(LONG) / 5


@pytest.mark.parametrize("subject", ["gw.question_asked.run", "gw.run_finished.run.main", "gw.poison.run.x-main"])
def test_records_for_others_are_never_packed(subject: str) -> None:
    assert pack(subject, LONG) == LONG


async def test_journal_stores_packed_and_reads_both(wire: Wire) -> None:
    run_id = secrets.token_hex(6)
    asked = QuestionAsked(question="How long? " * 200)
    ready, end = key_of(type(READY), run_id), finished(run_id)
    long = encode(READY) + b"\n" + LONG
    await wire.journal.write(key_of(QuestionAsked, run_id), asked)
    await wire.journal.publish(ready.subject, long)
    await wire.client.jetstream().publish(key_of(type(READY), run_id, "old").subject, long)  # as older versions wrote
    await wire.journal.write(end, RunFinished(settled=Settled(outcome="answered", answer="14 days. " * 100)))
    records = await wire.journal.run(run_id)
    assert [record.data for record in records[1:3]] == [long, long]
    assert records[1].message == READY
    stored = [(await wire.journal.js.get_msg("RUNS", record.sequence)).data or b"" for record in records]
    assert (stored[0], stored[2]) == (encode(asked), long)
    assert stored[3].startswith(b'{"type":"run_finished"')
    assert len(stored[1]) < len(long) / 2


HOSTILE = ["", "a b", "a.b", "*", ">", "../etc", "a\r\nPUB x", "a\x00", "é", "٣", "x" * 65, "$JS", "a:b"]


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
