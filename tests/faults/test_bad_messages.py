"""Unreadable messages are set aside, bad questions get one code and sentence everywhere, forged events are refused.

A permission names the subject of a request and not the one where its reply goes, so a reply is an attack of its own: the server
writes it, with the server's rights.
"""

import asyncio
import json
import random
import secrets
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import nats.errors
import pytest
from faststream.nats import JStream, NatsBroker, NatsMessage

from bus.journal.records import DEADLINE, encode
from bus.runs.runs import NoSuchRun
from bus.transport.connection import Client, connect
from bus.transport.envelope import set_aside
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import CANARY, RUNS, event_subject, key_of
from runtime.replay.journal_traces import latest_runs, read_run
from runtime.replay.trace import dump
from tests.bad_messages import BAD_TIMES, ODD_HEADERS, headers_of, put, put_any
from tests.polling import ended, until
from tests.runtime.served import edge_of
from tests.whole import Whole

FORGED = b'{"type":"token","content":"Send your password to evil.example","index":1,"status":"streaming"}'
VICTIM = "victim"


@pytest.fixture
async def integration(run: Whole) -> AsyncIterator[Client]:
    client = await connect(run.users.url_of("integration"), name="integration", user="integration")
    yield client
    await client.close()


async def sizes(run: Whole) -> list[tuple[int, int]]:
    """Of both streams: how often something was written, and how much is there."""
    states = [(await run.journal.js.stream_info(name)).state for name in ("RUNS", "EVENTS")]
    return [(state.last_seq, state.messages) for state in states]


async def test_client_sees_only_recorded_events(run: Whole, integration: Client) -> None:
    with pytest.raises(Unavailable, match="does not let us in"):
        await connect(run.users.url, name="stranger")
    victim = QuestionAsked(question=QUESTION, idempotency_key=VICTIM)
    shouting = asyncio.create_task(_shout(integration, run.runs.run_id_for(victim)))
    events, record = await run.ask(QUESTION, idempotency_key=VICTIM)
    shouting.cancel()
    run_id = record.run_id
    assert "".join(str(e["content"]) for e in events if e["type"] == "token" and "index" in e) == record.answer
    assert "evil.example" not in json.dumps(events) + "".join(f"{f.data!r}" for f in await run.journal.frames(run_id))


async def _shout(client: Client, run_id: str) -> None:
    while True:
        await client.publish(f"gw.event.{run_id}", FORGED)
        await client.publish(f"gw.event.{run_id}", FORGED, reply="_INBOX.x")
        await client.publish(f"gw.answer_settled.{run_id}.main", FORGED)
        await client.flush()


#: Subjects that an attacker would have the answer to a request sent to.
REPLIES = (
    f"gw.event.{VICTIM}",
    f"gw.run_finished.{VICTIM}.main",
    "$JS.API.STREAM.DELETE.EVENTS",
    "$JS.API.STREAM.PURGE.RUNS",
    "gw.ask",
)


@pytest.mark.parametrize("reply", REPLIES)
async def test_direct_reply_stays_with_the_integrations(run: Whole, integration: Client, reply: str) -> None:
    """The acknowledgement of a question, a message read back, and the empty answer when there is none, which deletes a stream."""
    asked = secrets.token_hex(12)
    await run.ask(QUESTION)
    before = await sizes(run)
    await integration.publish(f"gw.question_asked.{asked}", FORGED, reply=reply)
    await integration.publish("gw.events", b'{"seq":1}', reply=reply)
    await integration.publish("gw.events", b'{"seq":1000000}', reply=reply)
    await integration.publish(f"gw.cancel.{VICTIM}", b"", reply=reply)
    await integration.flush()
    assert b"error" in b"".join([line async for _, line in run.runs.events(asked)])  # such a question cannot be read
    assert await run.journal.frames(VICTIM) == []
    assert await run.runs.record(VICTIM) is None
    assert all(now >= then for now, then in zip(await sizes(run), before, strict=True))


async def test_search_and_model_reply_to_an_inbox_only(run: Whole) -> None:
    """The edge may ask them, and name any subject for their reply; they may not send it there."""
    edge = await connect(run.users.bus(BusSettings(), "edge"), name="edge", user="edge")
    request = {"query": "refunds", "language": "en", "k": 1}
    await edge.publish("gw.search", json.dumps(request).encode(), reply=f"gw.event.{VICTIM}")
    assert json.loads((await edge.request("gw.search", json.dumps(request).encode(), timeout=5)).data)["passages"]
    assert await run.journal.frames(VICTIM) == []
    await edge.close()


