"""`groundwire suite`: keep recorded runs with what is expected of them, and check them again."""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from actors.pipeline import pipeline
from bus.journal.verdicts import JUDGEMENTS, verdict_in
from bus.runs.run_record import RunRecord, record_of
from bus.runs.story import story_of
from index.plugins import installed
from runtime.commands.options import ASKED_OVER, CONFIG
from runtime.commands.run_sources import journal_of, refuse, run, settings_for, trace_of
from runtime.commands.trace_many import ALL
from runtime.forking.live_powers import RECORDED, Live
from runtime.forking.powers import live_for
from runtime.replay.journal_traces import latest_runs
from runtime.replay.run_rows import Wanted
from runtime.replay.sharing import shared
from runtime.replay.trace import Trace, write
from runtime.settings import Settings
from runtime.suite.cases import BrokenSuite, Case, Suite, expected_of, read_suite, refuted_of, traces_of, write_suite
from runtime.suite.checking import misses
from runtime.suite.junit import write_junit
from runtime.suite.langfuse import cases_in, dumped, items_of
from runtime.suite.running import Checked, check
from runtime.terminal import one_line, say, say_json


@click.group("suite")
def suite_group() -> None:
    """Check recorded runs again: what they answered, what they cited, and what the gate caught."""


@suite_group.command("add")
@click.argument("runs", metavar="[RUN]…", nargs=-1)
@click.option(
    "--marked", type=click.Choice([*JUDGEMENTS, "any"]), help="Add every run with this verdict of `trace mark`."
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Suite to add to, or to make."
)
@click.option("--name", help="Name of the case, where it is one.  [default: from the question]")
@click.option("--note", default="", help="Why the case is kept.")
@click.option("--outcome", help="The outcome that is right, where the run's is not.")
@click.option(
    "--says", multiple=True, metavar="TEXT", help="Text that the answer must have, in place of the run's own."
)
@click.option("--never-says", multiple=True, metavar="TEXT", help="Text that the answer must not have.")
@click.option("--cites", multiple=True, metavar="SOURCE", help="Source that must be cited, in place of the run's own.")
@click.option("--never-cites", multiple=True, metavar="SOURCE", help="Source that must not be cited.")
@click.option("--share", is_flag=True, help="Mask personal data, secrets and addresses in the kept traces.")
@ASKED_OVER
@CONFIG
def add_command(
    runs: tuple[str, ...],
    marked: str | None,
    out: Path,
    name: str | None,
    note: str,
    outcome: str | None,
    says: tuple[str, ...],
    never_says: tuple[str, ...],
    cites: tuple[str, ...],
    never_cites: tuple[str, ...],
    share: bool,
    index: Path | None,
    config: Path | None,
) -> None:
    """Add RUN… to a suite, run ids or trace files. What a run did is what is expected, unless an option says otherwise.

    Of a run that was marked wrong or harmful, the opposite: its case fails until that is mended.
    """
    settings = settings_for(index, config)
    if marked is not None:
        runs = (*runs, *run(lambda: _marked(settings, marked)))
    if not runs:
        refuse("there is no run to add; name one, or mark some with `groundwire trace mark`")
    own = {"outcome": outcome, "says": says, "cites": cites, "never_cites": never_cites, "note": note}
    suite = _read(out) if out.exists() else Suite()
    if name is not None and len(runs) > 1:
        refuse("--name is for one run; leave it out")
    traces_of(out).mkdir(exist_ok=True, parents=True)
    for source in runs:
        trace = run(lambda source=source: _kept(source, settings, share))  # type: ignore[misc]
        record = _record(trace)
        verdict = verdict_in(trace.records)
        expected = expected_of if verdict is None or verdict.verdict == "right" else refuted_of
        case = expected(record, name or _name(record, suite), f"{trace.run_id}.jsonl")
        if verdict is not None and verdict.note:
            case = msgspec.structs.replace(case, note=verdict.note)
        changed: dict[str, object] = {key: value for key, value in own.items() if value}
        if outcome is not None:
            changed["reason"] = None
        if outcome is not None and not says:
            changed["says"] = ()
        changed["never_says"] = (*case.never_says, *never_says)
        try:
            case = msgspec.convert(msgspec.to_builtins(msgspec.structs.replace(case, **changed)), Case)
        except msgspec.ValidationError as error:
            refuse(f"{case.name}: {error}")
        write(traces_of(out) / case.run, trace)
        others = tuple(each for each in suite.case if each.name != case.name)
        suite = msgspec.structs.replace(suite, case=(*others, case))
        say(f"{out}: {case.name}")
    _write(out, suite)


