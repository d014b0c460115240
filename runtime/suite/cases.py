"""A suite: a TOML file with a table a case, beside a folder with the trace of each.

The file has what a person decides, so a review of it shows what is expected now; the traces are evidence that nobody edits. Each is
a file of its own, so a new case changes no other.

`misses` compares a finished run with its case: each expectation that does not hold, with what came instead. `check` runs the cases
again, one after the other in one process.
"""

import re
import tomllib
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
import tomli_w

from bus.delivery.graph import Graph
from bus.runs.run_record import RunRecord, ending
from bus.wire.errors import Poison
from index.languages.toml_check import problems
from index.languages.words import terms
from index.text.citations import strip_markers
from prompts.vocabulary import FlagKind, Outcome, Reason
from runtime.forking.live_powers import Live
from runtime.forking.rerun import by_rules, rerun
from runtime.replay.trace import BrokenTrace, Trace, read, write
from runtime.terminal import one_line

VERSION: Final = 1
#: How many words of an answer a new case requires besides its numbers.
_KEY_WORDS: Final = 2
NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")

type Words = tuple[str, ...]
Name = Annotated[str, msgspec.Meta(pattern=r"^[^\s/\\][^/\\\n]{0,99}\Z")]


class BrokenSuite(ValueError):
    """A suite that cannot be read; the message names the file, the key and the remedy."""


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is expected of one question. `run` names its trace. What is left out is not checked.

    `says` and `never_says`: words of the answer, in any case and by whole words. `cites` and `never_cites`: sources of the
    citations, or of the closest passages. `flags`: kinds of flags that the gate raises against the recorded replies.
    """

    name: Name
    run: Name
    question: str = ""  # for the reader: the trace has it
    note: str = ""
    outcome: Outcome | None = None
    reason: Reason | None = None
    says: Words = ()
    never_says: Words = ()
    cites: Words = ()
    never_cites: Words = ()
    flags: tuple[FlagKind, ...] = ()


class Suite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All cases of a file, in its order."""

    version: int = VERSION
    case: tuple[Case, ...] = ()


def traces_of(path: Path) -> Path:
    """The folder with the traces of a suite."""
    return path.with_suffix(".traces")


def read_suite(path: Path) -> Suite:
    """Raises BrokenSuite."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenSuite(f"{path}: cannot be read ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise BrokenSuite(f"{path}: is not TOML: {error}") from None
    if found := problems(raw, Suite):
        raise BrokenSuite(f"{path}: {found[0]}")
    suite = msgspec.convert(raw, Suite, strict=True)
    if suite.version != VERSION:
        raise BrokenSuite(f"{path}: a suite of version {suite.version}; this Groundwire reads version {VERSION}")
    names = [case.name for case in suite.case]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise BrokenSuite(f"{path}: two cases are called {twice!r}; rename one")
    return suite


def write_suite(path: Path, suite: Suite, traces: Mapping[str, Trace]) -> None:
    """Write the suite, and these traces, each under its name, beside those that are there. Raises OSError."""
    traces_of(path).mkdir(exist_ok=True, parents=True)
    for run, trace in traces.items():
        write(traces_of(path) / run, trace)
    path.write_text(tomli_w.dumps(msgspec.to_builtins(suite), multiline_strings=False), encoding="utf-8")


def expected_of(record: RunRecord, name: str, run: str) -> Case:
    """What one may expect of this run from now on: its outcome, sources, numbers and a few words, and what the gate caught."""
    answer = strip_markers(record.answer) if record.outcome == "answered" else ""
    strong = [flag for sentence in record.withheld for flag in sentence.flags if flag.strength == "strong"]
    caught = (number for flag in strong if flag.kind == "fabricated_number" for number in NUMBER.findall(flag.words))
    shown = {*NUMBER.findall(record.answer), *NUMBER.findall(record.question)}
    return Case(
        name=name,
        run=run,
        question=record.question,
        outcome=record.outcome,
        reason=record.reason,
        says=tuple(dict.fromkeys([*NUMBER.findall(answer), *_key_words(answer, record)])),
        never_says=tuple(dict.fromkeys(number for number in caught if number not in shown)),
        cites=sources_of(record),
        flags=tuple(sorted({flag.kind for flag in strong})),
    )


def refuted_of(record: RunRecord, name: str, run: str) -> Case:
    """What one may expect of a run that a person calls wrong: not the numbers and words of its answer; an answer where none was."""
    came = expected_of(record, name, run)
    asked = {*NUMBER.findall(record.question)}
    return Case(
        name=name,
        run=run,
        question=record.question,
        outcome=None if record.outcome == "answered" else "answered",
        never_says=tuple(word for word in came.says if word not in asked),
    )


def name_for(question: str, taken: Collection[str]) -> str:
    """The first words of the question; with a number where another case has them."""
    words = "-".join(re.findall(r"\w+", question.casefold())[:8])[:60] or "case"
    return next(name for n in range(1, len(taken) + 2) if (name := words if n == 1 else f"{words}-{n}") not in taken)


def sources_of(record: RunRecord) -> Words:
    """The sources that the answer cites, or the first of the closest passages."""
    if record.outcome == "answered":
        return tuple(dict.fromkeys(citation.source_id for citation in record.citations))
    return tuple(passage.source_id for passage in record.passages[:1])


def _key_words(answer: str, record: RunRecord) -> list[str]:
    """The longest words of the answer that the evidence has and the question has not."""
    asked = {*terms(record.question)}
    cited = {term for citation in record.citations for term in terms(citation.cited_text)}
    words = [word for word in dict.fromkeys(re.findall(r"[^\W\d_]{4,}", answer)) if {*terms(word)} & (cited - asked)]
    return sorted(words, key=len, reverse=True)[:_KEY_WORDS]


@dataclass(frozen=True, slots=True)
class Miss:
    """`what` names the key of the case."""

    what: str
    expected: str
    found: str


def misses(case: Case, record: RunRecord, *, same_replies: bool = True) -> tuple[Miss, ...]:
    """What does not hold. `same_replies`: the model's replies are the recorded ones, so the gate must catch the same sentences."""
    found: list[Miss] = []
    if case.outcome is not None and record.outcome != case.outcome:
        found.append(Miss("outcome", case.outcome, ending(record.outcome, record.reason)))
    elif case.reason is not None and record.reason != case.reason:
        found.append(Miss("reason", case.reason, record.reason or "none"))
    answer = _plain(strip_markers(record.answer))
    sources = sources_of(record) if record.outcome == "answered" else tuple(p.source_id for p in record.passages)
    kinds = {flag.kind for sentence in record.withheld for flag in sentence.flags}
    for what, words, told in (
        ("says", [word for word in case.says if not _says(answer, word)], "is not in the answer"),
        ("never_says", [word for word in case.never_says if _says(answer, word)], "is in the answer"),
        ("cites", [s for s in case.cites if s not in sources], f"not among {', '.join(sources) or 'no sources'}"),
        ("never_cites", [s for s in case.never_cites if s in sources], "is among the sources"),
        ("flags", [k for k in case.flags if same_replies and k not in kinds], "the gate does not object any more"),
    ):
        found += [Miss(what, word, told) for word in words]
    return tuple(found)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _says(answer: str, word: str) -> bool:
    """Whether the answer has the word as a whole; a number is no part of another one, and letters of no Latin script may follow."""
    plain = re.escape(_plain(word))
    begins, ends = (
        r"(?<![a-z0-9.,])" if word[:1].isascii() else "",
        r"(?![a-z0-9]|[.,]\d)" if word[-1:].isascii() else "",
    )
    return re.search(begins + plain + ends, answer) is not None


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
