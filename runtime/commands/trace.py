"""`groundwire trace`: look at one run or at many, export one to a file; what stays and what leaves."""

import asyncio

import click

from actors.pipeline import pipeline
from index.masking import masked
from index.plugins import installed
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import RAW, RUN, refuse, trace_of, with_settings
from runtime.commands.run_text import put, show_run
from runtime.commands.trace_export import export_command
from runtime.commands.trace_keep import mark_command, pin_command, prune_command, unpin_command
from runtime.commands.trace_many import frame_command, list_command, odd_command, stats_command
from runtime.forking.blame import Blamed, blame
from runtime.forking.live_powers import RECORDED, live_for
from runtime.replay.explained import explained, why
from runtime.replay.trace import masked_trace
from runtime.settings import Settings
from runtime.terminal import say_json


@click.group("trace")
def trace_group() -> None:
    """Look at recorded runs, mark, export, pin and prune them; RUN is a trace file, a run id, or the beginning of one."""


for command in (
    *(list_command, odd_command, stats_command, frame_command, mark_command),
    *(export_command, pin_command, unpin_command, prune_command),
):
    trace_group.add_command(command)


@trace_group.command("show")
@RUN
@ASKED_OVER
@click.option("--wide", is_flag=True, help="Break no line, and shorten no text and no list.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
@RAW
@with_settings
def show_command(run_id: str, wide: bool, as_json: bool, raw: bool, settings: Settings) -> None:
    """Show RUN: its answer, each sentence with its evidence, what was found and not used, and its stages."""
    trace = asyncio.run(trace_of(run_id, settings, masked=not raw))
    found = explained(trace)
    if as_json:
        say_json(found)
    else:
        show_run(trace, found, wide=wide)


@trace_group.command("why")
@RUN
@click.option("--source", required=True, help="Id of a document, or the end of one.")
@ASKED_OVER
@RAW
@with_settings
def why_command(run_id: str, source: str, raw: bool, settings: Settings) -> None:
    """Say why RUN did not cite a source: not found, cut off, beaten, not picked, or withheld."""
    trace = asyncio.run(trace_of(run_id, settings, masked=not raw))
    try:
        told = why(trace, explained(trace), source)
    except LookupError as unclear:
        refuse(str(unclear))
    for indent, line in told:
        put(plain_console(), indent, line)


@trace_group.command("blame")
@RUN
@ASKED_OVER
@click.option(
    "--engine",
    type=click.Choice([RECORDED, *installed("engines")]),
    help="What answers what the record does not.  [default: the settings' engine, if it answered the run]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@with_settings
def blame_command(run_id: str, engine: str | None, as_json: bool, settings: Settings) -> None:
    """Fork RUN from gate, answer, choice and retrieval as they are today, and name the one that turns it."""
    found = asyncio.run(_blamed(run_id, settings, engine))
    if as_json:
        say_json(found)
        return
    lines = [f"{t.part:<9}  from {t.stage}: {t.problem or ', '.join(t.changes) or 'the same'}" for t in found.tried]
    for line in (*lines, f"{found.part} turns it" if found.part else "nothing that was tried turns it"):
        put(plain_console(), 0, line)


async def _blamed(source: str, settings: Settings, engine: str | None) -> Blamed:
    trace = await trace_of(source, settings)
    own = settings.inference.engine
    answered = any(ask.engine == own for ask in trace.story.asks)
    async with live_for(settings, engine or (own if answered else RECORDED)) as live:
        live.has_model = None
        found = await blame(trace, pipeline(), live)
    return found if masked_trace(trace) is trace else masked(found)