async def _marked(settings: Settings, verdict: str) -> list[str]:
    """The ids of the runs with this verdict."""
    async with journal_of(settings) as journal:
        return [row.run_id for row in await latest_runs(journal, ALL, Wanted(verdict=verdict))]


async def _kept(source: str, settings: Settings, share: bool) -> Trace:
    trace = await trace_of(source, settings)
    return (await shared(trace, pipeline())).trace if share else trace


def _record(trace: Trace) -> RunRecord:
    record = record_of(story_of(trace.records))
    if record is None or record.outcome is None:
        refuse(f"run {trace.run_id} has not ended, so nothing can be expected of it")
    return record


def _name(record: RunRecord, suite: Suite) -> str:
    """The first words of the question; with a number where another case has them."""
    words = "-".join(re.findall(r"\w+", record.question.casefold())[:8])[:60] or record.run_id
    taken = {case.name for case in suite.case}
    return next(name for n in range(1, len(taken) + 2) if (name := words if n == 1 else f"{words}-{n}") not in taken)


@suite_group.command("run")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--index", type=click.Path(path_type=Path), help="Search this index, in place of the recorded evidence.")
@click.option(
    "--engine", type=click.Choice(installed("engines")), help="Let this engine answer what the record has no reply to."
)
@click.option(
    "--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write the results to this file as JUnit."
)
@click.option("--accept", is_flag=True, help="Rewrite the expectations that do not hold to what came.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per case.")
@CONFIG
@click.pass_context
def run_command(
    ctx: click.Context,
    files: tuple[Path, ...],
    index: Path | None,
    engine: str | None,
    junit: Path | None,
    accept: bool,
    as_json: bool,
    config: Path | None,
) -> None:
    """Run the cases of FILE… again with today's code, prompts and profiles, and check them.

    Exit codes: 0 all hold; 1 one does not, or cannot be checked; 2 usage error.
    """
    settings = settings_for(index, config)
    suites = {path: _read(path) for path in files}
    results = run(lambda: checked(suites, settings, engine or "", search=index is not None))
    for path, result in results:
        if as_json:
            say_json(_as_json(path, result))
        else:
            _show(path, result, accept)
    if junit is not None:
        try:
            write_junit(junit, [(path.name, result) for path, result in results])
        except OSError as error:
            refuse(f"{junit}: cannot be written ({error.strerror})")
    accepted = _accept(suites, results) if accept else 0
    failed = sum(not result.holds for _, result in results) - accepted
    if not as_json:
        changed = f", {accepted} rewritten" if accepted else ""
        say(f"{len(results)} cases: {len(results) - failed - accepted} hold, {failed} do not{changed}")
    ctx.exit(1 if failed else 0)


@suite_group.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File of JSON Lines to write."
)
def export_command(file: Path, out: Path) -> None:
    """Write the cases of FILE as items of a Langfuse dataset, which has the suite's name."""
    items = list(items_of(_read(file), file.stem))
    try:
        out.write_bytes(dumped(items))
    except OSError as error:
        refuse(f"{out}: cannot be written ({error.strerror})")
    say(f"{out}: {len(items)} items")


