"""Records are packed where it pays, and read back byte for byte; what was stored unpacked is read as it is."""

import secrets
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.journal.packing import pack, unpack
from bus.journal.records import encode
from bus.wire.messages import QuestionAsked, RunFinished, Settled
from bus.wire.subjects import finished, key_of
from tests.bus.toys import READY
from tests.bus.wires import Wire

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
    monkeypatch.setattr("bus.journal.packing._LONGEST", 1000)
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
