"""Whether a process of the stack is ready, asked from outside it as a container's health check does."""

import asyncio
from urllib.parse import urlsplit

from bus.transport.connection import connect
from bus.transport.health import health_of
from bus.transport.security import servers
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure
from runtime.processes.nats_users import DEFAULT_PORT

PATIENCE_S = 3.0


async def why_not_ready(name: str, bus: BusSettings) -> str:
    """Why the process of that name is not ready; empty if it is. `nats` is ready when it greets with JetStream on."""
    try:
        async with asyncio.timeout(2 * PATIENCE_S):
            return await (_greeting(bus.url) if name == "nats" else _health(name, bus))
    except (OSError, TimeoutError, Failure) as problem:
        return f"{name}: {problem or 'no answer'}"


async def _greeting(url: str) -> str:
    where = urlsplit(servers(url)[0])  # of a cluster the first is this machine's
    reader, writer = await asyncio.open_connection(where.hostname or "127.0.0.1", where.port or DEFAULT_PORT)
    try:
        said = await reader.readline()
    finally:
        writer.close()
    return "" if said.startswith(b"INFO") and b'"jetstream":true' in said else "nats: no JetStream there"


async def _health(name: str, bus: BusSettings) -> str:
    client = await connect(bus, name=f"groundwire-check-{name}", user=name, patience_s=PATIENCE_S)
    try:
        health = await health_of(client, name, timeout_s=PATIENCE_S)
    finally:
        await client.close()
    if health is None:
        return f"{name}: no answer"
    return "" if health.ready else f"{name}: {health.problem or health.detail or 'not ready'}"
