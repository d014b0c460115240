"""Suites as Langfuse datasets: the fields of its API, there and back, and items that it got elsewhere."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from actors.pipeline import pipeline
from bus.wire.messages import QuestionAsked
from runtime.cli import groundwire
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.forking.live_powers import Live
from runtime.processes.inference import Inference
from runtime.replay.trace import write
from runtime.settings import InferenceSettings
from runtime.suite.cases import read_suite
from runtime.suite.running import check
from tests.made_runs import Pages, made, passage

#: The fields of `CreateDatasetItemRequest` in Langfuse's API; `datasetName` alone is required.
FIELDS = {
    "datasetName": str, "input": object, "expectedOutput": object, "metadata": object, "sourceTraceId": str,
    "sourceObservationId": str, "id": str, "status": str,
}  # fmt: skip
PAGES = (passage("refunds.md", "Refunds are paid within 14 days of the return.", "en", 1),)
ASKED = "How many days until refunds are paid?"


def suite(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(groundwire, ["suite", *arguments])
    return done.exit_code, done.output


@pytest.fixture
async def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "run.jsonl", await made(QuestionAsked(question=ASKED, language="en"), PAGES, "run1"))
    added = await asyncio.to_thread(suite, "add", "run.jsonl", "--out", "shop.suite", "--name", "refunds")
    assert added[0] == 0


def test_items_have_the_fields_of_the_api(kept: None) -> None:
    assert suite("export", "shop.suite", "--out", "items.jsonl") == (0, "items.jsonl: items: 1\n")
    (item,) = map(json.loads, Path("items.jsonl").read_text().splitlines())
    assert {*item} <= {*FIELDS}
    assert all(isinstance(value, FIELDS[key]) for key, value in item.items())
    assert (item["datasetName"], item["id"], item["sourceTraceId"], item["status"]) == (
        "shop",
        "refunds",
        "run1",
        "ACTIVE",
    )


def test_changed_item_changes_its_case(kept: None) -> None:
    before = read_suite(Path("shop.suite"))
    suite("export", "shop.suite", "--out", "items.jsonl")
    suite("import", "items.jsonl", "--out", "shop.suite")
    assert read_suite(Path("shop.suite")) == before
    item = json.loads(Path("items.jsonl").read_text())
    item["expectedOutput"]["says"] = ["30"]
    # As the API gives it: with fields of its own.
    Path("items.jsonl").write_text(json.dumps({**item, "datasetId": "d1", "createdAt": "2026-01-01T00:00:00Z"}))
    assert suite("import", "items.jsonl", "--out", "shop.suite")[1] == "shop.suite: new cases: 0 of 1\n"
    assert read_suite(Path("shop.suite")).case[0].says == ("30",)
    assert suite("run", "shop.suite")[0] == 1


def test_foreign_items_run_over_an_index(kept: None) -> None:
    lines = [
        {"input": ASKED, "expectedOutput": "They are paid after 14 days.", "id": "q 1"},
        {"input": {"question": ASKED}, "expectedOutput": {"says": ["31"]}, "id": "q2"},
        {"input": ASKED, "status": "ARCHIVED"},
    ]
    Path("items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    suite("import", "items.jsonl", "--out", "new.suite")
    assert asyncio.run(held(Path("new.suite"))) == [("q 1", True), ("q2", False)]


async def held(path: Path) -> list[tuple[str, bool]]:
    """Every case, and whether it holds over the pages."""
    live = Live(Inference(ExtractiveEngine(), InferenceSettings(cache_entries=0)), find=Pages(PAGES))
    results = check(path, read_suite(path), pipeline(), lambda rules: live, search=True)
    return [(result.case.name, result.holds) async for result in results]


@pytest.mark.parametrize("line", ["{", '{"input": 3}', '{"input": "?", "expectedOutput": {"outcome": "fine"}}'])
def test_bad_item_is_named(kept: None, line: str) -> None:
    Path("items.jsonl").write_text(line)
    code, told = suite("import", "items.jsonl", "--out", "shop.suite")
    assert (code, "items.jsonl, line 1: " in told) == (2, True)
