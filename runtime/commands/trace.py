"""`groundwire trace`: look at one run or at many, export one to a file; what stays and what leaves.

`groundwire trace export` writes a run to a file, for replay on any machine, for sharing, or for reading in a browser.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from actors.pipeline import pipeline
from index.masking import masked
from index.plugins import installed
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER, PATH
from runtime.commands.run_sources import RAW, RUN, refuse, trace_of, with_settings, writing
from runtime.commands.run_text import put, show_run
from runtime.commands.trace_keep import mark_command, pin_command, prune_command, unpin_command
from runtime.commands.trace_many import frame_command, list_command, odd_command, stats_command
from runtime.forking.blame import blame
from runtime.forking.fork import NothingToFork, cited_only
from runtime.forking.live_powers import RECORDED, live_for
from runtime.replay.explained import explained, why
from runtime.replay.sharing import Shared, shared
from runtime.replay.trace import Trace, dump, masked_trace, masks
from runtime.settings import Settings
from runtime.terminal import json_line, one_line, say, say_json


@click.command("export")
@RUN
@ASKED_OVER
@click.option("--out", type=PATH, help="File to write, or - for standard output.  [default: RUN.jsonl]")
@click.option("--raw", is_flag=True, help="Write personal data as it is in the journal.")
@click.option("--share", is_flag=True, help="Mask personal data, secrets and addresses, whatever the profile says.")
@click.option("--cited-only", "cited", is_flag=True, help="Leave out passages that the evidence does not come from.")
@click.option("--html", is_flag=True, help="Write a page to read in a browser, without a server, in place of a trace.")
@with_settings
@click.pass_context
def export_command(
    ctx: click.Context,
    run_id: str,
    out: Path | None,
    raw: bool,
    share: bool,
    cited: bool,
    html: bool,
    settings: Settings,
) -> None:
    """Write RUN to one file, all that `groundwire replay` needs.

    What is masked has the same stand-in everywhere, so the file replays as the run does. Exit code 1: masked, but the file
    replays differently, and where is said.
    """
    if raw and share:
        refuse("--raw writes what --share masks; leave one out")
    made = asyncio.run(_made(run_id, settings, raw, share, cited))
    place = out or Path(f"{made.trace.run_id}.{'html' if html else 'jsonl'}")
    lines = [line + b"\n" for line in _lines(made.trace, html)]
    if str(place) != "-":
        with writing(place):
            place.write_bytes(b"".join(lines))
        say(f"{place}: {len(made.trace.records)} records, {len(made.trace.frames)} frames of events")
    elif sys.stdout.isatty():
        say("".join(json_line(line) for line in lines), nl=False)
    else:
        sys.stdout.buffer.writelines(lines)
    if made.masked:
        say(f"masked values: {made.masked}, each the same everywhere", err=True)
    if made.other:
        say("the masked run ends as the original, but its citations, flags or passages are others", err=True)
    if made.divergence is not None:
        at = made.divergence
        found = one_line(f"recorded {at.recorded}, now {at.now}")
        say(f"the masked run replays differently at {at.stage}, {at.path or at.part}: {found}", err=True)
        ctx.exit(1)


async def _made(run_id: str, settings: Settings, raw: bool, share: bool, cited: bool) -> Shared:
    trace = await trace_of(run_id, settings)
    if cited:
        try:
            trace = cited_only(trace, pipeline())
        except NothingToFork as nothing:
            refuse(str(nothing))
    if raw or not (share or masks(trace)):
        return Shared(trace, 0)
    return await shared(trace, pipeline(), all_secrets=share)


def _lines(trace: Trace, html: bool) -> Iterator[bytes]:
    """The lines of a trace file, or a page."""
    if not html:
        return dump(trace)
    from runtime.edge.page.offline import offline_page  # with it come aiohttp and the page

    return iter([offline_page(trace).encode()])


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
async def show_command(run_id: str, wide: bool, as_json: bool, raw: bool, settings: Settings) -> None:
    """Show RUN: its answer, each sentence with its evidence, what was found and not used, and its stages."""
    trace = await trace_of(run_id, settings, masked=not raw)
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
async def why_command(run_id: str, source: str, raw: bool, settings: Settings) -> None:
    """Say why RUN did not cite a source: not found, cut off, beaten, not picked, or withheld."""
    trace = await trace_of(run_id, settings, masked=not raw)
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
async def blame_command(run_id: str, engine: str | None, as_json: bool, settings: Settings) -> None:
    """Fork RUN from gate, answer, choice and retrieval as they are today, and name the one that turns it."""
    trace = await trace_of(run_id, settings)
    own = settings.inference.engine
    answered = any(ask.engine == own for ask in trace.story.asks)
    async with live_for(settings, engine or (own if answered else RECORDED)) as live:
        live.has_model = None
        found = await blame(trace, pipeline(), live)
    found = found if masked_trace(trace) is trace else masked(found)
    if as_json:
        say_json(found)
        return
    lines = [f"{t.part:<9}  from {t.stage}: {t.problem or ', '.join(t.changes) or 'the same'}" for t in found.tried]
    for line in (*lines, f"{found.part} turns it" if found.part else "nothing that was tried turns it"):
        put(plain_console(), 0, line)
