"""`groundwire trace`: list a journal's runs, show one stage by stage, export it to a file; what stays and what leaves."""

from datetime import datetime
from pathlib import Path

import click
from rich.table import Column, Table
from rich.text import Text

from actors.pipeline import pipeline
from bus.journal.records import Stage
from bus.runs.run_record import record_of
from bus.runs.story import story_of
from bus.wire.messages import words_asked
from index.masking import masked
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER, CONFIG
from runtime.commands.run_sources import journal_of, run, settings_for, trace_of
from runtime.commands.trace_export import export_command
from runtime.commands.trace_keep import pin_command, prune_command, unpin_command
from runtime.replay.journal_traces import RunListed, latest_runs
from runtime.replay.steps import steps_of
from runtime.replay.trace import ASKED, Trace, masked_trace
from runtime.terminal import one_line, say_json

RAW = click.option("--raw", is_flag=True, help="Show personal data as it is in the journal.")


@click.group("trace")
def trace_group() -> None:
    """List, show, export, pin and prune recorded runs; RUN is a run id, or a trace file where that is possible."""


for command in (export_command, pin_command, unpin_command, prune_command):
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
@RAW
@CONFIG
def show_command(run_id: str, index: Path | None, raw: bool, config: Path | None) -> None:
    """Show each stage of RUN: start, time, asks, hits and any fallback."""
    settings = settings_for(index, config)
    trace = run(lambda: trace_of(run_id, settings))
    trace = trace if raw else masked_trace(trace)
    console = plain_console()
    console.print(stage_table(trace))
    record = record_of(story_of(trace.records))
    if record is not None:
        end = f"{record.outcome or 'running'}{f' ({record.reason})' if record.reason else ''}"
        took = "" if record.took_s is None else f" in {record.took_s * 1000:.0f} ms"
        fork = f", a fork of {trace.parent} at {trace.forked_at}" if trace.parent else ""
        question = next((words_asked(r.message) for r in trace.records if raw and r.key.type == ASKED), record.question)
        console.print(f"{_short(question)}\n{end}{took}, profile {record.profile}{fork}")
        console.print(record.answer)
        for n, passage in enumerate(record.passages, 1):
            place = f"{passage.source_id} {passage.source_start}-{passage.source_end}"
            console.print(f"{n}. {place}: {_short(passage.text)}")


def stage_table(trace: Trace) -> Table:
    """A table with one row per step, in order."""
    steps = steps_of(trace, pipeline())
    asked = next((record.time for record in trace.records if record.key.type == ASKED), 0.0)
    table = Table(title=f"run {trace.run_id}", title_justify="left")
    for name in ("stage", "lane", "gave", "began", "took", "asked", "fallback"):
        table.add_column(name, justify="right" if name in ("began", "took") else "left")
    for step in (*steps.taken, *steps.unfinished):
        stage = step.stage
        gave = ", ".join(dict.fromkeys(record.key.type for record in step.outputs)) or (
            "" if step.actor.gives else "DONE"
        )
        began = step.outputs[0].time - asked - (stage.took_s if stage else 0.0) if step.outputs else None
        table.add_row(
            step.name,
            step.lane,
            gave or Text("cut off", style="dim"),
            "" if began is None else f"{max(0.0, began) * 1000:.1f} ms",
            "" if stage is None else f"{stage.took_s * 1000:.1f} ms",
            "\n".join(_asked(stage)) if stage else "",
            stage.fallback if stage else "",
        )
    return table


def _asked(stage: Stage) -> list[str]:
    """The calls to engine and index, one line each."""
    lines = []
    for ask in stage.asks:
        who = ask.failure or ":".join(dict.fromkeys(filter(None, (ask.engine, ask.model))))
        cached = ", remembered" if ask.cached else ""
        lines.append(
            f"{ask.prompt} {ask.took_s * 1000:.1f} ms ({who}{cached}, {ask.tokens_in}+{ask.tokens_out} tokens)"
        )
    return lines + [f"search {_short(s.query, 40)!r} {s.took_s * 1000:.1f} ms" for s in stage.searches]


def _short(text: str, most: int = 70) -> str:
    text = one_line(text)
    return text if len(text) <= most else text[: most - 1] + "…"
