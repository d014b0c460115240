"""`groundwire prompts compare`: two versions of a prompt over the same inputs, by counts and by a person's blind choices."""

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.table import Table

from actors.pipeline import pipeline
from actors.question.profile import PROFILES
from actors.question.resolved import RULES
from bus.runs.story import RunStory, story_of
from index.masking import mask
from runtime.commands.consoles import plain_console
from runtime.commands.eval_questions import AT_ONCE, ask_all, own_stack, request
from runtime.commands.options import ASKED_OVER, CONFIG, NEW_FILE, check_profile, one_line_errors
from runtime.commands.progress import bars
from runtime.commands.run_sources import refuse, run, settings_for, trace_of
from runtime.forking.live_powers import live_for
from runtime.forking.versions import BUILT_IN, BadVersion, changed, laid_out, under
from runtime.measure.lines import read
from runtime.measure.prompt_pairs import (
    Line,
    Pair,
    Side,
    append,
    chosen_in,
    differences,
    fields_differing,
    lines_of,
    serve,
    side_of,
    sign_test,
)
from runtime.measure.questions import GoldQuestion
from runtime.processes.inference import Inference
from runtime.processes.stack import stack_for
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.steps import steps_of
from runtime.replay.trace import Trace
from runtime.settings import Settings
from runtime.terminal import say, say_json

#: A bootstrap over fewer runs says nothing, and is not shown.
FEWEST = 5

type Folders = tuple[Path, Path]
type Compared = dict[str, list[Pair]]


@click.command("compare")
@click.argument("versions", metavar="[A B]", nargs=-1)
@click.option("--runs", metavar="RUN|FILE", multiple=True, help="Recorded run or its trace file; may be repeated.")
@click.option("--questions", type=NEW_FILE, help="Questions as for `eval questions`, with or without gold.")
@ASKED_OVER
@click.option("--profile", default="general", show_default=True, help="With --questions: profile to ask under.")
@click.option("--choices", type=NEW_FILE, help="File of a person's choices: with A and B a new one.")
@click.option("--page", is_flag=True, help="With --choices: serve a page to choose on, which names no version.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with all replies.")
@CONFIG
def compare_command(
    *,
    versions: tuple[str, ...],
    runs: tuple[str, ...],
    questions: Path | None,
    index: Path | None,
    profile: str,
    choices: Path | None,
    page: bool,
    as_json: bool,
    config: Path | None,
) -> None:
    """Compare versions A and B of a prompt with the configured model, or go on with a file of choices.

    A version is a file NAME.prompt, a folder of prompts, or `built-in`; all other prompts are the built-in ones. --runs gives
    both the recorded inputs of the prompt. --questions asks each question through the whole pipeline under each.
    """
    if versions:
        if len(versions) != 2 or bool(runs) == (questions is not None):
            refuse(f"name A and B, each a file, a folder or `{BUILT_IN}`, and either --runs RUN or --questions FILE")
        if choices is not None and choices.exists():
            refuse(f"{choices} exists; go on with `prompts compare --choices {choices} --page`, or name another file")
        settings = settings_for(index, config)
        check_profile(profile, settings)
        if questions is not None and not settings.index.dir:
            refuse("--questions are asked over an index; name its folder with --index DIR")
        found = _compared(settings, versions, runs, questions, profile)
        _show(found, as_json=as_json)
        if choices is not None:
            append(choices, [Line(pair=pair) for pairs in found.values() for pair in pairs])
    if choices is not None and (page or not versions):
        _choose(choices, page=page)
    elif page or not versions:
        refuse("name two versions to compare, or a file of choices with --choices FILE, which --page adds to")


def _compared(
    settings: Settings, versions: Sequence[str], runs: Sequence[str], questions: Path | None, profile: str
) -> Compared:
    """The pairs by prompt. Raises click.UsageError."""
    inference = msgspec.structs.replace(settings.inference, cache_entries=0)
    if inference.engine == RULES:
        refuse(
            f"inference.engine is {RULES}, which has no model and reads no prompt; docs/models.md says how to set one"
        )
    settings = msgspec.structs.replace(settings, inference=inference)
    try:
        with (
            one_line_errors(),
            laid_out(versions[0], settings.profiles) as a,
            laid_out(versions[1], settings.profiles) as b,
        ):
            names = changed(a, b)
            if questions is None:
                found = run(lambda: _over_runs(settings, (a, b), names, runs))
            else:
                asked = read(questions, GoldQuestion)
                found = {", ".join(names): run(lambda: _over_questions(settings, (a, b), asked, profile))}
    except BadVersion as problem:
        refuse(str(problem))
    finally:
        PROFILES.use(settings.profiles)
    if not any(found.values()):
        refuse(f"none of these runs asked {', '.join(names)}; `groundwire trace show RUN` prints what a run asked")
    return {name: pairs for name, pairs in found.items() if pairs}


