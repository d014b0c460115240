"""`groundwire trace`: look at one run or at many, export one to a file; what stays and what leaves."""

import asyncio

import click

from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import refuse, trace_of, with_settings
from runtime.commands.run_text import put, show_run
from runtime.commands.trace_blame import blame_command
from runtime.commands.trace_export import export_command
from runtime.commands.trace_keep import mark_command, pin_command, prune_command, unpin_command
from runtime.commands.trace_many import RAW, frame_command, list_command, odd_command, stats_command
from runtime.replay.explained import explained
from runtime.replay.trace import masked_trace
from runtime.replay.why import why
from runtime.settings import Settings
from runtime.terminal import say_json


@click.group("trace")
def trace_group() -> None:
    """Look at recorded runs, mark, export, pin and prune them; RUN is a trace file, a run id, or the beginning of one."""


for command in (
    *(list_command, odd_command, stats_command, frame_command, blame_command, mark_command),
    *(export_command, pin_command, unpin_command, prune_command),
):
    trace_group.add_command(command)


@trace_group.command("show")
@click.argument("run_id", metavar="RUN")
@ASKED_OVER
@click.option("--wide", is_flag=True, help="Break no line, and shorten no text and no list.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
@RAW
@with_settings
def show_command(run_id: str, wide: bool, as_json: bool, raw: bool, settings: Settings) -> None:
    """Show RUN: its answer, each sentence with its evidence, what was found and not used, and its stages."""
    trace = asyncio.run(trace_of(run_id, settings))
    trace = trace if raw else masked_trace(trace)
    found = explained(trace)
    if as_json:
        say_json(found)
    else:
        show_run(trace, found, wide=wide)


@trace_group.command("why")
@click.argument("run_id", metavar="RUN")
@click.option("--source", required=True, help="Id of a document, or the end of one.")
@ASKED_OVER
@RAW
@with_settings
def why_command(run_id: str, source: str, raw: bool, settings: Settings) -> None:
    """Say why RUN did not cite a source: not found, cut off, beaten, not picked, or withheld."""
    trace = asyncio.run(trace_of(run_id, settings))
    trace = trace if raw else masked_trace(trace)
    try:
        told = why(trace, explained(trace), source)
    except LookupError as unclear:
        refuse(str(unclear))
    for indent, line in told:
        put(plain_console(), indent, line)
