"""`groundwire trace blame`: which part of the pipeline turns a run."""

import asyncio

import click

from actors.pipeline import pipeline
from bus.runs.story import story_of
from index.masking import masked
from index.plugins import installed
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import trace_of, with_settings
from runtime.commands.run_text import put
from runtime.forking.blame import Blamed, blame
from runtime.forking.live_powers import RECORDED
from runtime.forking.powers import live_for
from runtime.replay.trace import masked_trace
from runtime.settings import Settings
from runtime.terminal import say_json


@click.command("blame")
@click.argument("run_id", metavar="RUN")
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
    for each in found.tried:
        put(
            plain_console(),
            0,
            f"{each.part:<9}  from {each.stage}: {each.problem or ', '.join(each.changes) or 'the same'}",
        )
    put(plain_console(), 0, f"{found.part} turns it" if found.part else "nothing that was tried turns it")


async def _blamed(source: str, settings: Settings, engine: str | None) -> Blamed:
    trace = await trace_of(source, settings)
    if engine is None:
        engines = {ask.engine for ask in story_of(trace.records).asks}
        engine = settings.inference.engine if settings.inference.engine in engines else RECORDED
    async with live_for(settings, engine) as live:
        live.has_model = None
        found = await blame(trace, pipeline(), live)
    return found if masked_trace(trace) is trace else masked(found)