async def _over_runs(settings: Settings, folders: Folders, names: Sequence[str], sources: Sequence[str]) -> Compared:
    """Raises the errors in `run_sources.PROBLEMS`."""
    found: Compared = {name: [] for name in names}
    async with live_for(settings, settings.inference.engine) as live:
        assert live.inference is not None
        engine = live.inference.routes.own
        own = [dataclasses.replace(live, inference=Inference(engine, settings.inference)) for _ in folders]
        for n, source in enumerate(sources):
            trace = await trace_of(source, settings)
            for name in names:
                # By turns, so that neither side always finds what the other left in the server's cache.
                stories = {at: await under(folders[at], trace, name, own[at]) for at in ((0, 1), (1, 0))[n % 2]}
                if (a := stories[0]) is not None and (b := stories[1]) is not None:
                    found[name].append(await _pair(trace, name, a, b))
    return found


async def _pair(trace: Trace, name: str, a: RunStory, b: RunStory) -> Pair:
    prompts = [await prompts_asked(trace, step) for step in steps_of(trace, pipeline()).taken]
    asked = "\n\n".join(dict.fromkeys(p.user for of in prompts for (prompt, _), p in of.items() if prompt == name))
    hide = mask if any(question.masked for question in a.questions) else str
    return Pair(
        id=f"{name}.{trace.run_id}",
        question=hide(a.question.question),
        input=hide(asked),
        a=side_of(a, name),
        b=side_of(b, name),
    )


async def _over_questions(
    settings: Settings, folders: Folders, asked: Sequence[GoldQuestion], profile: str
) -> list[Pair]:
    """Raises Unavailable, NoServer."""
    sides: list[dict[str, Side]] = []
    for folder in folders:
        PROFILES.use(str(folder))
        requests = {each.id: request(each, profile, None) for each in asked}
        under_version = msgspec.structs.replace(settings, profiles=str(folder))
        with own_stack(under_version, Path(settings.index.dir)) as own, bars() as tell:
            async with stack_for(own, say=lambda line: None) as runs:
                items = await ask_all(runs, asked, requests, AT_ONCE, lambda done: tell("asked", done, len(asked)))
                ids = {item.asked.id: item.seen.run_id for item in items if item.seen.run_id}
                sides.append({name: side_of(story_of(await runs.journal.run(ids[name]))) for name in ids})
    a, b = sides
    if lost := [each.id for each in asked if each.id not in a or each.id not in b]:
        say(f"left out, since they did not end: {', '.join(lost)}", err=True)
    return [Pair(id=q.id, question=q.question, a=a[q.id], b=b[q.id]) for q in asked if q.id in a and q.id in b]


def _show(found: Compared, *, as_json: bool) -> None:
    if as_json:
        say_json(
            {n: {"differences": differences(p), "fields": fields_differing(p), "pairs": p} for n, p in found.items()}
        )
        return
    console = plain_console()
    for name, pairs in found.items():
        table = Table(title=f"{name}: {len(pairs)} runs", title_justify="left")
        for heading in ("", f"A {pairs[0].a.version}", f"B {pairs[0].b.version}", "B - A", "95 %"):
            table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
        for count, row in differences(pairs).items():
            by = row.difference
            known = f"{by.low:+.3f} to {by.high:+.3f}" if len(pairs) >= FEWEST else f"from {FEWEST} runs on"
            table.add_row(count, f"{row.a:.3f}", f"{row.b:.3f}", f"{by.mean:+.3f}", known)
        console.print(table)
        for field, (differing, of) in fields_differing(pairs).items():
            console.print(f"{field}: differs in {differing} of {of} runs")


def _choose(path: Path, *, page: bool) -> None:
    """Serve the page if wanted, and print what was chosen. Raises click.ClickException."""
    with one_line_errors():
        if page:
            asyncio.run(serve(path, lines_of(path), lambda at: say(f"choose at {at}; Ctrl-C stops it", err=True)))
        counts = chosen_in(lines_of(path))
    a, b = counts["a"], counts["b"]
    rest = f"{counts['equal']} equal, {counts['both bad']} both bad"
    say(f"A better {a} times, B {b} times, {rest}; sign test p = {sign_test(a, b):.3f}")
