"""`response_schema`: an answer in the shape that was asked for, checked as any other, by engines that can keep a shape."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from actors.pipeline import pipeline
from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Constraints
from bus.wire.requests import check_question
from bus.wire.response_schema import NEEDS_MODEL
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.journal_traces import read_run
from runtime.replay.replayer import replay
from tests.runtime.test_markers import CONTEXTS, LIE, QUESTION, TEXTS, Engine, text_of, told
from tests.whole import Whole, whole

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": 200},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}, "maxItems": 3},
        "topic": {"enum": ["refund", "fee"]},
    },
    "required": ["answer", "days", "topic"],
    "additionalProperties": False,
}
SHAPED = Constraints(response_schema=SCHEMA)


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Engine]]:
    engine = Engine()
    async with whole(tmp_path_factory.mktemp("shaped"), engine, cache_entries=0) as made:
        yield made, engine


async def shaped(stack: tuple[Whole, Engine], answer: str, **fields: Any) -> tuple[Any, Any]:
    run, engine = stack
    engine.more = {"answer_simple": json.dumps({"answer": answer, "days": [14], "topic": "refund"})}
    events, record = await run.ask(QUESTION, contexts=CONTEXTS, constraints=SHAPED, **fields)
    assert (await replay(await read_run(run.journal, record.run_id), pipeline())).divergence is None
    return events, record


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
@pytest.mark.parametrize("style", [None, "report", "synthesis"])
async def test_the_answer_has_the_shape(stack: tuple[Whole, Engine], release: str, style: Any) -> None:
    events, record = await shaped(stack, f"{TEXTS[0].removesuffix('.')} [1].", release=release, style=style)
    assert record.outcome == "answered"
    assert text_of(events) == record.answer
    assert json.loads(record.answer) == {"answer": TEXTS[0], "days": [14], "topic": "refund"}
    assert [(r["source_id"], "n" in r) for r in told(events)] == [("doc1.md", False)]
    assert stack[1].requests[-1].variables.name == "verify_answer"
    assert next(r for r in stack[1].requests[::-1] if r.variables.name == "answer_simple").schema == SCHEMA


@pytest.mark.parametrize("lie", [LIE + " [1].", LIE + ".", f"{TEXTS[0]} {LIE}.", "See https://evil.example/now [1]."])
@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
async def test_lie_inside_json_is_never_shown(stack: tuple[Whole, Engine], release: str, lie: str) -> None:
    events, record = await shaped(stack, lie, release=release)
    assert record.outcome in ("closest", "refused")
    assert "99" not in text_of(events) + record.answer
    assert "evil" not in text_of(events) + record.answer


async def test_schema_without_a_model_is_refused(tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine(), cache_entries=0) as run:
        events, record = await run.ask(QUESTION, contexts=CONTEXTS, constraints=SHAPED)
    assert (record.outcome, record.unrun, record.detail) == ("failed", "invalid", NEEDS_MODEL)
    assert [(each["code"], each["content"]) for each in events if each["type"] == "error"] == [("invalid", NEEDS_MODEL)]


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({}, '"type" is not "object"'),
        ({"type": "string"}, '"type" is not "object"'),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "a+"}}},
            "$.a: 'pattern' is not supported",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, "$.a: '$ref' is not supported"),
        ({"type": "object", "properties": {"a": {}}}, "$.a has no type"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": True}}}, "$.a[] is no object"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "x"}}}},
            "$.a[].type is not one of",
        ),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "$.a.enum is not valid"),
        ({"type": "object", "properties": {"a": {"type": "string", "minLength": 5000}}}, "$.a.minLength is no whole"),
        ({"type": "object", "required": ["b"]}, "what is required"),
        ({"type": "object", "required": [[]]}, "what is required"),
        ({"type": "object", "description": "x" * 9000}, "longer than 8000 bytes"),
    ],
)
def test_unsupported_schema_is_refused_by_name(schema: dict[str, object], says: str) -> None:
    with pytest.raises(Invalid, match="response_schema") as invalid:
        check_question(QuestionAsked(question="When?", constraints=Constraints(response_schema=schema)))
    assert says in str(invalid.value)
    assert "\n" not in str(invalid.value)


def test_supported_schema_passes() -> None:
    check_question(QuestionAsked(question="When?", constraints=SHAPED))
