"""`groundwire top`: a live table of the inference devices."""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.live import Live
from rich.table import Table

from bus.transport.connection import connect
from bus.transport.settings import BusSettings
from bus.transport.users import OPERATOR
from bus.wire.errors import Failure
from runtime.commands.consoles import plain_console
from runtime.commands.options import CONFIG, INDEX_PLACE, Place, read_settings
from runtime.engines.watching import Watched, views
from runtime.processes.nats_users import bus_as, bus_at
from runtime.processes.state_folder import running, state_folder
from runtime.terminal import one_line, say

type Key = tuple[str, int]


@click.command("top")
@click.option("--index", type=INDEX_PLACE, help="The index that `groundwire up` serves.")
@CONFIG
@click.option(
    "--every", default=1.0, show_default=True, type=click.FloatRange(0.1, 60), help="Seconds between updates."
)
@click.option("--once", is_flag=True, help="Print one table and exit.")
@click.pass_context
def top_command(ctx: click.Context, index: Place | None, config: Path | None, every: float, once: bool) -> None:
    """Watch slots, queues, tokens per second, cache hits and memory of every device; stop with Ctrl-C."""
    settings = read_settings(config, index=index)
    folder = state_folder(settings)
    there = running(folder) if index is not None else None
    if index is not None and there is None:
        raise click.UsageError(f"no stack runs over {index}; start it with `groundwire up --index {index}`")
    bus = bus_as(settings, OPERATOR.name) if there is None else bus_at(folder, there.nats_url, settings.bus)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_watch(bus, every, once))
    except Failure as failure:
        say(f"error: {one_line(str(failure))}", err=True)
        ctx.exit(1)


async def _watch(bus: BusSettings, every_s: float, once: bool) -> None:
    client = await connect(bus, name="groundwire-top")
    try:
        before, then = dict[Key, Watched](), time.monotonic()
        console = plain_console()
        with Live(console=console, auto_refresh=False) as live:
            while True:
                now_seen, now = await views(client), time.monotonic()
                live.update(table(now_seen, before, now - then), refresh=True)
                if once:
                    return
                before, then = {(w.host, w.process): w for w in now_seen}, now
                await asyncio.sleep(every_s)
    finally:
        await client.close()


def table(seen: Sequence[Watched], before: Mapping[Key, Watched], spent_s: float) -> Table:
    """One column per device; rates are over the `spent_s` seconds since `before`."""
    out = Table(title="devices" if seen else "no device answers; is `groundwire up` running?", show_lines=False)
    out.add_column("")
    for watched in seen:
        out.add_column(f"{watched.host} {watched.process}", justify="right")
    rows = [_cells(watched, before.get((watched.host, watched.process)), spent_s) for watched in seen]
    for name in rows[0] if rows else ():
        out.add_row(name, *(cells[name] for cells in rows))
    return out


def _cells(watched: Watched, earlier: Watched | None, spent_s: float) -> dict[str, str]:
    view = watched.view
    last = view if earlier is None else earlier.view
    read = view.tokens_cached + view.tokens_prefilled
    memory = view.memory_bytes / view.memory_limit_bytes if view.memory_limit_bytes else 0.0

    def rate(now: int, then: int) -> str:
        return f"{max(0, now - then) / spent_s:.0f}/s" if spent_s > 0 else "-"

    return {
        "model": view.model,
        "state": view.state,
        "decoding": str(view.rows_decoding),
        "prefilling": str(view.rows_prefilling),
        **{f"waiting: {priority}": str(count) for priority, count in view.waiting.items()},
        "longest wait": f"{view.queue_age_s:.1f} s",
        "tokens out": rate(view.tokens_out, last.tokens_out),
        "tokens prefilled": rate(view.tokens_prefilled, last.tokens_prefilled),
        "steps": rate(view.steps, last.steps),
        "running step": f"{view.step_age_s * 1e3:.0f} ms",
        "read from cache": f"{100 * view.tokens_cached / read:.0f} %" if read else "-",
        "prefixes": f"{view.pinned_prefixes} pinned, {view.shared_prefixes} shared",
        "memory": f"{view.memory_bytes / 1e9:.2f} GB, {100 * memory:.0f} %",
        "faults": str(view.faults),
    }
