"""`groundwire trace mark`, `pin`, `unpin` and `prune`: a verdict on a run; which runs stay in the journal, and which leave it."""

import asyncio
import re
import time
from datetime import datetime

import click

from actors.pipeline import pipeline
from bus.journal.pruning import Pruned, Rule, pin, prune, unpin
from bus.journal.sweeping import sweep
from bus.journal.verdicts import JUDGEMENTS, LONGEST_NOTE, Judgement, Verdict, add_verdict
from bus.wire.messages import RunFinished
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import journal_of, with_settings
from runtime.replay.journal_traces import full_id
from runtime.settings import Settings
from runtime.terminal import one_line, say

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


class Age(click.ParamType[float]):
    """A number with a unit: `90m`, `12h`, `2d`, `1w`; in seconds."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhdw])", str(value).strip().lower())
        if found is None:
            self.fail(f"{str(value)[:40]!r} is not an age; write it as 90m, 12h, 2d or 1w", param, ctx)
        return float(found[1]) * _SECONDS[found[2]]


class Size(click.ParamType[int]):
    """A number of bytes with a unit: `800kB`, `500MB`, `1GiB`."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?((?:[kmg]i?)?)b?", str(value).strip().lower())
        if found is None:
            self.fail(f"{str(value)[:40]!r} is not a size; write it as 800kB, 500MB or 1GiB", param, ctx)
        return int(float(found[1]) * _BYTES[found[2]])


@click.command("pin")
@click.argument("run_id", metavar="RUN")
@ASKED_OVER
@with_settings
def pin_command(run_id: str, settings: Settings) -> None:
    """Keep RUN in the journal, at any age, until it is unpinned."""

    async def done() -> bool:
        async with journal_of(settings) as journal:
            return await pin(journal, await full_id(journal, run_id))

    say(f"run {run_id} is pinned" if asyncio.run(done()) else f"run {run_id} was pinned already")


@click.command("unpin")
@click.argument("run_id", metavar="RUN")
@ASKED_OVER
@with_settings
def unpin_command(run_id: str, settings: Settings) -> None:
    """Let RUN leave the journal like any other."""

    async def done() -> bool:
        async with journal_of(settings) as journal:
            return await unpin(journal, await full_id(journal, run_id))

    say(f"run {run_id} is no longer pinned" if asyncio.run(done()) else f"run {run_id} was not pinned")


@click.command("mark")
@click.argument("run_id", metavar="RUN")
@click.argument("verdict", type=click.Choice(JUDGEMENTS))
@click.option("--note", default="", help="Why.")
@ASKED_OVER
@with_settings
def mark_command(run_id: str, verdict: Judgement, note: str, settings: Settings) -> None:
    """Say that RUN is right, wrong or harmful; the last verdict counts, and all are kept."""

    async def done() -> tuple[str, int]:
        async with journal_of(settings) as journal:
            named = await full_id(journal, run_id)
            return named, await add_verdict(journal, named, Verdict(verdict=verdict, note=note[:LONGEST_NOTE]))

    named, number = asyncio.run(done())
    say(f"run {named} is marked {verdict}{f', its verdict number {number}' if number > 1 else ''}")


@click.command("prune")
@ASKED_OVER
@click.option("--older-than", type=Age(), help="Remove finished runs asked longer ago: 90m, 12h, 2d, 1w.")
@click.option("--keep-bytes", type=Size(), help="Remove the oldest until the journal takes this much: 500MB, 1GiB.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@with_settings
def prune_command(older_than: float | None, keep_bytes: int | None, dry_run: bool, settings: Settings) -> None:
    """Remove finished runs from the journal, oldest first; those under way or pinned stay.

    Without --older-than and --keep-bytes, what the settings do not keep.
    """

    async def done() -> tuple[Pruned, list[str]]:
        async with journal_of(settings) as journal:
            rule = _rule(settings, older_than, keep_bytes)
            closers = [actor.name for actor in pipeline().actors if actor.takes is RunFinished]
            left = [] if dry_run else await sweep(journal, settings.bus.deadline_s)
            return await prune(journal, rule, closers=closers, dry_run=dry_run), left

    pruned, left = asyncio.run(done())
    for line in left:
        say(one_line(line))
    if dry_run:
        for each in pruned.runs:
            say(f"{each.run_id}  {datetime.fromtimestamp(each.asked_at).astimezone():%Y-%m-%d %H:%M:%S}")
    stay = ", ".join(
        f"{count} {what}"
        for count, what in ((pruned.seen.pinned, "pinned"), (pruned.seen.running, "under way"))
        if count
    )
    what = "to be removed" if dry_run else "removed"
    say(f"runs {what}: {len(pruned.runs)} ({pruned.size_bytes / 1e6:.1f} MB){f'; passed over: {stay}' if stay else ''}")


def _rule(settings: Settings, older_than: float | None, keep_bytes: int | None) -> Rule:
    if older_than is None and keep_bytes is None:
        older_than, keep_bytes = (
            settings.bus.runs_max_age_s,
            int(settings.bus.runs_max_bytes * settings.bus.runs_prune_from),
        )
    return Rule(before=time.time() - older_than if older_than is not None else 0.0, keep_bytes=keep_bytes)
