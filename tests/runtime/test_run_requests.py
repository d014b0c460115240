"""Replies over NATS: requests about a run, and a container's health check."""

import asyncio
import json
from collections.abc import AsyncIterator

import msgspec
import pytest
from nats.aio.client import Client

from bus.journal.access import Access, grant
from bus.journal.canary import admit_canary, canary_id, canary_question
from bus.journal.records import TRACEPARENT
from bus.powers.events import DONE_LINE
from bus.runs.run_record import RunRecord
from bus.transport.connection import connect
from bus.transport.health import answer_health
from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import CANARY, key_of
from runtime.commands.serve import why_not_ready
from runtime.processes.ports import free_port
from tests.polling import until
from tests.whole import Whole

QUESTION = "How many days until refunds are paid?"
LONG_ID = "x" * 65


@pytest.fixture
async def integration(run: Whole) -> AsyncIterator[Client]:
    client = await connect(run.users.bus(BusSettings(), "integration"), name="requests", user="integration")
    yield client
    await client.close()


async def request(client: Client, subject: str, headers: dict[str, str] | None = None, **body: object) -> bytes:
    return (await client.request(subject, json.dumps(body).encode(), timeout=10, headers=headers)).data


async def code(client: Client, subject: str, **body: object) -> str:
    return str(json.loads(await request(client, subject, **body)).get("code", ""))


async def ended(client: Client, run_id: str) -> RunRecord:
    async def look() -> RunRecord | None:
        record = msgspec.json.decode(await request(client, "gw.runs.get", run_id=run_id), type=RunRecord)
        return record if record.status == "finished" else None

    return await until(look, what="the end of the run")


async def test_known_run_id_is_asked_once(run: Whole, integration: Client) -> None:
    same = {"run_id": "row-1", "question": QUESTION}
    assert json.loads(await request(integration, "gw.runs.ask", **same)) == {"run_id": "row-1", "code": "asked"}
    record = await ended(integration, "row-1")
    assert (record.outcome, record.question) == ("answered", QUESTION)
    marked = [each.cited_text[each.sentence[0] : each.sentence[1]] for each in record.citations if each.sentence]
    assert marked[:2] == [
        "Refunds are paid within 14 days of the return.",
        "The shipping fee of 3,000 won is not refunded.",
    ]
    assert await code(integration, "gw.runs.ask", **same, priority="batch") == "already_asked"
    assert await code(integration, "gw.runs.ask", **same | {"question": "Another?"}) == "key_reused"
    assert record == await ended(integration, "row-1")


async def test_published_question_is_known(run: Whole, integration: Client) -> None:
    body = msgspec.json.encode(QuestionAsked(question=QUESTION))
    await integration.jetstream().publish("gw.question_asked.row-2", body)
    assert await code(integration, "gw.runs.ask", run_id="row-2", question=QUESTION) == "already_asked"
    assert (await ended(integration, "row-2")).outcome == "answered"


async def test_concurrent_requests_are_one_run(run: Whole, integration: Client) -> None:
    asks = [code(integration, "gw.runs.ask", run_id="row-3", question=QUESTION) for _ in range(5)]
    assert sorted(await asyncio.gather(*asks)) == ["already_asked"] * 4 + ["asked"]


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"run_id": LONG_ID, "question": QUESTION}, "bad_id"),
        ({"run_id": "a.b", "question": QUESTION}, "bad_id"),
        ({"run_id": f"{CANARY}mine", "question": QUESTION}, "bad_id"),
        ({"question": QUESTION}, "invalid"),
        ({"run_id": "row-4", "question": ""}, "invalid"),
        ({"run_id": "row-4", "question": QUESTION, "profil": "general"}, "invalid"),
    ],
)
async def test_faulty_question_is_refused_at_once(
    run: Whole, integration: Client, body: dict[str, object], refused: str
) -> None:
    assert await code(integration, "gw.runs.ask", **body) == refused
    assert await run.runs.record("row-4") is None


async def test_run_of_a_key_is_hidden(run: Whole, integration: Client) -> None:
    await grant(run.journal, "of-a-key", Access(key="web", groups=("sales",)))
    await run.runs.submit(QuestionAsked(question=QUESTION), "of-a-key")
    for run_id in ("of-a-key", "unknown"):
        assert await code(integration, "gw.runs.get", run_id=run_id) == "no_such_run"
    assert await code(integration, "gw.runs.get", run_id="a.b") == "bad_id"


async def test_trace_context_is_kept(run: Whole, integration: Client) -> None:
    parent = f"00-{'a' * 32}-{'b' * 16}-01"
    await request(integration, "gw.runs.ask", {TRACEPARENT: parent}, run_id="traced", question=QUESTION)
    [asked] = await run.journal.latest([key_of(QuestionAsked, "traced").subject])
    assert asked.headers[TRACEPARENT] == parent


@pytest.mark.parametrize("run_id", [LONG_ID, "행-1"])
async def test_published_bad_id_gets_an_error(run: Whole, integration: Client, run_id: str) -> None:
    live = await integration.subscribe(f"gw.event.{run_id}")
    await integration.jetstream().publish(f"gw.question_asked.{run_id}", b'{"question":"a"}')
    error, done = (await live.next_msg(timeout=10)).data.splitlines()
    assert (json.loads(error)["code"], json.loads(done)["type"]) == ("bad_id", "DONE")


async def test_canary_is_hidden_from_integrations(run: Whole, integration: Client) -> None:
    heard = await integration.subscribe("gw.event.*")
    await integration.flush()
    canary = canary_id()
    await admit_canary(run.journal, canary, patience_s=10)
    await run.runs.submit(canary_question(10.0), canary)
    assert [line async for _, line in run.runs.events(canary)][-1] == DONE_LINE
    await run.ask(QUESTION)
    assert canary not in (await heard.next_msg(timeout=10)).subject
    assert await code(integration, "gw.runs.get", run_id=canary) == "no_such_run"


async def test_nats_is_ready_when_it_greets(bus_settings: BusSettings) -> None:
    assert await why_not_ready("nats", bus_settings) == ""
    several = msgspec.structs.replace(bus_settings, url=f"{bus_settings.url},nats://other.example.org:4222")
    assert await why_not_ready("nats", several) == ""
    nobody = msgspec.structs.replace(bus_settings, url=f"nats://127.0.0.1:{free_port()}")
    assert (await why_not_ready("nats", nobody)).startswith("nats: ")


async def test_check_reports_readiness(bus_settings: BusSettings) -> None:
    assert await why_not_ready("edge", bus_settings) == "edge: no answer"
    client = await connect(bus_settings, name="test-checking")
    state: dict[str, object] = {"ready": False, "detail": "opening"}
    await answer_health(client, "edge", lambda: state)
    await client.flush()
    assert await why_not_ready("edge", bus_settings) == "edge: opening"
    state["ready"] = True
    assert await why_not_ready("edge", bus_settings) == ""
    await client.close()