@suite_group.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Suite to add to, or to make."
)
def import_command(file: Path, out: Path) -> None:
    """Add the items of a Langfuse dataset in FILE, JSON Lines, to a suite.

    An item with the name of a case changes that case. A new one has no recorded evidence: check it with `suite run --index`.
    """
    before = _read(out) if out.exists() else Suite()
    try:
        suite, traces = cases_in(file, before)
    except BrokenSuite as broken:
        refuse(str(broken))
    traces_of(out).mkdir(exist_ok=True, parents=True)
    for trace in traces:
        write(traces_of(out) / f"{trace.run_id}.jsonl", trace)
    _write(out, suite)
    say(f"{out}: {len(traces)} cases added, {len(suite.case)} in all")


async def checked(
    suites: dict[Path, Suite], settings: Settings, engine: str = "", *, search: bool = False
) -> list[tuple[Path, Checked]]:
    """Every case of the suites, checked. `engine`: what answers where the record has no reply; empty for nothing."""
    async with contextlib.AsyncExitStack() as stack:
        rules = await stack.enter_async_context(live_for(settings, RECORDED, "extractive"))
        model = (
            await stack.enter_async_context(live_for(settings, RECORDED, engine)) if engine else Live(find=rules.find)
        )
        graph = pipeline()
        return [
            (path, result)
            for path, suite in suites.items()
            async for result in check(path, suite, graph, lambda by_rules: rules if by_rules else model, search=search)
        ]


def _show(path: Path, result: Checked, accept: bool) -> None:
    if result.holds:
        for line in result.elsewhere:
            say(f"  {result.case.name}: not from the record: {one_line(line)}")
        return
    say(f"{'rewritten' if accept and result.missed else 'FAILED'}  {path.name}: {result.case.name}")
    for line in lines_of(result):
        say(f"  {line}")


def lines_of(result: Checked) -> list[str]:
    """What does not hold of a case, a line each, with what did not come from the record, and the answer."""
    lines = [one_line(result.problem)] if result.problem else []
    lines += [f"{miss.what:<12} {one_line(miss.expected)}: {one_line(miss.found)}" for miss in result.missed]
    lines += [f"not from the record: {one_line(line)}" for line in result.elsewhere]
    if result.record is not None and result.record.answer:
        lines.append(f"answer       {one_line(result.record.answer)[:200]}")
    return lines


def _as_json(path: Path, result: Checked) -> dict[str, object]:
    return {
        "suite": str(path),
        "case": result.case.name,
        "holds": result.holds,
        "problem": result.problem,
        "missed": [msgspec.to_builtins(miss) for miss in result.missed],
        "not_recorded": result.elsewhere,
        "lines": lines_of(result),
        "outcome": result.record.outcome if result.record else None,
        "answer": result.record.answer if result.record else "",
    }


def _accept(suites: dict[Path, Suite], results: Sequence[tuple[Path, Checked]]) -> int:
    """Write what came of the cases that do not hold. Returns how many."""
    accepted = 0
    for path, suite in suites.items():
        new = {}
        for place, result in results:
            if place == path and result.missed and result.record is not None and result.trace is not None:
                new[result.case.name] = _accepted(result.case, result.record)
                if result.elsewhere:
                    write(traces_of(path) / result.case.run, result.trace)
        if new:
            _write(path, msgspec.structs.replace(suite, case=tuple(new.get(case.name, case) for case in suite.case)))
        accepted += len(new)
    return accepted


def _accepted(case: Case, record: RunRecord) -> Case:
    """The case with what came; what it forbids stays where it is still kept."""
    came = expected_of(record, case.name, case.run)
    missed = {(miss.what, miss.expected) for miss in misses(case, record)}
    forbidden = {
        key: tuple(word for word in getattr(case, key) if (key, word) not in missed)
        for key in ("never_says", "never_cites")
    }
    return msgspec.structs.replace(came, note=case.note, **forbidden)


def _read(path: Path) -> Suite:
    try:
        return read_suite(path)
    except BrokenSuite as broken:
        refuse(str(broken))


def _write(path: Path, suite: Suite) -> None:
    try:
        write_suite(path, suite)
    except BrokenSuite as broken:
        refuse(str(broken))
