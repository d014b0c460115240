"""`groundwire trace`: list a journal's runs, show one stage by stage, export it to a file; what stays and what leaves."""

from datetime import datetime
from pathlib import Path

import click
from rich.table import Column, Table

from index.masking import masked
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER, CONFIG
from runtime.commands.run_sources import journal_of, refuse, run, settings_for, trace_of
from runtime.commands.run_text import put, show_run
from runtime.commands.trace_blame import blame_command
from runtime.commands.trace_export import export_command
from runtime.commands.trace_keep import pin_command, prune_command, unpin_command
from runtime.replay.explained import explained
from runtime.replay.journal_traces import RunListed, latest_runs
from runtime.replay.trace import masked_trace
from runtime.replay.why import why
from runtime.terminal import one_line, say_json

RAW = click.option("--raw", is_flag=True, help="Show personal data as it is in the journal.")


@click.group("trace")
def trace_group() -> None:
    """List, show, export, pin and prune recorded runs; RUN is a run id, or a trace file where that is possible."""


for command in (blame_command, export_command, pin_command, unpin_command, prune_command):
    trace_group.add_command(command)


@trace_group.command("list")
@ASKED_OVER
@click.option("-n", "count", type=click.IntRange(1, 1000), default=20, show_default=True, help="Number of runs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per run.")
@RAW
@CONFIG
def list_command(index: Path | None, count: int, as_json: bool, raw: bool, config: Path | None) -> None:
    """List the latest runs, newest first."""
    settings = settings_for(index, config)

    async def found() -> list[RunListed]:
        async with journal_of(settings) as journal:
            return await latest_runs(journal, count)

    runs = run(found)
    runs = runs if raw else masked(runs)
    if as_json:
        for each in runs:
            say_json(each)
        return
    columns = _columns(runs)
    table = Table(*(Column(name, no_wrap=name in ("run", "asked", "fork of")) for name in columns))
    for each in runs:
        asked = datetime.fromtimestamp(each.asked_at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        cells = {"pinned": "pinned" if each.pinned else "", "fork of": each.parent}
        row = (each.run_id, asked, each.outcome or "running", _short(each.question))
        table.add_row(*row, *(cells[name] for name in columns[len(row) :]))
    plain_console().print(table)


def _columns(runs: list[RunListed]) -> list[str]:
    optional = {"pinned": any(each.pinned for each in runs), "fork of": any(each.parent for each in runs)}
    return ["run", "asked", "outcome", "question", *(name for name, shown in optional.items() if shown)]


@trace_group.command("show")
@click.argument("run_id", metavar="RUN")
@ASKED_OVER
@click.option("--wide", is_flag=True, help="Break no line, and shorten no text and no list.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
@RAW
@CONFIG
def show_command(run_id: str, index: Path | None, wide: bool, as_json: bool, raw: bool, config: Path | None) -> None:
    """Show RUN: its answer, each sentence with its evidence, what was found and not used, and its stages."""
    settings = settings_for(index, config)
    trace = run(lambda: trace_of(run_id, settings))
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
@CONFIG
def why_command(run_id: str, source: str, index: Path | None, raw: bool, config: Path | None) -> None:
    """Say why RUN did not cite a source: not found, cut off, beaten, not picked, or withheld."""
    settings = settings_for(index, config)
    trace = run(lambda: trace_of(run_id, settings))
    trace = trace if raw else masked_trace(trace)
    try:
        told = why(trace, explained(trace), source)
    except LookupError as unclear:
        refuse(str(unclear))
    for indent, line in told:
        put(plain_console(), indent, line)


def _short(text: str, most: int = 70) -> str:
    text = one_line(text)
    return text if len(text) <= most else text[: most - 1] + "…"
