"""schemathesis over the running edge and its own /openapi.json: no server error, and only documented replies."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bus.powers.searching import SearchReply
from bus.powers.served_index import Held, ServedIndex, answer_served_index
from bus.powers.sources import (
    Found,
    ListAsked,
    NotServed,
    PageAsked,
    Piece,
    PieceAsked,
    Question,
    SourceList,
    SourceText,
    answer_sources,
    no_such_source,
)
from tests.bus.wires import search_process
from tests.clients.table import Checker
from tests.faults.door import World, bus, bus_settings, pipeline, runs, world
from tests.runtime.edge.conftest import Bus

__all__ = ["bus", "bus_settings", "pipeline", "runs", "world"]  # fixtures

CHECKERS = (
    Checker(
        name="schemathesis",
        package="schemathesis",
        checks="every route of `/openapi.json`, with valid and invalid requests, with and without keys",
    ),
)

#: How many requests of each kind an operation gets: those that fit its schema, and those that do not.
REQUESTS = 12
#: What fits the schema may still be no question: a blank, a control character, a profile that is not there.
LEFT_OUT = [positive_data_acceptance]
#: How what does not fit may be refused: 413, too, since a text that is too long may make the body too large.
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
CONFIG = schemathesis.Config.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}})

INDEX = ServedIndex(
    snapshot="s",
    served_since="2026-01-31",
    created="2026-01-31",
    documents=1,
    passages=1,
    languages={},
    formats={},
    embedder="pieces",
    read_at="2026-01-31",
)


@pytest.fixture(scope="module")
async def searched(bus: Bus) -> AsyncIterator[None]:
    """A process that answers searches."""

    async def served() -> ServedIndex:
        return INDEX

    async def about(question: Question) -> Found:
        if isinstance(question, ListAsked):
            return SourceList(items=(), count=0, snapshot="s")
        if not question.source_id.isalnum():
            raise no_such_source(question.source_id)
        if isinstance(question, PageAsked):
            raise NotServed("there is no picture")
        if isinstance(question, PieceAsked):
            kind = "text/plain" if question.page is None else "image/webp"
            return Piece(data=b"No."[question.offset :], size=3, version="v", name="no.txt", media_type=kind)
        text = "No."[question.start : question.end]
        return SourceText(
            source_id=question.source_id,
            title="No",
            url="/sources/no",
            language="en",
            characters=3,
            passages=1,
            snapshot="s",
            start=min(question.start, 3),
            end=min(question.start, 3) + len(text),
            text=text,
        )

    close_sources = await answer_sources(bus.client, about)

    async def held(groups: object) -> Held:
        return Held(documents=1)

    await answer_served_index(bus.client, served, held)
    async with search_process(bus.client, SearchReply(snapshot="s")):
        yield
    await close_sources()


@pytest.mark.parametrize(("door", "mode"), [("locked", GenerationMode.POSITIVE), ("open", GenerationMode.NEGATIVE)])
async def test_no_finding(world: World, searched: None, door: str, mode: GenerationMode) -> None:
    base = getattr(world, door)
    async with aiohttp.ClientSession() as http, http.get(f"{base}/openapi.json") as response:
        document = await response.json()
    headers = world.bearer("root") if door == "locked" else {}
    tested = await asyncio.to_thread(check_all, document, base, headers, mode)
    assert tested >= {
        "POST /v1/runs",
        "GET /v1/runs/{run_id}",
        "POST /v1/search",
        "POST /v1/chat/completions",
        "GET /v1/sources/{source_id}",
        "POST /v1/responses",
        "GET /v1/responses/{response_id}",
        "DELETE /v1/responses/{response_id}",
    }


def check_all(document: dict[str, object], base: str, headers: dict[str, str], mode: GenerationMode) -> set[str]:
    """The operations that were sent requests. Raises what schemathesis finds."""
    schema = schemathesis.openapi.from_dict(document, config=CONFIG).exclude(
        path=["/v1/ws", "/readyz"]
    )  # readiness is asked of a pipeline that is none
    tested = set()
    with requests.Session() as session:
        for found in schema.get_all_operations():
            operation = found.ok()
            parameters = operation.definition.raw.get("parameters", ())
            anything = all(each["schema"] == {"type": "string"} for each in parameters)
            if mode is GenerationMode.NEGATIVE and anything and not operation.body:
                continue  # nothing can be sent that does not fit

            @seed(12)
            @settings(
                max_examples=REQUESTS,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def check(case: Case) -> None:
                case.call_and_validate(base_url=base, session=session, headers=headers, excluded_checks=LEFT_OUT)

            check()
            tested.add(operation.label)
    return tested
