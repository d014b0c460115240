"""Suites as Langfuse datasets and as spans of OpenInference, by the schemas of both; and what other programs wrote."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from langfuse.api.commons.types.dataset_item import DatasetItem
from langfuse.api.commons.types.dataset_status import DatasetStatus
from langfuse.api.core.pydantic_utilities import parse_obj_as
from langfuse.api.dataset_items.types.create_dataset_item_request import CreateDatasetItemRequest
from openinference.semconv.trace import (
    DocumentAttributes,
    MessageAttributes,
    OpenInferenceSpanKindValues,
    SpanAttributes,
)
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from actors.pipeline import pipeline
from bus.wire.messages import QuestionAsked
from runtime.replay.trace import write
from runtime.suite.cases import check, read_suite
from tests.made_runs import Pages, live_over, made, passage
from tests.runtime.suite.test_suite import ASKED, suite

PAGES = (passage("refunds.md", "Refunds are paid within 14 days of the return.", "en", 1),)


@pytest.fixture
async def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "run.jsonl", await made(QuestionAsked(question=ASKED, language="en"), PAGES, "run1"))
    added = await asyncio.to_thread(suite, "add", "run.jsonl", "--out", "shop.suite", "--name", "refunds")
    assert added[0] == 0


def test_items_have_the_fields_of_the_api(kept: None) -> None:
    assert suite("export", "shop.suite", "--out", "items.jsonl") == (0, "items.jsonl: cases written: 1 of 1\n")
    (line,) = Path("items.jsonl").read_text().splitlines()
    item = parse_obj_as(CreateDatasetItemRequest, json.loads(line))
    assert not item.model_extra
    assert (item.dataset_name, item.id, item.source_trace_id) == ("shop", "shop.refunds", "run1")
    assert item.status is DatasetStatus.ACTIVE


def test_changed_item_changes_its_case(kept: None) -> None:
    before = read_suite(Path("shop.suite"))
    suite("export", "shop.suite", "--out", "items.jsonl")
    suite("import", "items.jsonl", "--out", "shop.suite")
    assert read_suite(Path("shop.suite")) == before
    item = json.loads(Path("items.jsonl").read_text())
    item["expectedOutput"]["says"] = ["30"]
    # As the API lists it: with fields of its own.
    at = "2026-01-01T00:00:00Z"
    own = {"datasetId": "d1", "createdAt": at, "updatedAt": at, "mediaReferences": []}
    given = parse_obj_as(DatasetItem, {**item, **own})
    Path("items.jsonl").write_text(json.dumps({"data": [json.loads(given.json())], "meta": {}}))
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
    live = live_over(Pages(PAGES))
    results = check(path, read_suite(path), pipeline(), lambda rules: live, search=True)
    return [(result.case.name, result.holds) async for result in results]


def spans_of(text: str) -> list[dict[str, Any]]:
    """The spans of a file as OTLP's own types read them, each with its attributes by name."""
    found = []
    for line in text.splitlines():
        data = Parse(line, TracesData())
        for span in (span for each in data.resource_spans for scope in each.scope_spans for span in scope.spans):
            values = {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}
            found.append({"name": span.name, "root": not span.parent_span_id, **values})
    return found


#: Every name of an attribute, and of a part of a list.
NAMES = {value for name, value in vars(SpanAttributes).items() if name.isupper()}
PARTS = {value for c in (DocumentAttributes, MessageAttributes) for name, value in vars(c).items() if name.isupper()}


def test_spans_have_the_attributes_of_openinference(kept: None) -> None:
    arguments = ("export", "shop.suite", "--format", "openinference", "--out", "spans.jsonl")
    assert suite(*arguments) == (0, "spans.jsonl: cases written: 1 of 1\n")
    spans = spans_of(Path("spans.jsonl").read_text())
    kinds = {OpenInferenceSpanKindValues(span[SpanAttributes.OPENINFERENCE_SPAN_KIND]).name for span in spans}
    assert kinds == {"CHAIN", "LLM", "RETRIEVER"}
    foreign = {name for span in spans for name in span if name.startswith(("llm.", "input.", "output.", "retrieval."))}
    for name in foreign:
        whole, _, part = re.sub(r"\.\d+\.", ". ", name).partition(". ")
        assert whole in NAMES, name
        assert not part or part in PARTS, name
    (first,) = (span for span in spans if span["root"])
    assert first[SpanAttributes.INPUT_VALUE] == ASKED
    assert "14 days" in first[SpanAttributes.OUTPUT_VALUE]
    retriever = next(span for span in spans if span["name"].startswith("retrieval"))
    document = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.0."
    assert retriever[document + DocumentAttributes.DOCUMENT_CONTENT] == PAGES[0].text
    asked = next(span for span in spans if span["openinference.span.kind"] == "LLM")
    assert ASKED in asked[SpanAttributes.INPUT_VALUE]


def test_exported_spans_come_back(kept: None) -> None:
    before = read_suite(Path("shop.suite"))
    suite("export", "shop.suite", "--format", "openinference", "--out", "spans.jsonl")
    assert suite("import", "spans.jsonl", "--out", "shop.suite")[1] == "shop.suite: new cases: 0 of 1\n"
    assert read_suite(Path("shop.suite")) == before
    # Elsewhere they become a case over the documents that were found.
    assert suite("import", "spans.jsonl", "--out", "new.suite")[1] == "new.suite: new cases: 1 of 1\n"
    assert suite("run", "new.suite") == (0, "cases that hold: 1 of 1\n")


def phoenix_span(kind: str, parent: str | None, attributes: dict[str, object]) -> dict[str, object]:
    """A span as Phoenix's `GET /v1/projects/{project}/spans` gives it."""
    return {
        "name": kind, "context": {"trace_id": "t1", "span_id": kind}, "span_kind": kind, "parent_id": parent,
        "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z", "status_code": "OK",
        "attributes": {"openinference.span.kind": kind, **attributes},
    }  # fmt: skip


FOREIGN = [
    phoenix_span(
        "RETRIEVER", "CHAIN", {"retrieval.documents": [{"document": {"id": "a.md", "content": PAGES[0].text}}]}
    ),
    phoenix_span("LLM", "CHAIN", {"output.value": "After 14 days."}),
    phoenix_span("CHAIN", None, {"input.value": json.dumps({"query": ASKED}), "output.value": "After 14 days."}),
]


@pytest.mark.parametrize("written", ["lines", "page", "frame"])
def test_spans_of_phoenix_become_cases(kept: None, written: str) -> None:
    frame = [{"parent_id": s["parent_id"], "context.trace_id": "t1", "attributes": s["attributes"]} for s in FOREIGN]
    lines = frame if written == "frame" else FOREIGN
    text = json.dumps({"data": FOREIGN}) if written == "page" else "\n".join(map(json.dumps, lines))
    Path("spans.json").write_text(text)
    assert suite("import", "spans.json", "--out", "new.suite")[0] == 0
    (case,) = read_suite(Path("new.suite")).case
    assert (case.question, case.outcome, case.says) == (ASKED, "answered", ("14",))
    assert suite("run", "new.suite") == (0, "cases that hold: 1 of 1\n")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "3",
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}',
        '{"id": 3, "input": [3]}',
        '{"input": 3}',
        '{"input": "?", "expectedOutput": {"outcome": "fine"}}',
    ],
)
def test_bad_item_is_named(kept: None, line: str) -> None:
    Path("items.jsonl").write_text(line)
    code, told = suite("import", "items.jsonl", "--out", "shop.suite")
    assert (code, bool(re.search("items.jsonl, (line 1|the text): ", told))) == (2, True)
