"""The edge process: connect to the bus, listen, and close live streams when stopped."""

import asyncio
import logging
from pathlib import Path

from aiohttp import web

from bus.connection import Inbox, connect, declare_streams, keep_trying
from bus.errors import Unavailable
from bus.health import answer_health
from bus.journal import Journal
from bus.restoring import Restorer
from bus.runs import Runs
from runtime.edge.app import make_app
from runtime.edge.state import EDGE
from runtime.edge.timeouts import Timeouts
from runtime.processes.actor_groups import actor_processes
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
    client = await connect(settings.bus.url, name="groundwire-edge")
    keep_trying(client)
    try:
        await declare_streams(client.jetstream(timeout=2.0), settings.bus)
        inbox = Inbox(client)
        runs = Runs(
            client,
            inbox,
            Journal(client, inbox),
            events_max_age_s=settings.bus.events_max_age_s,
            patience_s=timeouts.nats_s,
        )
        await runs.start()
        profiles = Path(settings.profiles) if settings.profiles else None
        needed = ("search", "inference", *actor_processes(settings))
        app = make_app(settings.edge, runs, profiles=profiles, timeouts=timeouts, needed=needed)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=5.0)
        await runner.setup()
        try:
            port = await _listen(runner, settings.edge)
            log.info("listening on http://%s:%d", settings.edge.host, port)
            edge = app[EDGE]
            await answer_health(client, "edge", lambda: {"ready": True, "detail": f"port {port}"}, *edge.watches)
            edge.watch.keep("the look at streams", Restorer(client, settings.bus).run)
            if edge.canary is not None:
                edge.watch.keep("canary", edge.canary.run)
            if listening is not None:
                listening.set_result(port)
            await stop.wait()
        finally:
            await runner.cleanup()
    finally:
        await client.close()


async def _listen(runner: web.AppRunner, settings: EdgeSettings) -> int:
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
    except OSError as error:
        why = error.strerror or str(error)
        raise Unavailable(
            f"cannot listen on {settings.host}:{settings.port} ({why}); choose another port with --port"
        ) from None
    return int(runner.addresses[0][1])
