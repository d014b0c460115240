"""`groundwire replay`: replay a recorded run through today's code, or fork it at a stage."""

import asyncio
import dataclasses
import secrets
from collections import Counter
from pathlib import Path

import click

from actors.pipeline import STAGES, pipeline
from index.languages.toml_check import nearest
from index.plugins import installed
from runtime.commands.options import ASKED_OVER, check_profile
from runtime.commands.run_sources import is_file, journal_of, refuse, trace_of, with_settings, writing
from runtime.commands.what_if import WhatIf, what_if
from runtime.forking.fork import NothingToFork, fork, keep
from runtime.forking.live_powers import RECORDED, Given, NotRecorded, hits_of, replies_of
from runtime.forking.powers import live_for
from runtime.forking.since import PROMPT, changed_since
from runtime.processes.actors import defaults_in
from runtime.replay.difference import parting
from runtime.replay.replayer import Replayed, replay
from runtime.replay.trace import Trace, write
from runtime.settings import Settings
from runtime.terminal import say, say_json

#: Where what the record lacks may come from.
REMEDIES = {
    "engine": "--fill ENGINE lets an engine answer that alone, --engine ENGINE everything from the stage on",
    "index": "--index lets today's index give them",
}


@click.command("replay")
@click.argument("runs", metavar="RUN…", nargs=-1)
@ASKED_OVER
@click.option(
    "--trace", "file", type=click.Path(path_type=Path), help="Trace file written by `trace export`, instead of RUN."
)
@click.option("--from", "stage", metavar="STAGE", help="Fork the run: keep what came before STAGE and redo the rest.")
@click.option("--without", multiple=True, metavar="SOURCE", help="As if this source were not there; may be repeated.")
@click.option(
    "--set",
    "keys",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another value: voice=helpful, retrieval.k=5; may be repeated.",
)
@click.option(
    "--prompt", "prompts", multiple=True, type=click.Path(path_type=Path), help="Another NAME.prompt; may be repeated."
)
@click.option("--search", is_flag=True, help="Search today's index, in place of the recorded hits.")
@click.option("--profile", help="Another profile; with --from, for STAGE and all later stages.")
@click.option(
    "--engine",
    type=click.Choice([RECORDED, *installed("engines")]),
    help="What answers; `recorded` are the trace's own replies.  [default: recorded]",
)
@click.option(
    "--fill",
    type=click.Choice(installed("engines")),
    help="The engine for what the record has no reply to, or whose prompt has changed.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Trace file of the new run.  [default with --from: NEW-RUN.jsonl]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@with_settings
@click.pass_context
def replay_command(
    ctx: click.Context,
    runs: tuple[str, ...],
    file: Path | None,
    stage: str | None,
    without: tuple[str, ...],
    keys: tuple[str, ...],
    prompts: tuple[Path, ...],
    search: bool,
    profile: str | None,
    engine: str | None,
    fill: str | None,
    out: Path | None,
    as_json: bool,
    settings: Settings,
) -> None:
    """Replay RUN… through today's code and compare every output; no model is called.

    With something changed, such as --without or --set, each run goes again from its question on, and what changes is printed.
    With --from, one run is forked. RUN is a run id or a trace file. Exit codes: 0 identical, or told what changes; 1 diverged, or
    not told; 2 usage error, or a fork that lacks a reply; 3 identical, but a prompt of the run has changed since.
    """
    if file is not None:
        runs = (*runs, str(file) if is_file(str(file)) else f"./{file}")
    if not runs:
        refuse("give a run id, or a file with --trace; `groundwire trace list --index DIR` lists the runs")
    if fill is not None and engine not in (None, RECORDED):
        refuse(f"--fill is for recorded replies, and --engine {engine} answers everything; leave one out")
    other = "" if engine in (None, RECORDED) else engine or ""
    if profile is not None:
        check_profile(profile, settings)
    options = WhatIf(without, keys, prompts, profile or "", other, fill or "", search)
    if stage is None:
        if options.any:
            ctx.exit(what_if(runs, options, settings, out, as_json=as_json))
        if out is not None:
            refuse("--out applies to a fork only; add --from STAGE")
        ctx.exit(_replay_all(runs, settings, as_json=as_json))
    if without or keys or prompts or search:
        refuse("--without, --set, --prompt and --search begin with the question; leave out --from")
    if len(runs) > 1:
        refuse("--from forks one run; give one")
    source, index = runs[0], ctx.params["index"]
    check_stage(stage)
    forked, first, given = asyncio.run(_forked(source, settings, stage, profile or "", engine or RECORDED, fill or ""))
    place = out or Path(f"{forked.run_id}.jsonl")
    with writing(place):
        write(place, forked)
    if as_json:
        made = {
            "run_id": forked.run_id,
            "parent": forked.parent,
            "forked_at": stage,
            "trace": str(place),
            "parts_at": first,
            "given": given,
        }
        say_json(made)
        return
    say(f"run {forked.run_id} forks {forked.parent} at {stage}; its trace is {place}")
    for line in told_given(given):
        say(line)
    say(f"it first differs from its parent at {first}" if first else "it has the same messages as its parent")
    say(f"see `groundwire diff {source} {place}{f' --index {index}' if index and not is_file(source) else ''}`")


def _replay_all(runs: tuple[str, ...], settings: Settings, *, as_json: bool) -> int:
    """Replay and print each. Returns the exit code: that of the worst."""
    code = 0
    for source in runs:
        done = asyncio.run(_replayed(source, settings))
        if as_json:
            say_json(done)
        else:
            say(told(done) if len(runs) == 1 else f"{source}: {told(done)}")
        prompts = any(each.what.startswith(PROMPT) for each in done.changed)
        code = 1 if code == 1 or done.divergence is not None else 3 if prompts else code
    return code


def check_stage(stage: str) -> None:
    """Raises click.UsageError, naming the nearest stage, when there is none of that name."""
    if stage not in STAGES:
        refuse(f"no stage is called {stage!r}{nearest(stage, STAGES)}")


async def _replayed(source: str, settings: Settings) -> Replayed:
    trace = await trace_of(source, settings)
    done = await replay(trace, pipeline())
    return dataclasses.replace(done, changed=changed_since(trace, settings.inference, defaults_in(settings)))


async def _forked(
    source: str, settings: Settings, stage: str, profile: str, engine: str, fill: str
) -> tuple[Trace, str, list[Given]]:
    """The fork, written to the journal if its parent came from one; the stage where the two first differ; what gave each reply."""
    trace = await trace_of(source, settings)
    async with live_for(settings, engine, fill) as live:
        if engine == RECORDED:
            live.replies = replies_of(trace)
        if engine == RECORDED or live.find is None:
            live.hits = hits_of(trace)
        try:
            forked = await fork(trace, pipeline(), stage, secrets.token_hex(12), live, profile=profile)
        except NothingToFork as nothing:
            refuse(str(nothing))
        except NotRecorded as missing:
            refuse(f"{missing}; {REMEDIES[missing.needs]}")
    if not is_file(source):
        async with journal_of(settings) as journal:
            await keep(journal, forked)
    parted = parting(trace, forked, pipeline())
    first = "" if parted is None else f"{parted.stage or 'the question'}, lane {parted.lane}"
    return forked, first, live.given


def told_given(given: list[Given]) -> list[str]:
    """A line for each kind of reply that the stages of a fork got, and what gave it."""
    lines = []
    for each, count in Counter(given).items():
        made_by = f", {each.made_by}" if each.made_by and each.made_by != each.by else ""
        old = "; the prompt has changed since" if each.prompt_changed else ""
        lines.append(f"  {each.stage}: {each.what}{f' ({count} times)' if count > 1 else ''}: {each.by}{made_by}{old}")
    return lines


def told(done: Replayed) -> str:
    kept = f", {done.inherited} stages inherited from its parent not compared" if done.inherited else ""
    events = f"{done.events} events" if done.events else "its events are no longer kept"
    lost = f"; the end of the run cut off {', '.join(done.unfinished)}" if done.unfinished else ""
    open_end = "" if done.finished else "; the run is still going on"
    if done.divergence is None:
        return "\n".join([f"identical: {done.stages} stages, {events}{kept}{lost}{open_end}", *_told_changes(done)])
    where = done.divergence
    lines = [f"diverged at {where.stage}, lane {where.lane}: {where.part} (after {done.stages} identical stages)"]
    lines += [f"  at        {where.path}"] if where.path else []
    lines += [f"  recorded  {where.recorded}", f"  now       {where.now}"]
    return "\n".join([*lines, *_told_changes(done)])


def _told_changes(done: Replayed) -> list[str]:
    """What the replay took from the record and is another today."""
    told = [f"  {each.what}: recorded {each.recorded}, today {each.now}" for each in done.changed]
    return ["taken from the record, and another today:", *told] if told else []
