"""GET /v1/runs and /v1/runs/{id}/trace: the caller's own runs, newest first, and what was done in one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from runtime.edge import run_list
from runtime.edge.run_list import runs_before
from runtime.keys import KeyFile
from runtime.processes.edge import serve
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.runtime.edge.conftest import Bus, Pipeline


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
    found = [run async for run in pages(http, limit=2)]
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


@pytest.mark.parametrize("profile", ["general", "support"])
async def test_profile_masks_questions(http: aiohttp.ClientSession, profile: str) -> None:
    run_id = await ask(http, "Is ann@example.org right?", profile=profile)
    found = next(run for run in (await listed(http))["runs"] if run["run_id"] == run_id)  # type: ignore[attr-defined]
    assert ("ann@example.org" in found["question"]) == (profile == "general")
    async with http.get(f"/v1/runs/{run_id}/trace/1") as response:
        assert "ann@example.org" not in await response.text()


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "before=-1", "before=0", "conversation=a.b", "limit=1&limit=2"]
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
    settings = Settings(
        bus=pipeline.bus.settings,
        edge=EdgeSettings(port=0),
        access=AccessSettings(required=True),
        state=str(tmp_path),
    )
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    edge = asyncio.create_task(serve(settings, stop, listening=listening))
    base = f"http://localhost:{await listening}"
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
    assert statuses == {
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
    stop.set()
    await edge


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
