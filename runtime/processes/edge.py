"""The edge process: connect to the bus, listen, and close live streams when stopped."""

import asyncio
import contextlib
import logging
from pathlib import Path

from aiohttp import web
from anyio import to_thread

from bus.delivery.admission import Admission
from bus.delivery.limit import Limit, least_at_once
from bus.journal.journal import Journal
from bus.runs.runs import Runs
from bus.transport.connection import await_streams, connect, keep_trying
from bus.transport.health import answer_health
from bus.transport.users import EDGE as EDGE_USER
from bus.wire.errors import Unavailable
from runtime.edge.app import make_app
from runtime.edge.connections import Crowd, Site, allow_files
from runtime.edge.door import Door
from runtime.edge.origins import Origins
from runtime.edge.state import Edge, KnownProfiles
from runtime.edge.timeouts import Timeouts
from runtime.keys import KeysProblem
from runtime.processes.listening import addresses_of, check_key, key_file, needs_key
from runtime.settings import EdgeSettings, Settings

log = logging.getLogger("groundwire.edge")


async def serve(
    settings: Settings,
    stop: asyncio.Event,
    *,
    timeouts: Timeouts | None = None,
    listening: "asyncio.Future[int] | None" = None,
) -> None:
    """Serve until `stop` is set; `listening` is called with the port. Raises Unavailable without a nats-server or a free port."""
    timeouts = timeouts or Timeouts()
    addresses = await to_thread.run_sync(addresses_of, settings)
    await to_thread.run_sync(check_key, settings, addresses)
    door = Door(
        key_file(settings),
        settings.access,
        required=needs_key(settings, addresses),
        origins=Origins(settings.edge.hosts, settings.edge.origins),
    )
    async with contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(door.stop)
        try:
            await door.start()
        except KeysProblem as problem:
            raise Unavailable(str(problem)) from None
        client = await connect(settings.bus, name="groundwire-edge", user=EDGE_USER.name)
        closing.push_async_callback(client.close)
        keep_trying(client)
        await await_streams(client.jetstream(timeout=2.0), patience_s=timeouts.streams_s)
        runs = Runs(Journal(client), patience_s=timeouts.nats_s, secret=door.secret)
        await runs.start()
        edge = Edge(
            settings.edge,
            runs,
            KnownProfiles(Path(settings.profiles) if settings.profiles else None),
            timeouts,
            door,
            needed=("search", *(("inference",) if not settings.without_model else ()), *settings.actor_names),
            run_deadline_s=settings.bus.deadline_s,
            admission=Admission(Limit(least_at_once(settings.inference.batch))),
        )
        app = make_app(edge)
        await edge.count_runs()
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=5.0)
        await runner.setup()
        closing.push_async_callback(runner.cleanup)
        port = await _listen(runner, settings.edge, addresses, timeouts)
        log.info("listening on %s, port %d", ", ".join(addresses), port)
        await answer_health(client, "edge", lambda: {"ready": True, "detail": f"port {port}"}, *edge.watches)
        if edge.canary is not None:
            edge.watch.keep("canary", edge.canary.run)
        if listening is not None:
            listening.set_result(port)
        await stop.wait()


async def _listen(runner: web.AppRunner, settings: EdgeSettings, addresses: tuple[str, ...], timeouts: Timeouts) -> int:
    allow_files(settings.max_connections)
    crowd = Crowd(settings.max_connections, settings.max_connections_per_address)
    site = Site(runner, addresses, settings.port, crowd, timeouts)
    try:
        await site.start()
    except OSError as error:
        why = error.strerror or str(error)
        raise Unavailable(
            f"cannot listen on {settings.host}:{settings.port} ({why}); choose another port with --port"
        ) from None
    return site.port