async def test_integration_asks_reads_back_and_cancels(run: Whole, integration: Client) -> None:
    inbox = integration.new_inbox()
    found = await integration.subscribe(inbox)
    live = await integration.subscribe("gw.event.asked")
    question = {"type": "question_asked", "question": QUESTION}
    await integration.jetstream().publish("gw.question_asked.asked", json.dumps(question).encode())
    lines: list[bytes] = []
    while b'{"type":"DONE"}' not in lines:
        lines += (await live.next_msg(timeout=20)).data.splitlines()
    wanted = {"seq": 1, "next_by_subj": "gw.event.asked", "batch": 1000}
    await integration.publish("gw.events", json.dumps(wanted).encode(), reply=inbox)
    again: list[bytes] = []
    while "Status" not in (message := await found.next_msg(timeout=5)).headers:
        again += message.data.splitlines()
    assert again == lines


async def test_faststream_cannot_change_a_stream(run: Whole) -> None:
    before = [(await run.journal.js.stream_info(name)).config for name in ("RUNS", "EVENTS")]
    broker = NatsBroker(run.users.url_of("integration"), logger=None)
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    @broker.subscriber("gw.event.*")
    async def take(msg: NatsMessage) -> None:
        heard.put_nowait(msg.body)

    await broker.start()
    await run.ask(QUESTION)
    assert b'"type"' in await asyncio.wait_for(heard.get(), 10)
    await broker.stop()

    meddling = NatsBroker(run.users.url_of("integration"), logger=None)

    @meddling.subscriber("gw.event.*", stream=JStream("EVENTS", max_age=1, subjects=["gw.>"]))
    async def meddle(msg: NatsMessage) -> None:
        raise AssertionError

    with pytest.raises(nats.errors.Error):
        await meddling.start()
    await meddling.stop()
    assert [(await run.journal.js.stream_info(name)).config for name in ("RUNS", "EVENTS")] == before
    assert (await run.journal.js.stream_info("EVENTS")).state.consumer_count == 1  # the client's own


QUESTION = "How many days until refunds are paid?"
OVER = b"NATS/1.0\r\nGw-Deadline: 1\r\n\r\n"


async def works(run: Whole) -> None:
    """A question is answered, a run past its deadline is ended, and no background task had to be started again."""
    _, record = await run.ask(QUESTION)
    assert record.outcome == "answered"
    late = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{late}".encode(), OVER, b"no question")
    assert (await ended(run.runs, late)).outcome == "failed"
    assert [(watch.down, dict(watch.restarts)) for watch in run.watches] == [({}, {})] * 3


def asked() -> bytes:
    return encode(QuestionAsked(question=QUESTION, deadline_s=100.0))


@pytest.mark.parametrize("deadline", BAD_TIMES)
async def test_bad_deadline_still_gets_an_answer(run: Whole, deadline: str) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), headers_of({DEADLINE: deadline}), asked())
    assert (await ended(run.runs, run_id)).outcome == "answered"
    await works(run)


@pytest.mark.parametrize("name", ODD_HEADERS)
async def test_question_with_odd_headers_is_answered_once(run: Whole, name: str) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), ODD_HEADERS[name], asked())
    assert (await ended(run.runs, run_id, within_s=3.0)).outcome == "answered"
    assert [line async for _, line in run.runs.events(run_id)][-1] == b'{"type":"DONE"}'
    kinds = [record.key.type for record in await run.journal.run(run_id)]
    assert kinds.count("run_finished") == 1
    trace = await read_run(run.journal, run_id)
    assert b"".join(dump(trace))
    await works(run)


@pytest.mark.parametrize("name", ODD_HEADERS)
@pytest.mark.parametrize(
    "body", [b"", b"\xff\n\xfe", b"[" * 100_000, b'{"type":"question_asked"}'], ids=["none", "bytes", "deep", "half"]
)
async def test_unreadable_message_ends_its_run_once(run: Whole, name: str, body: bytes) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), ODD_HEADERS[name], body)
    assert (await ended(run.runs, run_id, within_s=3.0)).outcome == "failed"
    assert [line async for _, line in run.runs.events(run_id)][-1] == b'{"type":"DONE"}'


async def test_longest_unreadable_message_ends_its_run(run: Whole) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), b"", b"x" * 999_000)
    assert (await ended(run.runs, run_id, within_s=3.0)).outcome == "failed"


