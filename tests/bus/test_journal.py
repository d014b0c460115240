"""The journal over a real nats-server: each key once, from any writer; a trace in one read; access records and chats."""

import asyncio
import secrets
from types import SimpleNamespace
from typing import Any

import nats.js.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.journal.access import Access, access_in, access_key, access_of, grant, groups_named
from bus.journal.journal import WRONG_LAST, Journal
from bus.journal.pruning import remove_run
from bus.journal.records import AskRecord, SearchRecord, Stage, decode, encode
from bus.runs.runs import Runs
from bus.transport.connection import connect
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, QuestionReady, RunFinished
from bus.wire.subjects import EVENTS, RUNS, Key, event_subject, finished, key_of, progress_subject
from tests.bus.wires import Opener, Server, Wire
from tests.message_samples import SAMPLES

ASKED, READY, FINISHED = SAMPLES[QuestionAsked], SAMPLES[QuestionReady], SAMPLES[RunFinished]


def run() -> str:
    return secrets.token_hex(6)


async def test_first_write_of_a_key_stays(wire: Wire) -> None:
    key = key_of(QuestionAsked, run())
    assert await wire.journal.write(key, QuestionAsked(question="first"))
    assert not await wire.journal.write(key, QuestionAsked(question="second"))
    (record,) = await wire.journal.latest([key.subject])
    assert record.message == QuestionAsked(question="first")
    assert record.key == key


async def test_of_many_writers_one_wins(wire: Wire, another_wire: Opener) -> None:
    writers = [wire, await another_wire(), await another_wire()]
    for _ in range(20):
        key = finished(run())
        won = await asyncio.gather(
            *(w.journal.publish(key.subject, str(n).encode()) for n, w in enumerate(writers * 4))
        )
        (winner,) = [n for n, sequence in enumerate(won) if sequence is not None]
        (record,) = await wire.journal.latest([key.subject])
        assert (record.data, record.sequence) == (str(winner).encode(), won[winner])


async def test_lanes_and_types_have_separate_keys(wire: Wire) -> None:
    run_id = run()
    keys = [Key("passages_judged", run_id, "sq_1"), Key("passages_judged", run_id, "sq_2"), finished(run_id)]
    assert all([await wire.journal.publish(key.subject, b"{}") for key in keys])
    assert [record.key for record in await wire.journal.latest([f"gw.passages_judged.{run_id}.*"])] == keys[:2]


async def test_latest_reads_several_filters_oldest_first(wire: Wire) -> None:
    run_id, other = run(), run()
    keys = [key_of(QuestionAsked, run_id), key_of(QuestionReady, run_id), finished(run_id)]
    for key, message in zip(keys, (ASKED, READY, FINISHED), strict=True):
        await wire.journal.write(key, message, headers={"Gw-Cause": "7"})
    await wire.journal.write(key_of(QuestionAsked, other), ASKED)
    records = await wire.journal.run(run_id)
    assert [record.key for record in records] == keys
    assert [record.message for record in records] == [ASKED, READY, FINISHED]
    assert [record.sequence for record in records] == sorted(record.sequence for record in records)
    assert all(record.headers["Gw-Cause"] == "7" and record.time > 1.7e9 for record in records)
    assert [r.key for r in await wire.journal.latest([keys[2].subject, keys[0].subject])] == [keys[0], keys[2]]


async def test_lagging_server_is_not_believed(wire: Wire) -> None:
    run_id = run()
    asked, ready = key_of(QuestionAsked, run_id), key_of(QuestionReady, run_id)
    await wire.journal.write(asked, ASKED)
    (record,) = await wire.journal.latest([asked.subject])
    nothing, itself = [ready.subject], [asked.subject]
    assert await wire.journal.latest(nothing, behind=(asked.subject, record.sequence)) == []
    assert len(await wire.journal.latest(itself, behind=(asked.subject, record.sequence))) == 1
    await wire.journal.write(ready, READY)
    (of_all,) = await wire.journal.latest([f"gw.*.{run_id}.*"])
    found = await wire.journal.latest([f"gw.{ready.type}.{run_id}.*"], behind=(ready.subject, of_all.sequence))
    assert [each.key for each in found] == [ready]  # though it has the name of the stored one
    for filters in (nothing, itself):
        with pytest.raises(Unavailable, match="the stream RUNS cannot be read"):
            await wire.journal.latest(filters, behind=(asked.subject, record.sequence + 10**9))


