"""What would have become of runs: `groundwire replay RUN…` from a stage, or with something changed from the question on."""

import asyncio
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
from prompts.contracts import PROMPTS
from prompts.library import PARTIALS
from runtime.commands.consoles import plain_console
from runtime.commands.diff import show
from runtime.commands.run_sources import is_file, journal_of, refuse, trace_of, writing
from runtime.commands.run_text import put
from runtime.forking.fork import keep
from runtime.forking.live_powers import RECORDED, Given, Live, forget_prompts, hits_of
from runtime.forking.powers import live_for_runs
from runtime.forking.rerun import Changes, by_rules, elsewhere, rerun
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

    @property
    def any(self) -> bool:
        return any(self)


class Outcome(NamedTuple):
    """A run and what would have become of it. `problem`: what it lacks, where it cannot be told. `place`: the new trace file."""

    before: Trace
    after: Trace | None
    given: tuple[Given, ...] = ()
    problem: str = ""
    place: Path | None = None


def what_if(sources: tuple[str, ...], options: WhatIf, settings: Settings, out: Path | None, *, as_json: bool) -> int:
    """Run them and print what changes. Returns the exit code: 0, or 1 where a run lacks a reply or hits."""
    if out is not None and len(sources) > 1:
        refuse("--out is for one run; leave it out")
    if options.search and not settings.index.place:
        refuse("--search needs the index to search; add --index DIR")
    with _own_prompts(options.prompts, settings):
        found = asyncio.run(_all(sources, options, settings, out))
    for lost in options.without:
        if not any(source.endswith(lost) for each in found for source in _sources(each.before)):
            refuse(f"--without {lost}: the search of no run found that source; `groundwire trace show RUN` names them")
    for outcome in found:
        if as_json:
            say_json(_as_json(outcome))
        else:
            _print(outcome, options, whole=len(found) == 1)
    if not as_json and len(found) > 1:
        counts = Counter(_kind(outcome) for outcome in found)
        say(f"{len(found)} runs: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return int(any(outcome.problem for outcome in found))


async def _all(sources: tuple[str, ...], options: WhatIf, settings: Settings, out: Path | None) -> list[Outcome]:
    async with live_for_runs(settings, options.engine or RECORDED, options.fill) as powers:
        return [await _one(source, options, settings, powers, out) for source in sources]


async def _one(
    source: str, options: WhatIf, settings: Settings, powers: Callable[[bool], Live], out: Path | None
) -> Outcome:
    """The new run, written to `out`; a fork also to its own file without that, and to its parent's journal."""
    trace = await trace_of(source, settings)
    live = powers(by_rules(trace) and not options.engine and not options.stage)
    fields = _set(options.keys, options.profile or trace.story.question.profile)
    changes = Changes(options.without, fields, options.profile)
    run_id = secrets.token_hex(12)
    again = await rerun(
        trace, pipeline(), live, stage=options.stage, run_id=run_id, changes=changes, search=options.search
    )
    if again.after is None:
        return Outcome(trace, *again)
    place = out or (Path(f"{run_id}.jsonl") if options.stage else None)
    if place is not None:
        with writing(place):
            write(place, again.after)
    if options.stage and not is_file(source):
        async with journal_of(settings) as journal:
            await keep(journal, again.after)
    return Outcome(trace, *again, place=place)


def _sources(trace: Trace) -> set[str]:
    """Those that the run searched for and found, or was given."""
    contexts = trace.story.question.contexts or ()
    found = {passage.source_id for search in hits_of(trace) for passage in found_in(search)[1]}
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
    known = {prompt.name for prompt in PROMPTS} | {f"_{name}" for name in PARTIALS}
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            if file.stem not in known:
                refuse(f"{file}: there is no prompt {file.stem!r}; `groundwire prompts list` names them")
            try:
                shutil.copy(file, Path(folder) / f"{file.stem}.prompt")
            except OSError as error:
                refuse(f"{file}: cannot be read ({error.strerror})")
        PROFILES.prompts = (Path(folder),) if files else ()
        forget_prompts()
        try:
            yield
        finally:
            PROFILES.prompts = ()
            PROFILES.use(settings.profiles)
            forget_prompts()


def _kind(outcome: Outcome) -> str:
    if outcome.after is None:
        return "not told"
    before, after = outcome.before.record, outcome.after.record
    if (before.outcome, before.reason) != (after.outcome, after.reason):
        return "with another outcome"
    return "the same" if before.answer == after.answer else "with another answer"


def _print(outcome: Outcome, options: WhatIf, *, whole: bool) -> None:
    before, console = outcome.before.record, plain_console()
    if outcome.after is None:
        put(console, 0, f"{before.run_id}  not told: {one_line(outcome.problem)}")
        return
    after = outcome.after.record
    ends = [ending(each.outcome, each.reason) for each in (before, after)]
    put(console, 0, f"{before.run_id}  {' -> '.join(dict.fromkeys(ends))}, {_kind(outcome)}")
    every = Counter(outcome.given if options.stage else _elsewhere(outcome))
    for each, count in every.items():
        put(console, 2, f"{one_line(str(each))}{f' ({count} times)' if count > 1 else ''}")
    if outcome.place is not None:
        put(console, 0, f"run {after.run_id} is in {outcome.place}")
    if whole and _kind(outcome) != "the same":
        show(outcome.before, outcome.after, console)
    elif options.stage:
        first = _parts_at(outcome)
        put(
            console, 0, f"it first differs from its parent at {first}" if first else "it has the messages of its parent"
        )


def _parts_at(outcome: Outcome) -> str:
    """The stage and lane where the new run first differs; empty where every message is the same."""
    at = parting(outcome.before, outcome.after, pipeline()) if outcome.after else None
    return "" if at is None else f"{at.stage or 'the question'}, lane {at.lane}"


def _elsewhere(outcome: Outcome) -> list[Given]:
    return elsewhere(outcome.given, rules=by_rules(outcome.before))


def _as_json(outcome: Outcome) -> dict[str, object]:
    before, after = outcome.before.record, outcome.after.record if outcome.after else None
    return {
        "run_id": before.run_id,
        "problem": outcome.problem,
        "outcome": [before.outcome, after.outcome if after else None],
        "reason": [before.reason, after.reason if after else None],
        "answer": [before.answer, after.answer if after else None],
        "change": _kind(outcome),
        "parts_at": _parts_at(outcome),
        "given": outcome.given,
        "new_run_id": after.run_id if after else None,
        "trace": str(outcome.place) if outcome.place else None,
    }
