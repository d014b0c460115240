"""Suites: what a case expects, what breaks it, what does not, and the command over files."""

import asyncio
import dataclasses
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from actors.pipeline import pipeline
from actors.question.profile import PROFILES
from bus.journal.records import Record
from bus.journal.verdicts import verdict_key
from bus.runs.run_record import RunRecord, record_of
from bus.runs.story import story_of
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Passage
from runtime.cli import groundwire
from runtime.engines.scripted.engine import ScriptedEngine
from runtime.forking.live_powers import Live
from runtime.replay.trace import Trace, read, write
from runtime.suite.cases import BrokenSuite, Case, Checked, check_case, expected_of, misses, read_suite
from tests.made_runs import ASKED_AT, Pages, live_over, made, passage

REFUNDS = "Refunds are paid within 14 days of the return. Shipping costs 3,000 won."
OPENING = "The shop opens at nine on weekdays. On Saturdays it opens at ten."
PAGES = (passage("refunds.md", REFUNDS, "en", 1), passage("opening.md", OPENING, "en", 2))
LYING = "Refunds are paid within 14 days of the return [1]. Shipping costs 9,000 won [1]."
ASKED = "How many days until refunds are paid?"


def record(answer: str = "Refunds are paid within 14 days [1].", **fields: object) -> RunRecord:
    given: dict[str, object] = {"outcome": "answered", "answer": answer, **fields}
    return RunRecord(run_id="r1", status="finished", question=ASKED, profile="general", **given)  # type: ignore[arg-type]


MISSES = [
    (Case(name="a", run="r", outcome="answered", says=("14", "REFUNDS")), record(), []),
    (Case(name="a", run="r", outcome="closest"), record(), ["outcome"]),
    (Case(name="a", run="r", reason="no_evidence"), record(reason="low_relevance"), ["reason"]),
    (Case(name="a", run="r", says=("4", "1,4", "refund")), record(), ["says", "says", "says"]),
    (Case(name="a", run="r", never_says=("14", "30")), record(), ["never_says"]),
    (Case(name="a", run="r", says=("14",)), record("환불은 14일 안에 지급됩니다 [1]."), []),
    (Case(name="a", run="r", says=("환불",)), record("환불은 14일 안에 지급됩니다 [1]."), []),
    (Case(name="a", run="r", cites=("refunds.md",)), record(), ["cites"]),
    (Case(name="a", run="r", flags=("fabricated_number",)), record(), ["flags"]),
]


@pytest.mark.parametrize(("case", "came", "missed"), MISSES)
def test_each_expectation_is_compared(case: Case, came: RunRecord, missed: list[str]) -> None:
    assert [miss.what for miss in misses(case, came)] == missed


def by_rules(pages: Sequence[Passage] = PAGES) -> Live:
    return live_over(Pages(pages))


class Saying(ScriptedEngine):
    """A model, which gets rendered prompts, so that its replies name the version of each."""

    needs_rendering = True


def saying(text: str) -> Saying:
    return Saying({"answer_simple": text})


async def checked(
    trace: Trace, case: Case, *, pages: Sequence[Passage] | None = None, model: Live | None = None
) -> Checked:
    search = pages is not None
    live = model or (by_rules(pages or PAGES) if search else by_rules())
    return await check_case(case, trace, pipeline(), lambda rules: live, search=search)


def case_of(trace: Trace) -> Case:
    found = record_of(story_of(trace.records))
    assert found is not None
    return expected_of(found, "case", "run1.jsonl")


@pytest.fixture
async def ruled() -> Trace:
    return await made(QuestionAsked(question=ASKED, language="en"), PAGES, "run1")


async def test_unchanged_case_holds(ruled: Trace) -> None:
    case = case_of(ruled)
    assert case.outcome == "answered"
    assert "14" in case.says
    assert case.cites == ("refunds.md",)
    assert (await checked(ruled, case)).holds
    assert (await checked(ruled, case, pages=PAGES)).holds


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        (REFUNDS.replace("14", "30"), {"says"}),
        ("Shipping costs 3,000 won.", {"outcome", "says", "cites"}),
        (REFUNDS + " The till is green.", set()),
        (REFUNDS.replace("3,000", "4,000"), set()),
    ],
)
async def test_changed_document_breaks_what_it_changes(ruled: Trace, text: str, missed: set[str]) -> None:
    case = msgspec.structs.replace(case_of(ruled), says=("14",))
    pages = (passage("refunds.md", text, "en", 1), PAGES[1])
    result = await checked(ruled, case, pages=pages)
    assert {miss.what for miss in result.missed} <= missed
    assert bool(result.missed) == bool(missed)


@pytest.fixture
async def modelled() -> Trace:
    return await made(QuestionAsked(question=ASKED, language="en"), PAGES, "run1", saying(LYING))


async def test_gate_and_profile_are_todays(modelled: Trace, tmp_path: Path) -> None:
    case = case_of(modelled)
    assert case.flags == ("fabricated_number",)
    assert case.never_says == ("9,000",)
    assert (await checked(modelled, case, model=Live())).holds
    (tmp_path / "general.toml").write_text('extends = "general"\n[policy_words]\nen = ["refunds"]\n')
    PROFILES.use(str(tmp_path))
    try:
        result = await checked(modelled, case, model=Live())
    finally:
        PROFILES.use("")
    assert [miss.found for miss in result.missed if miss.what == "outcome"] == ["declined"]