async def test_missing_record_is_empty_at_once(wire: Wire) -> None:
    run_id = run()
    assert await wire.journal.run(run_id) == []
    assert await wire.journal.frames(run_id) == []
    assert await wire.journal.last_frame(run_id) is None
    assert await wire.journal.at(10**9) is None


async def test_record_is_read_by_its_sequence(wire: Wire) -> None:
    run_id = run()
    await wire.journal.write(finished(run_id), FINISHED)
    (record,) = await wire.journal.run(run_id)
    found = await wire.journal.at(record.sequence)
    assert found is not None
    assert (found.key, found.message, found.time) == (record.key, FINISHED, record.time)
    assert (await wire.journal.usage(RUNS)).last >= record.sequence


async def test_stage_is_stored_next_to_the_message(wire: Wire) -> None:
    run_id = run()
    stage = Stage(
        actor="retrieve",
        took_s=0.25,
        attempt=2,
        fallback="Unavailable: no index",
        asks=(AskRecord(prompt="p", variables="v", text='{"a":\n1}'),),
        searches=(SearchRecord(query="환불", hits=b'{"passages":[]}', took_s=0.1),),  # type: ignore[arg-type]
    )
    await wire.journal.write(key_of(QuestionReady, run_id), READY, stage=stage)
    (record,) = await wire.journal.run(run_id)
    assert record.message == READY
    assert record.stage is not None
    assert encode(READY, record.stage) == encode(READY, stage)
    assert decode("question_ready", encode(READY)) == READY


async def test_many_frames_are_read_in_order(wire: Wire) -> None:
    run_id = run()
    for n in range(300):
        await wire.journal.js.publish(event_subject(run_id), str(n).encode(), stream=EVENTS)
    await wire.journal.js.publish(progress_subject(run_id), b"aside", stream=EVENTS)
    frames = await wire.journal.frames(run_id)
    assert [frame.data for frame in frames] == [str(n).encode() for n in range(300)]
    both = await wire.journal.frames(run_id, progress=True)
    assert [(frame.data, frame.fenced) for frame in both[-2:]] == [(b"299", True), (b"aside", False)]
    last = await wire.journal.last_frame(run_id)
    assert last is not None
    assert last.data == b"299"


async def test_write_outlasts_a_killed_server(server: Server, own_wire: Wire) -> None:
    run_id = run()
    assert await own_wire.journal.write(key_of(QuestionAsked, run_id), ASKED)
    server.kill()
    writing = asyncio.create_task(own_wire.journal.write(finished(run_id), FINISHED, patience_s=60.0))
    server.start()
    await writing  # whether it was the first or found its own record there, its ack being lost
    assert [record.message for record in await own_wire.journal.run(run_id)] == [ASKED, FINISHED]
    assert not await own_wire.journal.write(key_of(QuestionAsked, run_id), ASKED)


