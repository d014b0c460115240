"""`groundwire serve ROLE`: run one process of the stack, or with --check ask the running one whether it is ready."""

import asyncio
import os
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import click
import msgspec

from bus.transport.connection import connect
from bus.transport.health import health_of
from bus.transport.security import servers, without_user
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure
from runtime.commands.options import CONFIG, one_line_errors, over_bucket, read_settings
from runtime.processes.nats_server import NoServer, write_config
from runtime.processes.nats_server import command as nats_command
from runtime.processes.nats_users import DEFAULT_PORT, bus_as, make, standing_folder
from runtime.processes.private_files import private_folder
from runtime.processes.roles import ROLES, Role, run
from runtime.settings import Settings


@click.command("serve")
@click.argument("role", type=click.Choice(["nats", *ROLES]))
@CONFIG
@click.option("--bucket", help="For `search`: follow this bucket, as setting index.bucket does.")
@click.option(
    "--check", is_flag=True, help="Run nothing: exit 0 if the process of that role is ready, else say why not."
)
@click.option("--name", default="", hidden=True, help="Name for its log and health check; its role by default.")
@click.option("--end-with-stdin", is_flag=True, hidden=True, help="Exit when standard input closes.")
@click.pass_context
def serve_command(
    ctx: click.Context, role: str, config: Path | None, bucket: str | None, check: bool, name: str, end_with_stdin: bool
) -> None:
    """Run one process of the stack until it is stopped."""
    settings = over_bucket(read_settings(config), bucket)
    if check:
        bus = settings.bus if role == "nats" else bus_as(settings, role)
        if problem := asyncio.run(why_not_ready(name or role, bus)):
            raise click.ClickException(problem)
        return
    if role == "nats":
        _become_nats(settings)
    settings = msgspec.structs.replace(settings, bus=bus_as(settings, role))
    ctx.exit(run(cast("Role", role), settings, name=name, end_with_stdin=end_with_stdin))


def _become_nats(settings: Settings) -> None:
    """Replace this process with nats-server, listening where the settings say."""
    where = urlsplit(servers(settings.bus.url)[0])
    folder = standing_folder(settings)
    private_folder(folder)
    users = make(folder, without_user(settings.bus.url))
    host, port = where.hostname or "127.0.0.1", where.port or DEFAULT_PORT
    config = write_config(folder, port=port, host=host, passwords=users.passwords)
    with one_line_errors(NoServer):
        command = nats_command(config)
    os.execv(command[0], command)


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
