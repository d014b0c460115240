"""`groundwire trace list`, `odd`, `stats` and `frame`: many runs, from the journal or from trace files."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from bus.runs.run_record import ending
from index.masking import masked
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER, PATH
from runtime.commands.run_sources import RAW, journal_of, refuse, traces_of, with_settings, writing
from runtime.commands.run_text import put
from runtime.commands.trace_keep import AGE
from runtime.replay.journal_traces import latest_runs
from runtime.replay.run_rows import SORTS, WORDS, RunRow, Wanted, ranked, wanted_row
from runtime.replay.run_statistics import odd_runs, stage_stats, write_frame
from runtime.replay.trace import masked_trace
from runtime.settings import Settings
from runtime.terminal import one_line, say, say_json

FILES = click.argument("files", nargs=-1, type=PATH, metavar="[FILE]...")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
#: As many runs as a journal can have.
ALL = 1_000_000

_HELP = {
    "reason": "As `trace show` names it.",
    "flag": "A kind of flag on a withheld sentence.",
    "verdict": "Of `trace mark`.",
}
_FILTERS = (
    *(click.option(f"--{name}", type=click.Choice(words), help=_HELP.get(name)) for name, words in WORDS.items()),
    click.option("--source", default="", help="Id of a cited document, or the end of one."),
    click.option("--profile", default=""),
    click.option("--key", default="", help="Name of the key that asked."),
    click.option("--text", default="", help="In the question or the answer."),
    click.option("--since", type=AGE, help="Asked at most so long ago: 90m, 12h, 2d, 1w."),
    click.option("--until", type=AGE, help="Asked at least so long ago."),
    click.option("--slower", type=float, default=0.0, help="Took at least so many seconds."),
    click.option("--faster", type=float, default=0.0, help="Took at most so many seconds."),
)


def _filters[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def _wanted(since: float | None, until: float | None, **same: Any) -> Wanted:
    now = time.time()
    return Wanted(
        since=now - since if since else 0.0, until=now - until if until else 0.0, **{k: v for k, v in same.items() if v}
    )


@click.command("list")
@FILES
@ASKED_OVER
@click.option("-n", "count", type=click.IntRange(1, ALL), default=20, show_default=True, help="Number of runs.")
@_filters
@click.option("--sort", type=click.Choice(SORTS), default=SORTS[0], show_default=True, help="The highest first.")
@JSON
@RAW
@with_settings
async def list_command(
    files: tuple[Path, ...], count: int, sort: str, as_json: bool, raw: bool, settings: Settings, **filters: Any
) -> None:
    """List runs, the latest first; only those that fit every option."""
    wanted = _wanted(**filters)
    if files:
        every = (wanted_row(trace.records, wanted) for trace in await traces_of(files, settings))
        rows = [row for row in every if row is not None]
    else:
        async with journal_of(settings) as journal:
            rows = await latest_runs(journal, count if sort == SORTS[0] else ALL, wanted)
    rows = ranked(rows, sort)[:count]
    rows = rows if raw else masked(rows)
    for row in rows:
        if as_json:
            say_json(row)
        else:
            for indent, line in _told(row):
                put(plain_console(), indent, line)


def _told(row: RunRow) -> list[tuple[int, str]]:
    asked = datetime.fromtimestamp(row.asked_at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    took = "" if row.took_s is None else f"{row.took_s * 1000:.0f} ms"
    sure = f"{row.confidence} confidence" if row.confidence else ""
    verdict = f"{row.verdict}{f': {one_line(row.note)}' if row.note else ''}"
    more = [f"key {row.key}" if row.key else "", ", ".join(row.flags), f"fork of {row.parent}" if row.parent else ""]
    facts = ending(row.outcome, row.reason), sure, took, row.profile, *more, "pinned" if row.pinned else "", verdict
    return [(0, f"{row.run_id}  {asked}"), (2, one_line(row.question)), (2, ", ".join(filter(None, facts)))]


@click.command("odd")
@FILES
@ASKED_OVER
@click.option("-n", "count", type=click.IntRange(1), default=10, show_default=True, help="Number of runs.")
@JSON
@RAW
@with_settings
async def odd_command(files: tuple[Path, ...], count: int, as_json: bool, raw: bool, settings: Settings) -> None:
    """Rank unusual runs: rare ends, flags, fallbacks or paths, near a threshold, slow for their path."""
    found = odd_runs(await traces_of(files, settings))[:count]
    for odd in found if raw else masked(found):
        if as_json:
            say_json(odd)
            continue
        put(plain_console(), 0, f"{odd.run_id}  {odd.bits:.1f} bits")
        for line in (one_line(odd.question), *odd.why):
            put(plain_console(), 2, line)


@click.command("stats")
@FILES
@ASKED_OVER
@JSON
@with_settings
async def stats_command(files: tuple[Path, ...], as_json: bool, settings: Settings) -> None:
    """Sum up the stages of all runs: calls, times, fallbacks, replies and tokens."""
    found = stage_stats(await traces_of(files, settings))
    if as_json:
        for stage in found:
            say_json(stage)
        return
    width = max((len(stage.stage) for stage in found), default=0)
    say(f"{'stage':<{width}}  calls    median       p95  fallbacks  replies  tokens")
    for stage in found:
        times = f"{stage.median_s * 1000:6.1f} ms {stage.p95_s * 1000:6.1f} ms"
        counts = f"{stage.fallbacks:10} {stage.asks:8} {stage.tokens_out:7}"
        say(f"{stage.stage:<{width}}  {stage.calls:5} {times} {counts}")


@click.command("frame")
@FILES
@ASKED_OVER
@click.option("--out", type=PATH, required=True, help="File of the runs, as runs.parquet.")
@RAW
@with_settings
async def frame_command(files: tuple[Path, ...], out: Path, raw: bool, settings: Settings) -> None:
    """Write a Parquet file with a row for each run, and beside it one with a row for each sentence."""
    traces = await traces_of(files, settings)
    try:
        with writing(out):
            written = write_frame(traces if raw else [masked_trace(trace) for trace in traces], out)
    except ImportError:
        refuse("pyarrow is not installed; install groundwire[frame]")
    for path, rows in written.items():
        say(f"{path}: {rows} rows")