async def test_refused_and_missing_record_is_not_stored(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader that was cut off holds the first try, refuses the second because of it, and stores neither."""
    tries = 0

    async def cut_off(*_: object, **__: object) -> SimpleNamespace:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise TimeoutError
        return SimpleNamespace(
            data=b'{"error":{"code":400,"err_code":%d,"description":"wrong last sequence"}}' % WRONG_LAST
        )

    really = wire.client.request
    monkeypatch.setattr(wire.client, "request", cut_off)
    key = key_of(QuestionAsked, run())
    with pytest.raises(Unavailable, match="takes no record, and has none"):
        await wire.journal.write(key, QuestionAsked(question="Lost?"), patience_s=0.3)

    async def unheard(*arguments: Any, **options: Any) -> None:
        await really(*arguments, **options)
        monkeypatch.setattr(wire.client, "request", really)
        raise TimeoutError

    monkeypatch.setattr(wire.client, "request", unheard)
    assert not await wire.journal.write(key, QuestionAsked(question="Stored?"))
    (there,) = await wire.journal.latest([key.subject])
    assert there.message == QuestionAsked(question="Stored?")


async def test_absent_journal_is_unavailable(server: Server, own_wire: Wire) -> None:
    server.kill()
    with pytest.raises(Unavailable, match="is nats-server running"):
        await own_wire.journal.write(finished(run()), FINISHED, patience_s=0.05)


async def test_record_cannot_be_erased_or_replaced(wire: Wire) -> None:
    """Roll-ups, per-message expiry and schedules would let one writer erase another's records."""
    key = finished(run())
    await wire.journal.publish(key.subject, b"{}")
    for header in ({"Nats-Rollup": "sub"}, {"Nats-Rollup": "all"}, {"Nats-TTL": "1s"}):
        with pytest.raises(nats.js.errors.APIError):
            await wire.journal.js.publish(key.subject, b"forged", headers=header, stream=RUNS)
    (record,) = await wire.journal.latest([key.subject])
    assert record.data == b"{}"


async def test_without_jetstream_a_read_is_unavailable(server: Server) -> None:
    client = await connect(server.url, name="bare")
    journal = Journal(client)
    with pytest.raises(Unavailable, match="cannot be read"):
        await journal.usage(RUNS)
    await client.close()


@given(st.text())
def test_stage_keeps_to_two_lines(text: str) -> None:
    question = QuestionReady(question=SAMPLES[QuestionReady].question)  # type: ignore[attr-defined]
    if any("\ud800" <= char <= "\udfff" for char in text):
        return
    data = encode(question, Stage(actor=text))
    assert data.count(b"\n") == 1
    assert decode("question_ready", data) == question


ASKERS = (
    None,
    Access(key="ann"),
    Access(key="ann", groups=()),
    Access(key="ann", groups=("sales",)),
    Access(key="eve"),
)


async def test_every_process_with_the_secret_reads_the_last_run(wire: Wire) -> None:
    first, second = (Runs(wire.journal, secret=b"s") for _ in range(2))
    chat = secrets.token_hex(8)
    assert await first.latest_of_chat(chat) is None
    for run_id in ("a1", "b2", "a1"):
        await first.add_to_chat(chat + run_id, chat)
    assert await second.latest_of_chat(chat) == f"{chat}b2", "a run is added once"
    stranger = Runs(wire.journal, secret=b"another")
    assert await stranger.latest_of_chat(chat) is None


async def test_name_is_another_chat_for_each_key(wire: Wire) -> None:
    runs = Runs(wire.journal)
    chat = secrets.token_hex(8)
    for number, access in enumerate(ASKERS):
        await runs.add_to_chat(f"{chat}-{number}", chat, access)
    assert [await runs.latest_of_chat(chat, access) for access in ASKERS] == [
        f"{chat}-{number}" for number in range(len(ASKERS))
    ]


async def test_chat_leaves_the_journal_with_its_run(wire: Wire) -> None:
    runs = Runs(wire.journal)
    chat, run_id = secrets.token_hex(8), secrets.token_hex(8)
    await wire.journal.write(key_of(QuestionAsked, run_id), QuestionAsked(question="how long"))
    await runs.add_to_chat(run_id, chat)
    record = await runs.record(run_id)
    assert record is not None
    assert record.question == "how long", "the record of a run is read as before"
    await remove_run(wire.journal, run_id)
    assert await runs.latest_of_chat(chat) is None


async def test_it_is_written_once(wire: Wire) -> None:
    run_id = secrets.token_hex(8)
    assert await access_of(wire.journal, run_id) is None
    assert await grant(wire.journal, run_id, Access(key="ann", groups=("sales",)))
    assert not await grant(wire.journal, run_id, Access(key="eve"))
    assert await access_of(wire.journal, run_id) == Access(key="ann", groups=("sales",))
    assert access_in(await wire.journal.run(run_id)) == Access(key="ann", groups=("sales",))


async def test_unreadable_access_record_sees_public_documents(wire: Wire) -> None:
    run_id = secrets.token_hex(8)
    await wire.journal.publish(access_key(run_id).subject, b'{"groups": 7}')
    assert await access_of(wire.journal, run_id) == Access(key="", groups=())


@pytest.mark.parametrize(
    ("setting", "groups"), [("*", None), (" * ", None), ("", ()), ("sales", ("sales",)), ("a, b,,c ", ("a", "b", "c"))]
)
def test_groups_are_named_with_commas(setting: str, groups: tuple[str, ...] | None) -> None:
    assert groups_named(setting) == groups
