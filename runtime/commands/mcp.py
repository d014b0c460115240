"""`groundwire mcp`: offer the documents of an index to a program that works with a language model, over our input and output."""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import anyio
import click

from runtime.commands.filter_options import GROUP, taken_groups
from runtime.commands.mcp_home import Home
from runtime.commands.options import CONFIG, SERVED_INDEX, Place, check_index, read_settings
from runtime.mcp.stdio import LONGEST_LINE, serve
from runtime.terminal import one_line, say

_CHUNK = 64 * 1024


@click.command("mcp")
@SERVED_INDEX
@GROUP
@CONFIG
@click.pass_context
def mcp_command(ctx: click.Context, /, index: Place, config: Path | None, **options: tuple[str, ...]) -> None:
    """Speak the Model Context Protocol over standard input and output, for a desktop client that starts it.

    It uses the stack that runs over the index, or starts its own, and ends when its input does.
    """
    settings = read_settings(config, index=check_index(index))
    source, sink = _taken()
    home = Home(settings, taken_groups(options), lambda line: say(one_line(line), err=True))
    asyncio.run(_serve(home, source, sink))


def _taken() -> tuple[int, int]:
    """Standard input and output for the protocol alone: other readers get an empty file, other output goes to the log."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


async def _serve(home: Home, source: int, sink: int) -> None:
    async def write(data: bytes) -> None:
        await _aside(partial(_write_all, sink, data))

    try:
        await serve(home, _lines(source), write, home.open)
    finally:
        with anyio.CancelScope(shield=True):
            await home.close()


async def _lines(source: int) -> AsyncIterator[bytes]:
    """The lines of a file. Raises OSError for a line without an end."""
    begun = bytearray()
    while chunk := await _aside(partial(os.read, source, _CHUNK)):
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield bytes(begun) + line
            begun.clear()
        begun += rest
        if len(begun) > LONGEST_LINE:
            raise OSError(f"a line is longer than {LONGEST_LINE} bytes")
    if begun:
        yield bytes(begun)


async def _aside[T](work: Callable[[], T]) -> T:
    """Work that may block for ever, in a thread that does not keep the process alive, unlike a pool's."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        if not done.done():
            settled()

    def run() -> None:
        try:
            settled = partial(done.set_result, work())
        except Exception as error:
            settled = partial(done.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, settled)

    threading.Thread(target=run, daemon=True).start()
    return await done


def _write_all(sink: int, data: bytes) -> None:
    while data:
        data = data[os.write(sink, data) :]