async def test_changed_prompt_needs_an_engine(modelled: Trace, tmp_path: Path) -> None:
    case = case_of(modelled)
    path = tmp_path / "changed.jsonl"
    write(path, modelled)
    path.write_text(re.sub(r'"version":"(?=[0-9a-f]{12}")[0-9a-f]', '"version":"x', path.read_text()))
    trace = read(path)
    assert "has changed" in (await checked(trace, case, model=Live())).problem
    live = live_over(engine=saying("Refunds take 30 days [1]."))
    result = await checked(trace, case, model=live)
    assert "outcome" in {miss.what for miss in result.missed}
    assert any(line.startswith("answer_simple: answer_simple: scripted") for line in result.elsewhere)
    same = live_over(engine=saying(LYING))
    assert (await checked(trace, case, model=same)).holds


@pytest.fixture
def folder(ruled: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "run.jsonl", ruled)
    return tmp_path


def suite(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(groundwire, ["suite", *arguments])
    return done.exit_code, done.output


def test_case_is_added_and_holds(folder: Path) -> None:
    assert suite("add", "run.jsonl", "--out", "shop.suite", "--note", "asked often") == (
        0,
        "shop.suite: how-many-days-until-refunds-are-paid\n",
    )
    text = Path("shop.suite").read_text()
    assert "[[case]]" in text
    assert 'note = "asked often"' in text
    assert Path("shop.traces/run1.jsonl").is_file()
    assert suite("run", "shop.suite") == (0, "cases that hold: 1 of 1\n")


def test_broken_case_is_shown_written_and_accepted(folder: Path) -> None:
    suite("add", "run.jsonl", "--out", "shop.suite", "--name", "refunds", "--says", "30", "--never-says", "14")
    code, told = suite("run", "shop.suite", "--junit", "junit.xml")
    assert code == 1
    assert "FAILED  shop.suite: refunds" in told
    assert "says         30: is not in the answer" in told
    assert "never_says   14: is in the answer" in told
    root = ET.parse("junit.xml").getroot()
    assert [(each.tag, each.get("failures")) for each in root] == [("testsuite", "1")]
    assert root.find("testsuite/testcase/failure") is not None
    assert json.loads(suite("run", "shop.suite", "--json")[1])["missed"][0]["expected"] == "30"
    assert suite("run", "shop.suite", "--accept")[0] == 0
    assert "14" in read_suite(Path("shop.suite")).case[0].says
    assert suite("run", "shop.suite")[0] == 0


WRONG = [
    ("version = 1\n[[case]]\nrun = 'a'\n", "name"),
    ("version = 1\n[[case]]\nname = 'a'\nrun = 'a'\nsays_never = []\n", "says_never"),
    ("version = 9\n", "a suite of version 9"),
    ("case = 1 =", "is not TOML"),
]


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_bad_suite_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.suite"
    path.write_text(text)
    with pytest.raises(BrokenSuite, match=says):
        read_suite(path)


def test_missing_trace_is_a_problem(folder: Path) -> None:
    suite("add", "run.jsonl", "--out", "shop.suite")
    Path("shop.traces/run1.jsonl").unlink()
    code, told = suite("run", "shop.suite")
    assert (code, "cannot be read" in told) == (1, True)


def test_pytest_collects_cases(folder: Path) -> None:
    suite("add", "run.jsonl", "--out", "shop.suite", "--name", "holds")
    suite("add", "run.jsonl", "--out", "shop.suite", "--name", "fails", "--says", "30")
    plugin = ("-p", "no:cacheprovider", "-p", "groundwire.testing")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", ".", *plugin], capture_output=True, text=True, check=False
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "says         30: is not in the answer" in done.stdout
    without = subprocess.run(
        [sys.executable, "-c", "import pytest, sys; pytest.main(['--co', '-q']); print('groundwire' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert without.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(("verdict", "code"), [("right", 0), ("wrong", 1)])
async def test_verdict_decides_what_is_expected(ruled: Trace, folder: Path, verdict: str, code: int) -> None:
    mark = Record(
        verdict_key("run1", "1"),
        999,
        ASKED_AT,
        b'{"verdict":"%b","note":"asked twice","by":"kim"}' % verdict.encode(),
        {},
    )
    write(folder / "marked.jsonl", dataclasses.replace(ruled, records=(*ruled.records, mark)))
    added = await asyncio.to_thread(suite, "add", "marked.jsonl", "--out", "shop.suite", "--share")
    assert added[0] == 0, added
    case = read_suite(folder / "shop.suite").case[0]
    assert case.note == "asked twice"
    assert ("14" in case.says, "14" in case.never_says) == (verdict == "right", verdict == "wrong")
    assert "kim" not in (folder / "shop.traces" / "run1.jsonl").read_text()
    assert (await asyncio.to_thread(suite, "run", "shop.suite"))[0] == code
