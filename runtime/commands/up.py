"""`groundwire up`: run the whole stack over one index until it is stopped."""

import asyncio
import signal
from pathlib import Path

import click
from rich.console import Console

from bus.errors import Failure
from runtime.commands.options import BUILT_INDEX, CONFIG, check_index, read_settings
from runtime.processes.nats_server import NoServer, port_taken
from runtime.processes.roles import ROLES
from runtime.processes.supervisor import Stack, state_folder
from runtime.settings import Settings


@click.command("up")
@BUILT_INDEX
@click.option("--port", type=click.IntRange(1, 65535), help="HTTP port.  [default: 8080]")
@CONFIG
@click.pass_context
def up_command(ctx: click.Context, index: Path, port: int | None, config: Path | None) -> None:
    """Run nats-server, search, inference, actors and the edge; restart what crashes; stop with Ctrl-C."""
    settings = read_settings(config, index=check_index(index), port=port)
    if port_taken(settings.edge.host, settings.edge.port):
        raise click.UsageError(f"port {settings.edge.port} is in use; choose another with --port")
    try:
        ctx.exit(asyncio.run(_up(settings)))
    except (Failure, NoServer) as failure:
        click.echo(f"error: {failure}", err=True)
        ctx.exit(1)


async def _up(settings: Settings) -> int:
    console = Console(stderr=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    stack = Stack(settings, state_folder(settings), ROLES, say=console.print, on_broken=stop.set)
    with console.status("starting nats-server, search, inference, actors, edge…"):
        try:
            await stack.start()
            await stack.ready()
        except BaseException:
            await stack.stop()
            raise
    url = f"http://{settings.edge.host}:{settings.edge.port}"
    console.print(f"ready: {url}  (nats {stack.settings.bus.url}, logs in {stack.folder})")
    await stop.wait()
    with console.status("stopping…"):
        await stack.stop()
    if stack.failed:
        console.print(f"error: {stack.failed}")
        return 1
    return 0
