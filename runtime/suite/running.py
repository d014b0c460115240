"""Run the cases of a suite again, one after the other in one process; its results as JUnit's XML for continuous integration."""

import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bus.delivery.graph import Graph
from bus.runs.run_record import RunRecord
from bus.wire.errors import Poison
from runtime.forking.live_powers import Live
from runtime.forking.rerun import by_rules, rerun
from runtime.replay.trace import BrokenTrace, Trace, read
from runtime.suite.cases import Case, Miss, Suite, misses, traces_of
from runtime.terminal import one_line

#: Gives the powers for a run: by rules alone (True), or for what the record of a model's run lacks.
type Engines = Callable[[bool], Live]


@dataclass(frozen=True, slots=True)
class Checked:
    """A case and what became of it. `problem`: it could not be checked. `trace` and `record` are of the new run.

    `elsewhere`: replies and hits that are not the recorded ones, a line each.
    """

    case: Case
    missed: tuple[Miss, ...] = ()
    problem: str = ""
    elsewhere: tuple[str, ...] = ()
    trace: Trace | None = None
    record: RunRecord | None = None

    @property
    def holds(self) -> bool:
        return not self.missed and not self.problem


async def check(
    path: Path, suite: Suite, graph: Graph, engines: Engines, *, search: bool = False
) -> AsyncIterator[Checked]:
    """Each case, checked. `search`: over the index of `engines`, in place of the recorded evidence."""
    for case in suite.case:
        try:
            trace = read(traces_of(path) / case.run)
            yield await check_case(case, trace, graph, engines, search=search)
        except (BrokenTrace, Poison) as broken:
            yield Checked(case, problem=str(broken))


async def check_case(case: Case, trace: Trace, graph: Graph, engines: Engines, *, search: bool = False) -> Checked:
    """The case run again. Raises Poison."""
    rules = by_rules(trace)
    again = await rerun(trace, graph, engines(rules), search=search)
    if again.after is None:
        return Checked(case, problem=again.problem)
    if stale := next((each.what for each in again.given if each.prompt_changed), ""):
        problem = f"the prompt {stale} has changed, and the recorded reply answers the old one; --fill asks it again"
        return Checked(case, problem=problem)
    other = tuple(map(str, again.elsewhere))
    record = again.after.record
    return Checked(case, misses(case, record, same_replies=rules or not other), "", other, again.after, record)


def write_junit(path: Path, results: Mapping[Path, Sequence[Checked]]) -> None:
    """Write the results of each suite. Raises OSError."""
    root = ET.Element("testsuites")
    for file, own in results.items():
        name, failures = file.name, sum(bool(result.missed) for result in own)
        counts = {"tests": len(own), "failures": failures, "errors": sum(bool(result.problem) for result in own)}
        suite = ET.SubElement(root, "testsuite", {"name": name, **{key: str(count) for key, count in counts.items()}})
        for result in own:
            case = ET.SubElement(suite, "testcase", classname=name, name=result.case.name)
            if result.problem:
                ET.SubElement(case, "error", message=one_line(result.problem))
            elif result.missed:
                lines = [one_line(f"{miss.what} {miss.expected}: {miss.found}") for miss in result.missed]
                ET.SubElement(case, "failure", message=lines[0]).text = "\n".join(lines)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
