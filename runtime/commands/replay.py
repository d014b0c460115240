"""`groundwire replay`: replay a recorded run through today's code, or fork it at a stage."""

import dataclasses
from pathlib import Path

import click

from actors.pipeline import STAGES, pipeline
from index.languages.toml_check import nearest
from index.plugins import installed
from runtime.commands.options import ASKED_OVER, FILE, PATH, check_profile
from runtime.commands.run_sources import FILL, refuse, trace_of, with_settings
from runtime.commands.what_if import WhatIf, what_if
from runtime.forking.live_powers import RECORDED
from runtime.forking.rerun import PROMPT, changed_since
from runtime.processes.actors import defaults_in
from runtime.replay.replayer import Replayed, replay
from runtime.settings import Settings
from runtime.terminal import say, say_json


@click.command("replay")
@click.argument("runs", metavar="RUN…", nargs=-1)
@ASKED_OVER
@click.option("--from", "stage", metavar="STAGE", help="Fork the run: keep what came before STAGE and redo the rest.")
@click.option("--without", multiple=True, metavar="SOURCE", help="As if this source were not there; may be repeated.")
@click.option(
    "--set",
    "keys",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another value: voice=helpful, retrieval.k=5; may be repeated.",
)
@click.option("--prompt", "prompts", multiple=True, type=FILE, help="Another NAME.prompt; may be repeated.")
@click.option("--search", is_flag=True, help="Search today's index, in place of the recorded hits.")
@click.option("--profile", help="Another profile; with --from, for STAGE and all later stages.")
@click.option(
    "--engine",
    type=click.Choice([RECORDED, *installed("engines")]),
    help="What answers; `recorded` are the trace's own replies.  [default: recorded]",
)
@FILL
@click.option("--out", type=PATH, help="Trace file of the new run.  [default with --from: NEW-RUN.jsonl]")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@with_settings
@click.pass_context
async def replay_command(
    ctx: click.Context,
    runs: tuple[str, ...],
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
    With --from it goes again from that stage: a fork, with a trace of its own. RUN is a run id or a trace file. Exit codes: 0
    identical, or told what changes; 1 diverged, or not told; 2 usage error; 3 identical, but a prompt of the run has changed since.
    """
    if not runs:
        refuse("name a run or a trace file; `groundwire trace list --index DIR` lists the runs")
    if fill is not None and engine not in (None, RECORDED):
        refuse(f"--fill is for recorded replies, and --engine {engine} answers everything; leave one out")
    if stage is not None:
        if stage not in STAGES:
            refuse(f"no stage is called {stage!r}{nearest(stage, STAGES)}")
        if without or keys:
            refuse("--without and --set begin with the question; leave out --from")
    if profile is not None:
        check_profile(profile, settings)
    other = "" if engine in (None, RECORDED) else engine or ""
    options = WhatIf(stage or "", without, keys, prompts, profile or "", other, fill or "", search)
    if any(options):
        ctx.exit(await what_if(runs, options, settings, out, as_json=as_json))
    if out is not None:
        refuse("--out is for a new run; add --from STAGE, or what is changed")
    ctx.exit(await _replay_all(runs, settings, as_json=as_json))


async def _replay_all(runs: tuple[str, ...], settings: Settings, *, as_json: bool) -> int:
    """Replay and print each. Returns the exit code: that of the worst."""
    code = 0
    for source in runs:
        trace = await trace_of(source, settings)
        changed = changed_since(trace, settings.inference, defaults_in(settings))
        done = dataclasses.replace(await replay(trace, pipeline()), changed=changed)
        if as_json:
            say_json(done)
        else:
            say(told(done) if len(runs) == 1 else f"{source}: {told(done)}")
        prompts = any(each.what.startswith(PROMPT) for each in done.changed)
        code = 1 if code == 1 or done.divergence is not None else 3 if prompts else code
    return code


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