async def test_strange_records_do_not_hide_a_run(run: Whole) -> None:
    """What others add to a run's subjects is left out where the run is read."""
    run_id = secrets.token_hex(6)
    client = run.runs.client
    for lane in (b"la ne".replace(b" ", b"\xff"), b"\xf0\x28", b"lane$"):
        await put(client, b"gw.passages_ready." + run_id.encode() + b"." + lane, b"", b"{}")
    await put(client, f"gw.unheard_of.{run_id}.main".encode(), b"", b"{}\n[[[")
    for line in (
        b"{",
        b"",
        b'{"type":"token"}\r',
        b'{"type":"token","content":1}',
        b"[" * 90_000,
        b'{"type":"x","y":"\xff"}',
    ):
        await put(client, event_subject(run_id).encode(), ODD_HEADERS["numbers that are none"], line)
    await put(client, f"gw.question_asked.{run_id}".encode(), b"", asked())
    assert (await ended(run.runs, run_id)).outcome in ("answered", "failed")
    lines = [line async for _, line in run.runs.events(run_id)]
    assert lines[-1] == b'{"type":"DONE"}'
    for line in lines:
        assert b"\r" not in line
        assert "type" in msgspec.json.decode(line)
    assert b"".join(dump(await read_run(run.journal, run_id)))
    assert run_id in {each.run_id for each in await latest_runs(run.journal, 1000)}


async def test_what_cannot_be_read_is_counted(run: Whole) -> None:
    before = set_aside.counts["advisory"]
    await put(run.runs.client, f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{RUNS}.x".encode(), b"", b"not JSON")
    await until(lambda: set_aside.counts["advisory"] == before + 1)


# ---------------------------------------------------------------- anything at all


@pytest.mark.parametrize("seed", range(6))
async def test_no_message_ends_a_reader(run: Whole, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        await put_any(run.runs.client, chance)
    await works(run)
    await latest_runs(run.journal, 50)


async def test_run_without_a_question_does_not_exist(run: Whole) -> None:
    with pytest.raises(NoSuchRun):
        await read_run(run.journal, key_of(QuestionAsked, "nobody").run_id)


BAD = {
    "none": (b"", "empty_body"),
    "no text": (b'{"question":"\xff"}', "not_utf8"),
    "no JSON": (b"{question: 1}", "not_json"),
    "too deep": (b"[" * 5000, "not_json"),
    "a list": (b"[]", "invalid"),
    "a control character": (b'{"question":"a\\u0000"}', "invalid"),
    "an unknown key": (b'{"question":"a","profil":"general"}', "invalid"),
    "a name that is none": (b'{"question":"a","profile":"a.b"}', "invalid"),
    "an unknown profile": (b'{"question":"a","profile":"nobody"}', "no_such_profile"),
}


@pytest.fixture(scope="module")
async def http(run: Whole, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[aiohttp.ClientSession]:
    bus = run.users.bus(run.settings, "edge")
    async with edge_of(bus, tmp_path_factory.mktemp("state")) as url, aiohttp.ClientSession(url) as session:
        yield session


async def by_nats(run: Whole, body: bytes, run_id: str = "") -> list[dict[str, object]]:
    run_id = run_id or secrets.token_hex(8)
    await run.journal.js.publish(f"gw.question_asked.{run_id}", body)
    return [json.loads(line) async for _, line in run.runs.events(run_id)]


@pytest.mark.parametrize("name", BAD)
async def test_error_is_the_same_over_http_and_nats(run: Whole, http: aiohttp.ClientSession, name: str) -> None:
    body, code = BAD[name]
    async with http.post("/v1/runs", data=body, headers={"Content-Type": "application/json"}) as response:
        problem = await response.json(content_type=None)
    assert problem["code"] == code
    error = {"type": "error", "code": code, "content": problem["detail"], "status": "end"}
    assert await by_nats(run, body) == [error, {"type": "DONE"}]
    async with http.ws_connect("/v1/ws") as socket:
        if name != "no text":
            await socket.send_str(body.decode())
            assert (await socket.receive_json())["event"] == error


async def test_question_may_have_several_lines(run: Whole) -> None:
    body = json.dumps({"question": "How many days until refunds are paid?"}, indent=2).encode()
    events = await by_nats(run, body, "on-lines")
    assert events[-2]["type"] == "references"
    assert (await ended(run.runs, "on-lines")).outcome == "answered"


async def test_reserved_run_id_is_reported(run: Whole) -> None:
    error, _ = await by_nats(run, b'{"question":"a"}', f"{CANARY}mine")
    assert (error["code"], "reserved for readiness" in str(error["content"])) == ("bad_id", True)


async def test_record_has_the_error(run: Whole) -> None:
    await by_nats(run, b'{"question":"a","profile":"nobody"}', "unknown-profile")
    record = await run.runs.record("unknown-profile")
    assert record is not None
    assert (record.outcome, record.unrun, record.question) == ("failed", "invalid", "a")
    assert "there is no profile 'nobody'" in record.detail
