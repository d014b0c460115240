"""/healthz: is this process up? /readyz: would a question be answered now? /metrics: Prometheus counters."""

import asyncio
import contextlib

import msgspec
from aiohttp import web
from prometheus_client import generate_latest

from bus.journal.journal import NOT_STORED
from bus.journal.pruner import journal_state
from bus.transport.health import Health, ProcessHealth, health_of, process_health, text_of
from bus.wire.errors import Unavailable
from bus.wire.subjects import EVENTS, RUNS
from runtime.edge.metrics import ProcessCollector, journal_text
from runtime.edge.problems import RETRY_AFTER_S, Problem
from runtime.edge.routes import Reply, Route, json_response
from runtime.edge.state import EDGE, Edge
from runtime.telemetry.run_metrics import SUBJECT as RUN_METRICS


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    status: str = "ok"


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a question would be answered now. `checks`: nats-server, its streams, each process that a question needs, and
    `canary`, the question that this process submits every few seconds. Where a key is needed only `admin` sees the checks.
    """

    ready: bool
    checks: dict[str, Health]


@Route("GET", "/healthz", {200: Reply("The process is up.", Alive)}, "none")
async def healthz(request: web.Request) -> web.Response:
    """Check that this process is up."""
    return json_response(Alive())


@Route(
    "GET",
    "/readyz",
    {200: Reply("It would be answered.", Readiness), 503: Reply("It would not; `checks` says why.", Readiness)},
    "none",
)
async def readyz(request: web.Request) -> web.Response:
    """Check that a question would be answered now."""
    edge = request.app[EDGE]
    readiness, shown = await ready(edge), False
    with contextlib.suppress(Problem):
        shown = edge.door.caller_of(request).may("admin")
    readiness = readiness if shown else msgspec.structs.replace(readiness, checks={})
    if readiness.ready:
        return json_response(readiness)
    return json_response(readiness, status=503, headers={"Retry-After": str(RETRY_AFTER_S)})


async def ready(edge: Edge) -> Readiness:
    """Run all checks at once; a process that does not answer in time is not ready."""
    client = edge.runs.client
    if not client.is_connected:
        away = Health(detail="nats-server cannot be reached; start it with `groundwire up`")
        return Readiness(ready=False, checks={"nats": away})
    streams, processes = await asyncio.gather(
        _streams(edge),
        asyncio.gather(*(health_of(client, name, timeout_s=edge.timeouts.health_s) for name in edge.needed)),
    )
    checks = {"nats": Health(ready=True), "streams": streams}
    for name, health in zip(edge.needed, processes, strict=True):
        checks[name] = _public(health) if health else Health(detail=f"no {name} process answers")
    own = process_health(Health(ready=True, detail="here"), *edge.watches)
    checks["edge"] = _public(own)
    if edge.canary is not None:
        checks["canary"] = edge.canary.health
    # The processes of actors share the questions, so one is enough; and the journal, so one that it failed speaks for all.
    actors = [check.ready for name, check in checks.items() if name.startswith("actors")]
    others = [check.ready for name, check in checks.items() if not name.startswith("actors")]
    stores = all(check.detail != NOT_STORED for check in checks.values())
    return Readiness(ready=all(others) and any(actors) and stores, checks=checks)


def _public(health: ProcessHealth) -> Health:
    """The part of a process's health that needs no key."""
    return Health(ready=health.ready, detail=health.detail, problem=health.problem)


async def _streams(edge: Edge) -> Health:
    try:
        async with asyncio.timeout(edge.timeouts.health_s):
            for name in (RUNS, EVENTS):
                await edge.runs.journal.usage(name)
            await edge.runs.room.check()
        if failure := edge.runs.journal.failure:
            return Health(detail=failure)
    except TimeoutError:
        return Health(detail="JetStream did not answer in time")
    except Unavailable as error:
        return Health(detail=str(error))
    return Health(ready=True)


@Route("GET", "/metrics", {200: Reply("Metrics in the text format of Prometheus.", "text/plain")}, "admin")
async def metrics(request: web.Request) -> web.Response:
    """Get the metrics of the edge, of all runs, the inference process and the journal."""
    edge = request.app[EDGE]
    client, patience_s = edge.runs.client, edge.timeouts.health_s
    device, counted, journal, processes = await asyncio.gather(
        text_of(client, "gw.metrics.inference", timeout_s=patience_s),
        text_of(client, RUN_METRICS, timeout_s=patience_s),
        journal_state(client, timeout_s=patience_s),
        asyncio.gather(*(health_of(client, name, timeout_s=patience_s) for name in edge.needed)),
    )
    by_name = {name: health for name, health in zip(edge.needed, processes, strict=True) if health is not None}
    by_name["edge"] = process_health(Health(ready=True), *edge.watches)
    body = edge.metrics.text() + generate_latest(ProcessCollector(by_name)) + journal_text(journal) + counted + device
    return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
