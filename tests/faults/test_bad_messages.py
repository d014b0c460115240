"""No message on the bus ends a reader: an unreadable one is set aside, and the next question is answered."""

import secrets
from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bus.journal.records import DEADLINE, encode
from bus.runs.run_record import RunRecord
from bus.runs.runs import NoSuchRun
from bus.transport.envelope import set_aside
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import RUNS, event_subject, key_of
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.journal_traces import latest_runs, read_run
from runtime.replay.trace import dump
from tests.bad_messages import ALLOWED, BAD_TIMES, ODD_HEADERS, ONE, TWO, WHOLE, headers_of, put
from tests.polling import until
from tests.whole import Whole, whole

QUESTION = "How many days until refunds are paid?"
OVER = b"NATS/1.0\r\nGw-Deadline: 1\r\n\r\n"


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("bad"), ExtractiveEngine()) as made:
        yield made


async def ended(run: Whole, run_id: str, within_s: float = 20.0) -> RunRecord:
    async def over() -> RunRecord | None:
        record = await run.runs.record(run_id)
        return record if record is not None and record.status == "finished" else None

    return await until(over, within_s=within_s, what=f"the end of {run_id}")


async def works(run: Whole) -> None:
    """A question is answered, a run past its deadline is ended, and no background task had to be started again."""
    _, record = await run.ask(QUESTION)
    assert record.outcome == "answered"
    late = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{late}".encode(), OVER, b"no question")
    assert (await ended(run, late)).outcome == "failed"
    assert [(watch.down, dict(watch.restarts)) for watch in run.watches] == [({}, {})] * 3


def asked() -> bytes:
    return encode(QuestionAsked(question=QUESTION, deadline_s=100.0))


@pytest.mark.parametrize("deadline", BAD_TIMES)
async def test_bad_deadline_still_gets_an_answer(run: Whole, deadline: str) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), headers_of({DEADLINE: deadline}), asked())
    assert (await ended(run, run_id)).outcome == "answered"
    await works(run)


@pytest.mark.parametrize("name", ODD_HEADERS)
async def test_question_with_odd_headers_is_answered_once(run: Whole, name: str) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), ODD_HEADERS[name], asked())
    assert (await ended(run, run_id, within_s=3.0)).outcome == "answered"
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
    assert (await ended(run, run_id, within_s=3.0)).outcome == "failed"
    assert [line async for _, line in run.runs.events(run_id)][-1] == b'{"type":"DONE"}'


async def test_longest_unreadable_message_ends_its_run(run: Whole) -> None:
    run_id = secrets.token_hex(6)
    await put(run.runs.client, f"gw.question_asked.{run_id}".encode(), b"", b"x" * 999_000)
    assert (await ended(run, run_id, within_s=3.0)).outcome == "failed"


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
    assert (await ended(run, run_id)).outcome in ("answered", "failed")
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

TOKEN = st.lists(st.sampled_from(ALLOWED), min_size=1, max_size=8).map(bytes)
SUBJECT = st.one_of(
    st.builds(bytes.__add__, st.sampled_from(ONE), TOKEN),
    st.builds(lambda kind, run, lane: kind + run + b"." + lane, st.sampled_from(TWO), TOKEN, TOKEN),
    st.sampled_from(WHOLE),
)
NAME = st.sampled_from(
    [b"Gw-Deadline", b"Gw-First", b"Gw-Tokens", b"Gw-Phase", b"Gw-Cause", b"Status", b"Description", b"Nats-Subject"]
)
LINE = st.builds(lambda name, value: name + b": " + value, NAME, TOKEN)
HEADERS = st.one_of(
    st.just(b""),
    st.sampled_from(sorted(ODD_HEADERS.values())),
    st.lists(LINE, max_size=3).map(lambda lines: b"NATS/1.0\r\n" + b"\r\n".join(lines) + b"\r\n\r\n"),
)
BODY = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"{}", b"null", b'{"stream_seq":1e99}', b'{"stream_seq":99}', b'{"type":"token"}', b"[" * 20_000, b"1" * 5000]
    ),
)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(sent=st.lists(st.tuples(SUBJECT, HEADERS, BODY), min_size=30, max_size=60))
async def test_no_message_ends_a_reader(run: Whole, sent: list[tuple[bytes, bytes, bytes]]) -> None:
    client = run.runs.client
    for subject, headers, body in sent:
        await put(
            client,
            subject,
            headers,
            body,
            reply=client.new_inbox().encode() if subject in (b"gw.ask", b"gw.search") else b"",
        )
    await works(run)
    await latest_runs(run.journal, 50)


async def test_run_without_a_question_does_not_exist(run: Whole) -> None:
    with pytest.raises(NoSuchRun):
        await read_run(run.journal, key_of(QuestionAsked, "nobody").run_id)
