"""Servers that the tests serve from, each on a free port of this machine."""

import contextlib
import ssl
from collections.abc import AsyncIterator, Iterator

from aiohttp import web
from anyio.from_thread import start_blocking_portal

_LONGEST_BODY = 1 << 30


@contextlib.asynccontextmanager
async def served(*routes: web.RouteDef, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The address of a server of these routes; a handler is cancelled when its client leaves."""
    app = web.Application(client_max_size=_LONGEST_BODY)
    app.add_routes(routes)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
        yield f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def served_beside(*routes: web.RouteDef, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """As `served`, in a thread of its own, for code that blocks."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(served(*routes, tls=tls)) as address:
        yield address
