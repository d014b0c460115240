"""`groundwire trace mark`, `pin`, `unpin` and `prune`: a verdict on a run; which runs stay in the journal, and which leave it."""

import re
import time
from collections.abc import Mapping
from datetime import datetime

import click

from actors.pipeline import pipeline
from bus.journal.pruning import Rule, pin, prune, unpin
from bus.journal.sweeping import sweep
from bus.journal.verdicts import JUDGEMENTS, LONGEST_NOTE, Judgement, Verdict, add_verdict
from bus.wire.messages import RunFinished
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import RUN, journal_of, with_settings
from runtime.replay.journal_traces import full_id
from runtime.settings import Settings
from runtime.terminal import one_line, say


class Quantity(click.ParamType[float]):
    """A number with one of these units, each with its size."""

    def __init__(self, name: str, such_as: str, units: Mapping[str, int]) -> None:
        self.name, self.such_as, self.units = name, such_as, units

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([a-z]*)", str(value).strip().lower())
        if found is None or found[2] not in self.units:
            self.fail(f"{str(value)[:40]!r} is no {self.name}; write it as {self.such_as}", param, ctx)
        return float(found[1]) * self.units[found[2]]


#: In seconds, and in bytes.
AGE = Quantity("age", "90m, 12h, 2d or 1w", {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400})
_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
SIZE = Quantity("size", "800kB, 500MB or 1GiB", _BYTES | {f"{unit}b": size for unit, size in _BYTES.items()})


@click.command("pin")
@RUN
@ASKED_OVER
@with_settings
async def pin_command(run_id: str, settings: Settings) -> None:
    """Keep RUN in the journal, at any age, until it is unpinned."""
    async with journal_of(settings) as journal:
        new = await pin(journal, await full_id(journal, run_id))
    say(f"run {run_id} is pinned" if new else f"run {run_id} was pinned already")


@click.command("unpin")
@RUN
@ASKED_OVER
@with_settings
async def unpin_command(run_id: str, settings: Settings) -> None:
    """Let RUN leave the journal like any other."""
    async with journal_of(settings) as journal:
        was = await unpin(journal, await full_id(journal, run_id))
    say(f"run {run_id} is no longer pinned" if was else f"run {run_id} was not pinned")


@click.command("mark")
@RUN
@click.argument("verdict", type=click.Choice(JUDGEMENTS))
@click.option("--note", default="", help="Why.")
@ASKED_OVER
@with_settings
async def mark_command(run_id: str, verdict: Judgement, note: str, settings: Settings) -> None:
    """Say that RUN is right, wrong or harmful; the last verdict counts, and all are kept."""
    given = Verdict(verdict=verdict, note=note[:LONGEST_NOTE])
    async with journal_of(settings) as journal:
        named = await full_id(journal, run_id)
        number = await add_verdict(journal, named, given)
    say(f"run {named} is marked {verdict}{f', its verdict number {number}' if number > 1 else ''}")


@click.command("prune")
@ASKED_OVER
@click.option("--older-than", type=AGE, help="Remove finished runs asked longer ago: 90m, 12h, 2d, 1w.")
@click.option("--keep-bytes", type=SIZE, help="Remove the oldest until the journal takes this much: 500MB, 1GiB.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@with_settings
async def prune_command(older_than: float | None, keep_bytes: float | None, dry_run: bool, settings: Settings) -> None:
    """Remove finished runs from the journal, oldest first; those under way or pinned stay.

    Without --older-than and --keep-bytes, what the settings do not keep.
    """
    async with journal_of(settings) as journal:
        rule = _rule(settings, older_than, keep_bytes)
        closers = [actor.name for actor in pipeline().actors if actor.takes is RunFinished]
        left = [] if dry_run else await sweep(journal, settings.bus.deadline_s)
        pruned = await prune(journal, rule, closers=closers, dry_run=dry_run)
    for line in left:
        say(one_line(line))
    if dry_run:
        for each in pruned.runs:
            say(f"{each.run_id}  {datetime.fromtimestamp(each.asked_at).astimezone():%Y-%m-%d %H:%M:%S}")
    seen = {"pinned": pruned.seen.pinned, "under way": pruned.seen.running}
    stay = ", ".join(f"{count} {what}" for what, count in seen.items() if count)
    what = "to be removed" if dry_run else "removed"
    say(f"runs {what}: {len(pruned.runs)} ({pruned.size_bytes / 1e6:.1f} MB){f'; passed over: {stay}' if stay else ''}")


def _rule(settings: Settings, older_than: float | None, keep_bytes: float | None) -> Rule:
    bus = settings.bus
    if older_than is None and keep_bytes is None:
        older_than, keep_bytes = bus.runs_max_age_s, bus.runs_max_bytes * bus.runs_prune_from
    return Rule(
        before=time.time() - older_than if older_than is not None else 0.0,
        keep_bytes=int(keep_bytes) if keep_bytes is not None else None,
    )
