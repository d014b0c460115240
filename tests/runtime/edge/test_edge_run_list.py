"""POST /v1/runs, the list of the caller's runs, and a run's trace, against a real nats-server."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bus.journal.records import TRACEPARENT, VIA
from runtime.edge import run_list
from runtime.edge.run_list import runs_before
from runtime.keys import KeyFile
from runtime.replay.run_rows import WORDS
from runtime.settings import AccessSettings
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.edge.strict_sse import parse
from tests.runtime.served import edge_of


async def ask(http: aiohttp.ClientSession, question: str, **fields: object) -> str:
    body = {"question": question, **fields}
    async with http.post("/v1/runs", json=body, headers={"Accept": "application/json"}) as response:
        assert response.status == 200
        return str((await response.json())["run_id"])


async def listed(http: aiohttp.ClientSession, **params: object) -> dict[str, object]:
    async with http.get("/v1/runs", params={name: str(value) for name, value in params.items()}) as response:
        assert response.status == 200
        found: dict[str, object] = await response.json()
        return found


async def pages(http: aiohttp.ClientSession, **params: object) -> AsyncIterator[dict[str, object]]:
    """Every run, page by page."""
    page = await listed(http, **params)
    while True:
        for run in page["runs"]:  # type: ignore[attr-defined]
            yield run
        if page["next"] is None:
            return
        page = await listed(http, **params, before=page["next"])


async def test_runs_are_listed_newest_first_in_pages(http: aiohttp.ClientSession) -> None:
    asked = [await ask(http, f"Is it listed {n}?") for n in range(5)]
    found: list[dict[str, object]] = []
    async for run in pages(http, limit=2):
        found.append(run)
        if len(found) == 7:
            break
    ids = [run["run_id"] for run in found]
    assert ids[:5] == asked[::-1]
    assert len(ids) == len(set(ids))
    newest = found[0]
    assert (newest["question"], newest["outcome"], newest["conversation"]) == ("Is it listed 4?", "answered", asked[4])
    assert isinstance(newest["finished_at"], float)


async def test_list_is_complete_with_small_reads(http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    await ask(http, "Small steps?")
    whole = [run["run_id"] async for run in pages(http, limit=100)]
    monkeypatch.setattr(run_list, "STRETCH", 3)
    monkeypatch.setattr(run_list, "BATCH", 2)
    monkeypatch.setattr(run_list, "MOST_LOOKED", 1)
    assert [run["run_id"] async for run in pages(http, limit=100)] == whole


async def test_conversation_filter_lists_its_runs(http: aiohttp.ClientSession) -> None:
    first = await ask(http, "Begin?")
    await ask(http, "Another?")
    second = await ask(http, "Go on?", conversation=first)
    assert [run["run_id"] async for run in pages(http, conversation=first)] == [second, first]
    async with http.get(f"/v1/runs/{second}") as response:
        assert (await response.json())["conversation"] == first
    assert [run async for run in pages(http, conversation="there-is-none")] == []


async def found_by(http: aiohttp.ClientSession, **params: object) -> set[object]:
    """Of the newest runs."""
    page = await listed(http, limit=10, **params)
    return {run["run_id"] for run in page["runs"]}  # type: ignore[attr-defined]


async def test_filters_narrow_the_list(http: aiohttp.ClientSession) -> None:
    run_id = await ask(http, "Narrowed by whatever fits?", language="en")
    run = next(each for each in (await listed(http))["runs"] if each["run_id"] == run_id)  # type: ignore[attr-defined]
    since, took = int(run["asked_at"]), run["took_s"]
    fitting = {
        "outcome": "answered",
        "profile": "general",
        "language": "en",
        "text": "NARROWED by",
        "source": "refunds",
        "since": since,
        "until": since + 1,
        "slower_ms": int(took * 1000),
        "faster_ms": int(took * 1000) + 1,
    }
    for name, value in fitting.items():
        assert run_id in await found_by(http, **{name: value}), name
    others = {
        "outcome": "refused",
        "reason": "no_evidence",
        "flag": "fabricated_number",
        "key": "somebody",
        "confidence": "low",
        "verdict": "any",
        "text": "narrowed by nothing",
        "source": "opening",
        "since": since + 60,
        "until": since - 60,
        "slower_ms": int(took * 1000) + 60_000,
    }
    for name, value in others.items():
        assert run_id not in await found_by(http, **{name: value}), name


@pytest.mark.parametrize("sort", ["took_s", "probability"])
async def test_highest_runs_come_first(http: aiohttp.ClientSession, sort: str) -> None:
    for n in range(3):
        await ask(http, f"Is it sorted {n}?")
    every = [run[sort] or 0.0 async for run in pages(http, limit=100, text="is it sorted")]
    page = await listed(http, limit=2, text="is it sorted", sort=sort)
    assert [run[sort] or 0.0 for run in page["runs"]] == sorted(every, reverse=True)[:2]  # type: ignore[attr-defined]


async def test_verdicts_are_kept_and_found(http: aiohttp.ClientSession) -> None:
    run_id = await ask(http, "Is it right?")
    for number, body in enumerate(({"verdict": "right"}, {"verdict": "wrong", "note": "the day is missing"}), 1):
        async with http.post(f"/v1/runs/{run_id}/verdict", json=body) as response:
            assert response.status == 200
            assert await response.json() == {"run_id": run_id, "verdict": body["verdict"], "number": number}
    assert run_id in await found_by(http, verdict="wrong")
    assert run_id not in await found_by(http, verdict="right")
    run = next(each for each in (await listed(http))["runs"] if each["run_id"] == run_id)  # type: ignore[attr-defined]
    assert (run["verdict"], run["note"]) == ("wrong", "the day is missing")
    for body, status in (
        ({"verdict": "great"}, 422),
        ({"verdict": "right", "nota": ""}, 422),
        ({"note": "x" * 2001}, 422),
    ):
        async with http.post(f"/v1/runs/{run_id}/verdict", json=body) as response:
            assert response.status == status
    async with http.post("/v1/runs/there-is-none/verdict", json={"verdict": "right"}) as response:
        assert response.status == 404


@pytest.mark.parametrize("profile", ["general", "support"])
async def test_profile_masks_questions(http: aiohttp.ClientSession, profile: str) -> None:
    run_id = await ask(http, "Is ann@example.org right?", profile=profile)
    found = next(run for run in (await listed(http))["runs"] if run["run_id"] == run_id)  # type: ignore[attr-defined]
    assert ("ann@example.org" in found["question"]) == (profile == "general")
    async with http.get(f"/v1/runs/{run_id}/trace/1") as response:
        assert "ann@example.org" not in await response.text()


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=101", "limit=x", "before=-1", "before=0", "conversation=a.b", "limit=1&limit=2"),
        *(f"{name}=nope" for name in (*WORDS, "sort")),
    ],
)
async def test_bad_parameter_is_reported(http: aiohttp.ClientSession, query: str) -> None:
    async with http.get(f"/v1/runs?{query}") as response:
        assert response.status == 400


async def test_list_without_runs_is_empty(bus: Bus, http: aiohttp.ClientSession) -> None:
    await ask(http, "Whose?")
    assert (await runs_before(bus.journal, 0, 10, lambda access: False)).runs == ()


async def test_key_lists_and_traces_its_own_runs(pipeline: Pipeline, tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    tokens = {name: keys.add(name, ("ask", "read"), now=0) for name in ("lister", "stranger")}
    tokens["asker"] = keys.add("asker", ("ask",), now=0)
    async with edge_of(pipeline.bus.settings, tmp_path, access=AccessSettings(required=True)) as base:
        clients = {
            name: aiohttp.ClientSession(base, headers={"Authorization": f"Bearer {token}"})
            for name, token in tokens.items()
        }
        theirs = await ask(clients["lister"], "Whose is it?")
        assert [run["run_id"] async for run in pages(clients["lister"])] == [theirs]
        assert [run async for run in pages(clients["stranger"])] == []
        assert [run async for run in pages(clients["stranger"], conversation=theirs)] == []
        statuses = {}
        for name, client in clients.items():
            for path in ("/v1/runs", f"/v1/runs/{theirs}/trace", f"/v1/runs/{theirs}/trace/1"):
                async with client.get(path) as response:
                    statuses[name, path.replace(theirs, "RUN")] = response.status
            async with client.post(f"/v1/runs/{theirs}/verdict", json={"verdict": "right"}) as response:
                statuses[name, "verdict"] = response.status
        assert statuses == {
            ("lister", "verdict"): 200,
            ("stranger", "verdict"): 404,
            ("asker", "verdict"): 404,
            ("lister", "/v1/runs"): 200,
            ("lister", "/v1/runs/RUN/trace"): 200,
            ("lister", "/v1/runs/RUN/trace/1"): 404,  # the first record has the caller; no stage takes it
            ("stranger", "/v1/runs"): 200,
            ("stranger", "/v1/runs/RUN/trace"): 404,
            ("stranger", "/v1/runs/RUN/trace/1"): 404,
            ("asker", "/v1/runs"): 403,
            ("asker", "/v1/runs/RUN/trace"): 403,
            ("asker", "/v1/runs/RUN/trace/1"): 403,
        }
        for client in clients.values():
            await client.close()


async def test_trace_has_the_time_of_each_stage(http: aiohttp.ClientSession) -> None:
    run_id = await ask(http, "Traced?")
    async with http.get(f"/v1/runs/{run_id}/trace") as response:
        trace = await response.json()
    assert trace["run_id"] == run_id
    step = next(each for each in trace["stages"] if each["stage"] == "classify_intent")
    async with http.get(f"/v1/runs/{run_id}/trace/{step['step']}") as response:
        found = await response.json()
    assert [each["type"] for each in found["took"]] == ["question_asked"]
    assert found["took"][0]["message"]["question"] == "Traced?"
    for wrong, status in (("99", 404), ("0", 400), ("x", 400)):
        async with http.get(f"/v1/runs/{run_id}/trace/{wrong}") as response:
            assert response.status == status
    async with http.get("/v1/runs/there-is-none/trace") as response:
        assert response.status == 404


KOREAN = {"question": "환불은 며칠"}

GOLDEN = (
    "retry: 1000\n"
    'id: 1\ndata: {"type":"token","content":"환불은","status":"in_progress","index":1}\n\n'
    'id: 2\ndata: {"type":"token","content":" 며칠","status":"in_progress","index":2}\n\n'
    'id: 3\ndata: {"type":"token","content":" [1]","status":"in_progress","index":3}\n\n'
    'id: 4\ndata: {"type":"token","content":"","status":"end"}\n\n'
    'id: 5\ndata: {"type":"references","items":[{"source_id":"refunds","title":"환불 규정",'
    '"url":"https://example.org/refunds","score":0.5}],"status":"end"}\n\n'
    'id: 6\ndata: {"type":"DONE"}\n\n'
).encode()


async def test_stream_matches_the_specification_bytes(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json=KOREAN) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-cache, no-transform"
        assert response.headers["X-Accel-Buffering"] == "no"
        run_id = response.headers["X-Run-Id"]
        assert response.headers["Location"] == f"/v1/runs/{run_id}"
        assert await response.read() == GOLDEN


async def test_json_by_accept(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json=KOREAN, headers={"Accept": "application/json"}) as response:
        assert response.status == 200
        record = await response.json()
    assert record["outcome"] == "answered"
    assert record["answer"] == "환불은 며칠 [1]"
    async with http.get(f"/v1/runs/{record['run_id']}") as response:
        assert await response.json() == record


@pytest.mark.parametrize("after", [0, 1, 3, 5])
async def test_resumed_stream_has_the_same_bytes(http: aiohttp.ClientSession, after: int) -> None:
    async with http.post("/v1/runs", json=KOREAN) as response:
        run_id = response.headers["X-Run-Id"]
        whole = parse(await response.read())
    for request in ({"headers": {"Last-Event-ID": str(after)}}, {"params": {"after": str(after)}}):
        async with http.get(f"/v1/runs/{run_id}/events", **request) as response:  # type: ignore[arg-type]
            assert response.status == 200
            assert parse(await response.read()) == whole[after:]


async def test_nothing_more_to_resume_is_204(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json=KOREAN) as response:
        run_id = response.headers["X-Run-Id"]
        last = parse(await response.read())[-1][0]
    async with http.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": str(last)}) as response:
        assert response.status == 204
        assert await response.read() == b""


CLIENTS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(CLIENTS, CLIENTS), ("", None), ("00-" + "0" * 32 + "-00f067aa0ba902b7-01", None), ("ff" + CLIENTS[2:], None)],
    ids=["valid", "none", "zeros", "no version"],
)
async def test_client_trace_and_interface_reach_the_record(
    http: aiohttp.ClientSession, bus: Bus, sent: str, kept: str | None
) -> None:
    async with http.post("/v1/runs", json=KOREAN, headers={"traceparent": sent} if sent else {}) as response:
        run_id = response.headers["X-Run-Id"]
    async with http.ws_connect("/v1/ws", headers={"traceparent": sent} if sent else {}) as socket:
        await socket.send_json(KOREAN)
        by_socket = (await socket.receive_json(timeout=60))["run_id"]
    for asked, via in ((run_id, "sse"), (by_socket, "websocket")):
        headers = (await bus.journal.run(asked))[0].headers
        assert (headers.get(TRACEPARENT), headers.get(VIA)) == (kept, via)
