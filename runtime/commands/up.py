"""`groundwire up`: run the whole stack over one index until it is stopped."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import anyio
import click
import msgspec

from bus.wire.errors import Failure, Unavailable
from index.search import class_archive
from runtime.commands.consoles import plain_console
from runtime.commands.options import (
    CONFIG,
    SERVED_INDEX,
    Place,
    check_index,
    one_line_errors,
    read_settings,
    usage_errors,
)
from runtime.index_of import overheard
from runtime.processes.listening import addresses_of, check_key, url_of
from runtime.processes.nats_server import NoServer
from runtime.processes.ports import taken
from runtime.processes.roles import roles_over
from runtime.processes.state_folder import state_folder
from runtime.processes.supervisor import Stack
from runtime.settings import Settings, child_environ
from runtime.terminal import one_line


@click.command("up")
@SERVED_INDEX
@click.option(
    "--watch", "watches", is_flag=True, help="Keep the index up to date with the folders that it was built from."
)
@click.option("--host", help="Address to serve on; any but this machine's own needs a key.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="HTTP port.  [default: 8080]")
@CONFIG
@click.pass_context
def up_command(
    ctx: click.Context, index: Place, watches: bool, host: str | None, port: int | None, config: Path | None
) -> None:
    """Run nats-server, search, actors, the edge and, with a model, inference; restart what crashes; stop with Ctrl-C."""
    if watches and isinstance(index, str):
        raise click.UsageError("--watch is for an index in a folder; add what changes with `groundwire index add`")
    settings = read_settings(config, index=check_index(index))
    named = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = msgspec.structs.replace(settings, edge=msgspec.structs.replace(settings.edge, **named))
    with usage_errors(Unavailable):
        addresses = addresses_of(settings)
        check_key(settings, addresses)
    if taken(addresses, settings.edge.port):
        raise click.UsageError(f"port {settings.edge.port} is in use; choose another with --port")
    with one_line_errors(Failure, NoServer):
        ctx.exit(asyncio.run(_up(settings, watches=watches)))


async def _up(settings: Settings, *, watches: bool) -> int:
    console = plain_console(stderr=True)

    def tell(line: str) -> None:
        console.print(one_line(line), soft_wrap=True)

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    if heard := overheard(settings.index):
        tell(f"warning: {heard}")
    roles = roles_over(settings)
    stack = Stack(settings, state_folder(settings), roles, say=tell, on_broken=stop.set)
    with console.status(f"starting nats-server, {', '.join(roles)}…"):
        try:
            await stack.start()
            await _unless(stop, stack.ready())
        except BaseException:
            await stack.stop()
            raise
    watching = None
    if not stop.is_set():
        url = url_of(addresses_of(settings), settings.edge.port)
        tell(f"ready: {url}  (nats {stack.settings.bus.url}, logs in {stack.folder})")
        if settings.index.dir:
            await asyncio.to_thread(class_archive.make_behind, Path(settings.index.dir))
        watching = asyncio.create_task(_watch(settings, tell)) if watches else None
    await stop.wait()
    with console.status("stopping…"):
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        await stack.stop()
    if stack.failed:
        tell(f"error: {stack.failed}")
        return 1
    return 0


async def _unless(stop: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    """Do the work, which ends at once when `stop` is set."""
    working, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working


async def _watch(settings: Settings, tell: Callable[[str], None]) -> None:
    """Follow the index's folders in a process of its own, and print its lines."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "runtime", "index", "watch", "--index", settings.index.dir, "--end-with-stdin"),
        env=child_environ(settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        while process.stdout is not None and (line := await process.stdout.readline()):
            tell(line.decode(errors="replace").rstrip())
        await process.wait()
        tell("the folders are not watched any more; the index is served as it is")
    finally:
        if process.stdin is not None:
            process.stdin.close()
        with anyio.CancelScope(shield=True):
            await process.wait()
