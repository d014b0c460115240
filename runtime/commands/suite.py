"""`groundwire suite`: keep recorded runs with what is expected of them, and check them again."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from actors.pipeline import pipeline
from bus.journal.verdicts import JUDGEMENTS, verdict_in
from bus.runs.run_record import RunRecord
from runtime.commands.options import ASKED_OVER, NEW_FILE, PATH
from runtime.commands.run_sources import FILL, journal_of, refuse, refusing, trace_of, with_settings, writing
from runtime.commands.trace_many import ALL
from runtime.forking.live_powers import RECORDED, live_for_runs
from runtime.replay.journal_traces import latest_runs
from runtime.replay.run_rows import Wanted
from runtime.replay.sharing import shared
from runtime.replay.trace import Trace, read
from runtime.settings import Settings
from runtime.suite.cases import (
    Case,
    Checked,
    Suite,
    check,
    expected_of,
    name_for,
    read_suite,
    refuted_of,
    traces_of,
    write_junit,
    write_suite,
)
from runtime.suite.foreign import cases_in, items_of, spans_of_case
from runtime.terminal import one_line, say, say_json

FORMATS = ("langfuse", "openinference")
_OUT = click.option("--out", type=NEW_FILE, required=True, help="Suite to add to, or to make.")


@click.group("suite")
def suite_group() -> None:
    """Check recorded runs again: what they answered, what they cited, and what the gate caught."""


@suite_group.command("add")
@click.argument("runs", metavar="[RUN]…", nargs=-1)
@click.option(
    "--marked", type=click.Choice([*JUDGEMENTS, "any"]), help="Add every run with this verdict of `trace mark`."
)
@_OUT
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
@with_settings
async def add_command(
    runs: tuple[str, ...],
    marked: str | None,
    out: Path,
    name: str | None,
    share: bool,
    settings: Settings,
    **expected: Any,
) -> None:
    """Add RUN… to a suite, run ids or trace files. What a run did is what is expected, unless an option says otherwise.

    Of a run that was marked wrong or harmful, the opposite: its case fails until that is mended.
    """
    if marked is not None:
        async with journal_of(settings) as journal:
            runs = (*runs, *(row.run_id for row in await latest_runs(journal, ALL, Wanted(verdict=marked))))
    if not runs:
        refuse("there is no run to add; name one, or mark some with `groundwire trace mark`")
    if name is not None and len(runs) > 1:
        refuse("--name is for one run; leave it out")
    cases = {case.name: case for case in _suite_in(out).case}
    traces = {}
    added = []
    for source in runs:
        trace = await trace_of(source, settings)
        trace = (await shared(trace, pipeline())).trace if share else trace
        case = _case(trace, name or name_for(trace.record.question, cases), expected)
        cases = {key: each for key, each in cases.items() if key != case.name} | {case.name: case}
        traces[case.run] = trace
        added.append(case.name)
    with writing(out):
        write_suite(out, Suite(case=tuple(cases.values())), traces)
    for each in added:
        say(f"{out}: {each}")


def _suite_in(path: Path) -> Suite:
    """The suite of a file, an empty one if there is no such file. Raises BrokenSuite."""
    return read_suite(path) if path.exists() else Suite()


def _case(trace: Trace, name: str, given: Mapping[str, Any]) -> Case:
    """What is expected of the run, with the keys that are given in place of its own."""
    record, verdict = trace.record, verdict_in(trace.records)
    if record.outcome is None:
        refuse(f"run {trace.run_id} has not ended, so nothing can be expected of it")
    wrong = verdict is not None and verdict.verdict != "right"
    case = (refuted_of if wrong else expected_of)(record, name, f"{trace.run_id}.jsonl")
    # Where an option says what the right answer has, the words of the wrong one are not forbidden as well.
    own = () if wrong and (given["says"] or given["never_says"]) else case.never_says
    keys = {"note": verdict.note if verdict else ""} | {key: value for key, value in given.items() if value}
    keys = {"reason": None, "says": ()} | keys if "outcome" in keys else keys
    keys["never_says"] = (*own, *given["never_says"])
    try:
        return msgspec.convert(msgspec.to_builtins(msgspec.structs.replace(case, **keys)), Case)
    except msgspec.ValidationError as error:
        refuse(f"{name}: {error}")


@suite_group.command("run")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=PATH)
@click.option("--index", type=PATH, help="Search this index, in place of the recorded evidence.")
@FILL
@click.option("--junit", type=NEW_FILE, help="Write the results to this file as JUnit.")
@click.option("--accept", is_flag=True, help="Rewrite the expectations that do not hold to what came.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per case.")
@with_settings
@click.pass_context
async def run_command(
    ctx: click.Context,
    files: tuple[Path, ...],
    fill: str | None,
    junit: Path | None,
    accept: bool,
    as_json: bool,
    settings: Settings,
) -> None:
    """Run the cases of FILE… again with today's code, prompts and profiles, and check them.

    Exit codes: 0 all hold; 1 one does not, or cannot be checked; 2 usage error.
    """
    suites = {path: read_suite(path) for path in files}
    search = ctx.params["index"] is not None
    async with live_for_runs(settings, RECORDED, fill or "") as powers:
        found = {
            path: [result async for result in check(path, suite, pipeline(), powers, search=search)]
            for path, suite in suites.items()
        }
    every = [(path, result) for path, results in found.items() for result in results]
    for path, result in every:
        if as_json:
            say_json(_as_json(path, result))
        else:
            _show(path, result, accept)
    if junit is not None:
        with writing(junit):
            write_junit(junit, found)
    for path, results in found.items() if accept else ():
        _accept(path, suites[path], results)
    holding = sum(result.holds for _, result in every)
    accepted = sum(bool(result.missed) for _, result in every) if accept else 0
    if not as_json:
        say(f"cases that hold: {holding} of {len(every)}" + (f", rewritten: {accepted}" if accepted else ""))
    ctx.exit(0 if holding + accepted == len(every) else 1)


@suite_group.command("export")
@click.argument("file", type=PATH)
@click.option("--out", type=NEW_FILE, required=True, help="File of JSON Lines to write.")
@click.option("--format", "form", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True)
@refusing()
def export_command(file: Path, out: Path, form: str) -> None:
    """Write the cases of FILE as items of a Langfuse dataset of the suite's name, or their runs as spans of OpenInference."""
    suite = read_suite(file)
    made = items_of(suite, file.stem) if form == "langfuse" else asyncio.run(_as_spans(file, suite))
    with writing(out):
        out.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in made))
    say(f"{out}: cases written: {len(made)} of {len(suite.case)}")


