"""`groundwire trace export`: write a run to a file, for replay on any machine, for sharing, or for reading in a browser."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from actors.pipeline import pipeline
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import RUN, refuse, trace_of, with_settings, writing
from runtime.forking.cited_only import cited_only
from runtime.forking.fork import NothingToFork
from runtime.replay.sharing import Shared, shared
from runtime.replay.trace import Trace, dump, masks
from runtime.settings import Settings
from runtime.terminal import json_line, one_line, say


@click.command("export")
@RUN
@ASKED_OVER
@click.option(
    "--out", type=click.Path(path_type=Path), help="File to write, or - for standard output.  [default: RUN.jsonl]"
)
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
