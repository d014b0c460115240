"""What would have become of runs: `groundwire replay RUN…` from a stage, or with something changed from the question on."""

import contextlib
import secrets
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from actors.pipeline import pipeline
from actors.question.profile import PROFILES
from bus.powers.searching import found_in
from bus.runs.run_record import ending
from bus.wire.messages import QuestionAsked
from prompts.library import problems_in
from runtime.commands.consoles import plain_console
from runtime.commands.diff import show
from runtime.commands.run_sources import is_file, journal_of, refuse, trace_of, writing
from runtime.commands.run_text import put
from runtime.forking.fork import keep
from runtime.forking.live_powers import RECORDED, Live, forget_prompts, live_for_runs
from runtime.forking.rerun import Again, by_rules, rerun
from runtime.replay.difference import parting
from runtime.replay.trace import Trace, write
from runtime.settings import Settings
from runtime.terminal import one_line, say, say_json

#: Fields of the question that --set changes; any other key is one of the profile.
_FIELDS = ("voice", "style", "release", "language")


class WhatIf(NamedTuple):
    """The options. `stage`: the first that runs again. `search`: today's index, in place of the recorded hits."""

    stage: str = ""
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    prompts: tuple[Path, ...] = ()
    profile: str = ""
    engine: str = ""
    fill: str = ""
    search: bool = False


#: A run and what would have become of it, and the new trace file, if there is one.
type Outcome = tuple[Again, Path | None]


async def what_if(
    sources: tuple[str, ...], options: WhatIf, settings: Settings, out: Path | None, *, as_json: bool
) -> int:
    """Run them and print what changes. Returns the exit code: 0, or 1 where a run lacks a reply or hits."""
    if out is not None and len(sources) > 1:
        refuse("--out is for one run; leave it out")
    if options.search and not settings.index.place:
        refuse("--search needs the index to search; add --index DIR")
    with _own_prompts(options.prompts, settings):
        async with live_for_runs(settings, options.engine or RECORDED, options.fill) as powers:
            found = [await _one(source, options, settings, powers, out) for source in sources]
    for lost in options.without:
        if not any(source.endswith(lost) for again, _ in found for source in _sources(again.before)):
            refuse(f"--without {lost}: the search of no run found that source; `groundwire trace show RUN` names them")
    for again, place in found:
        if as_json:
            say_json(_as_json(again, place))
        else:
            _print(again, place, forked=bool(options.stage), whole=len(found) == 1)
    if not as_json and len(found) > 1:
        counts = Counter(again.kind for again, _ in found)
        say(f"{len(found)} runs: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return int(any(again.problem for again, _ in found))


async def _one(
    source: str, options: WhatIf, settings: Settings, powers: Callable[[bool], Live], out: Path | None
) -> Outcome:
    """The new run, written to `out`; a fork also to its own file without that, and to its parent's journal."""
    trace = await trace_of(source, settings)
    run_id = secrets.token_hex(12)
    again = await rerun(
        trace,
        pipeline(),
        powers(by_rules(trace) and not options.engine and not options.stage),
        stage=options.stage,
        run_id=run_id,
        without=options.without,
        fields=_set(options.keys, options.profile or trace.story.question.profile),
        profile=options.profile,
        search=options.search,
    )
    place = out or (Path(f"{run_id}.jsonl") if options.stage else None)
    if again.after is None or place is None:
        return again, None
    with writing(place):
        write(place, again.after)
    if options.stage and not is_file(source):
        async with journal_of(settings) as journal:
            await keep(journal, again.after)
    return again, place


def _sources(trace: Trace) -> set[str]:
    """Those that the run searched for and found, or was given."""
    contexts = trace.story.question.contexts or ()
    found = {passage.source_id for search in trace.story.searches for passage in found_in(search)[1]}
    return found | {context.metadata.source_id for context in contexts}


def _set(keys: tuple[str, ...], profile: str) -> dict[str, object]:
    """The fields of the question that are set; keys of the profile are set in it."""
    fields: dict[str, object] = {}
    values: dict[str, object] = {}
    for each in keys:
        key, sign, text = each.partition("=")
        if not sign:
            refuse(f"--set {each!r} is no KEY=VALUE; write it as voice=helpful or retrieval.k=5")
        try:
            value = tomllib.loads(f"v = {text}")["v"]
        except tomllib.TOMLDecodeError:
            value = text
        (fields if key in _FIELDS else values)[key] = value
    try:
        msgspec.convert({"type": "question_asked", "question": "?", **fields}, QuestionAsked)
        if values:
            PROFILES.change(profile, values)
    except msgspec.ValidationError as error:
        refuse(f"--set {' '.join(keys)}: {error}; `groundwire profiles show {profile}` lists the keys")
    return fields


@contextlib.contextmanager
def _own_prompts(files: tuple[Path, ...], settings: Settings) -> Iterator[None]:
    """These files in place of the prompts of their names; at the end, prompts and profiles are as the settings have them."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            shutil.copy(file, Path(folder) / f"{file.stem}.prompt")
        if files and (problem := next(problems_in((Path(folder),)), "")):
            refuse(problem.removeprefix(f"{folder}/"))
        PROFILES.prompts = (Path(folder),) if files else ()
        forget_prompts()
        try:
            yield
        finally:
            PROFILES.prompts = ()
            PROFILES.use(settings.profiles)
            forget_prompts()


def _print(again: Again, place: Path | None, *, forked: bool, whole: bool) -> None:
    before, console = again.before.record, plain_console()
    if again.after is None:
        put(console, 0, f"{before.run_id}  not told: {one_line(again.problem)}")
        return
    after = again.after.record
    ends = dict.fromkeys(ending(each.outcome, each.reason) for each in (before, after))
    put(console, 0, f"{before.run_id}  {' -> '.join(ends)}, {again.kind}")
    for each, count in Counter(again.given if forked else again.elsewhere).items():
        put(console, 2, f"{one_line(str(each))}{f' ({count} times)' if count > 1 else ''}")
    if place is not None:
        put(console, 0, f"run {after.run_id} is in {place}")
    if whole and again.kind != "the same":
        show(again.before, again.after, console)
    elif forked:
        first = _parts_at(again)
        same = "it has the messages of its parent"
        put(console, 0, f"it first differs from its parent at {first}" if first else same)


def _parts_at(again: Again) -> str:
    """The stage and lane where the new run first differs; empty where every message is the same."""
    at = parting(again.before, again.after, pipeline()) if again.after else None
    return "" if at is None else f"{at.stage or 'the question'}, lane {at.lane}"


def _as_json(again: Again, place: Path | None) -> dict[str, object]:
    before, after = again.before.record, again.after.record if again.after else None
    both = {name: [getattr(before, name), getattr(after, name, None)] for name in ("outcome", "reason", "answer")}
    return {
        "run_id": before.run_id,
        "problem": again.problem,
        **both,
        "change": again.kind,
        "parts_at": _parts_at(again),
        "given": again.given,
        "new_run_id": after.run_id if after else None,
        "trace": str(place) if place else None,
    }