async def _as_spans(path: Path, suite: Suite) -> list[dict[str, Any]]:
    """The runs of the cases; one without a run, as it was imported, has no spans."""
    made = [await spans_of_case(case, read(traces_of(path) / case.run), pipeline()) for case in suite.case]
    return [spans for spans in made if spans is not None]


@suite_group.command("import")
@click.argument("file", type=PATH)
@_OUT
@refusing()
def import_command(file: Path, out: Path) -> None:
    """Add the items of a Langfuse dataset, or the traces of OpenInference, in FILE to a suite.

    FILE has JSON, or a line of JSON each. An item or trace with the name of a case changes that case. A new item has no recorded
    evidence: check it with `suite run --index`. A new trace has the documents that its retrievers found.
    """
    suite, traces = cases_in(file, _suite_in(out))
    with writing(out):
        write_suite(out, suite, traces)
    say(f"{out}: new cases: {len(traces)} of {len(suite.case)}")


def _show(path: Path, result: Checked, accept: bool) -> None:
    if result.holds:
        for line in result.elsewhere:
            say(f"  {result.case.name}: not from the record: {one_line(line)}")
        return
    say(f"{'rewritten' if accept and result.missed else 'FAILED'}  {path.name}: {result.case.name}")
    for line in _lines(result):
        say(f"  {line}")


def _lines(result: Checked) -> list[str]:
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
        "missed": result.missed,
        "not_recorded": result.elsewhere,
        "lines": _lines(result),
        "outcome": result.record.outcome if result.record else None,
        "answer": result.record.answer if result.record else "",
    }


def _accept(path: Path, suite: Suite, results: Sequence[Checked]) -> None:
    """Expect what came of the cases that do not hold, and keep the new run where not all of it is the recorded one."""
    new = {r.case.name: _accepted(r, r.record) for r in results if r.missed and r.record is not None}
    traces = {r.case.run: r.trace for r in results if r.missed and r.elsewhere and r.trace is not None}
    if new:
        with writing(path):
            write_suite(path, Suite(case=tuple(new.get(case.name, case) for case in suite.case)), traces)


def _accepted(result: Checked, record: RunRecord) -> Case:
    """The case with what came; what it forbids stays where it is still kept."""
    case = result.case
    missed = {(miss.what, miss.expected) for miss in result.missed}
    says, cites = (
        tuple(word for word in getattr(case, key) if (key, word) not in missed) for key in ("never_says", "never_cites")
    )
    came = expected_of(record, case.name, case.run)
    return msgspec.structs.replace(came, note=case.note, never_says=says, never_cites=cites)
