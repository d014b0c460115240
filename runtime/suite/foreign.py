"""Cases as other programs have them, and back: items of a Langfuse dataset, and spans with the attributes of OpenInference.

    https://api.reference.langfuse.com (`POST /api/public/dataset-items`)
    https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md

An item's `id` is the dataset and the name of the case, `input` the question, `expectedOutput` what is expected. The first span of a
trace has the question and the answer, and its retrievers have the documents. What is expected is an attribute of ours; without it,
the answer must have the numbers that it had.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from groundwire.wire import Context, ContextMetadata

from bus.delivery.graph import Graph
from bus.journal.records import Record, encode
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import Key, check_id
from prompts.files import Rendered
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.steps import steps_of
from runtime.replay.trace import ASKED, Trace, lines_in, masked_trace
from runtime.suite.cases import NUMBER, BrokenSuite, Case, Suite, name_for
from runtime.telemetry.otlp import otlp_json
from runtime.telemetry.spans import spans_of

_EXPECTED: Final = ("outcome", "reason", "says", "never_says", "cites", "never_cites", "flags")
#: The attribute of a trace's first span that has the case.
CASE: Final = "groundwire.case"
_DOCUMENT = re.compile(r"retrieval\.documents\.(\d+)\.document\.(id|content)")
#: Under which keys programs put a question and an answer where it is no plain text.
_QUESTIONS: Final = ("question", "input", "query", "messages", "content")
_ANSWERS: Final = ("answer", "output", "result", "content")


class _Span(NamedTuple):
    """`values`: the attributes, each under its whole name. `began`: comparable within a trace."""

    trace_id: str
    parent_id: str
    began: str
    values: dict[str, Any]


def items_of(suite: Suite, dataset: str) -> list[dict[str, Any]]:
    """Each case as an item of that dataset. Ids are unique in a whole project of Langfuse."""
    return [
        {
            "datasetName": dataset,
            "id": f"{dataset}.{case.name}",
            "input": {"question": case.question},
            "expectedOutput": _expected(case),
            "metadata": {"note": case.note, "trace": case.run},
            "sourceTraceId": case.run.partition(".")[0],
            "status": "ACTIVE",
        }
        for case in suite.case
    ]


async def spans_of_case(case: Case, trace: Trace, graph: Graph) -> dict[str, Any] | None:
    """The case's run as OTLP has spans in JSON; None for a run that did not end."""
    prompts: dict[tuple[str, str], Rendered] = {}
    for step in steps_of(trace, graph).done:
        prompts |= await prompts_asked(trace, step)
    spans = spans_of(masked_trace(trace).records, content=True, prompts=prompts)
    if not spans:
        return None
    told = {"name": case.name, "note": case.note, **_expected(case)}
    first = dataclasses.replace(spans[0], attributes={**spans[0].attributes, CASE: msgspec.json.encode(told).decode()})
    return otlp_json([first, *spans[1:]], "groundwire")


def _expected(case: Case) -> dict[str, Any]:
    told = msgspec.to_builtins(case)
    return {key: told[key] for key in _EXPECTED if key in told}


def cases_in(path: Path, suite: Suite) -> tuple[Suite, dict[str, Trace]]:
    """The suite with the cases of a file: known names change, new ones are added, with traces of their questions alone.

    Raises BrokenSuite.
    """
    cases = {case.name: case for case in suite.case}
    traces: dict[str, Trace] = {}
    told: list[tuple[str, dict[str, Any] | list[_Span]]] = []
    spans: dict[str, list[_Span]] = {}
    for place, value in _values(path):
        try:
            own = list(_spans(value))
        except (AttributeError, LookupError, TypeError) as error:
            raise BrokenSuite(f"{path}, {place}: is no item and no span: {error!r}") from None
        for span in own:
            spans.setdefault(span.trace_id, []).append(span)
        if not own and value.get("status") != "ARCHIVED":
            told.append((place, value))
    for place, entry in (*told, *((f"trace {trace_id}", every) for trace_id, every in spans.items())):
        try:
            fields, contexts = (_of_item(entry), None) if isinstance(entry, dict) else _of_trace(entry)
            case = _added(fields, cases)
            if case.name not in cases:
                asked = QuestionAsked(question=case.question, contexts=contexts)
                run_id = check_id(case.run.removesuffix(".jsonl"))
                traces[case.run] = Trace(run_id, (Record(Key(ASKED, run_id), 1, 0.0, encode(asked), {}),))
        except ValueError as error:
            raise BrokenSuite(f"{path}, {place}: {error}") from None
        cases[case.name] = case
    return msgspec.structs.replace(suite, case=tuple(cases.values())), traces


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Each JSON value of a file with its place; a list, and a page of an API, hold several. Raises BrokenSuite."""
    try:
        lines = lines_in(path.read_bytes())
    except OSError as error:
        raise BrokenSuite(f"{path}: cannot be read ({error.strerror})") from None
    for place, line in ((f"line {number}", line) for number, line in enumerate(lines, 1) if line.strip()):
        try:
            value = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise BrokenSuite(f"{path}, {place}: {error}") from None
        listed = value.get("data", value) if isinstance(value, dict) else value
        yield from ((place, each) for each in (listed if isinstance(listed, list) else [listed]))


def _added(told: dict[str, Any], cases: Mapping[str, Case]) -> Case:
    """What is told of a case, as the case of that name, of that question, or a new one. Raises ValueError."""
    asked = told["question"]
    if not asked.strip():
        raise ValueError("the input has no question; write it as a text, or as an object with `question`")
    same = next((case.name for case in cases.values() if case.question == asked), "")
    name = str(told["name"]) or same or name_for(asked, cases)
    new = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)[:64]
    run = cases[name].run if name in cases else f"{new}.jsonl"
    return msgspec.convert({**told, "name": name, "run": run}, Case)


def _of_item(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata, expected = item.get("metadata"), item.get("expectedOutput")
    own = {key: expected[key] for key in _EXPECTED if key in expected} if isinstance(expected, dict) else None
    return {
        "name": str(item.get("id") or "").removeprefix(f"{item.get('datasetName')}."),
        "question": _text_in(item.get("input"), _QUESTIONS),
        "note": metadata.get("note", "") if isinstance(metadata, dict) else "",
        **(_of_text(expected) if own is None else own),
    }


def _of_trace(spans: Sequence[_Span]) -> tuple[dict[str, Any], tuple[Context, ...] | None]:
    """What the spans of a trace tell of its case, and the documents that were found. Raises ValueError."""
    first = min(spans, key=lambda span: (bool(span.parent_id), span.began))
    told = msgspec.json.decode(str(first.values.get(CASE, "{}")), type=dict[str, Any])
    documents: dict[tuple[int, str], dict[str, str]] = {}
    for n, span in enumerate(spans):
        for name, value in span.values.items():
            if place := _DOCUMENT.fullmatch(name):
                documents.setdefault((n, place[1]), {})[place[2]] = str(value)
    texts = ((part.get("id", "document")[:256], part.get("content", "")[:20_000]) for part in documents.values())
    found = dict.fromkeys((source, text) for source, text in texts if text)  # in the order of the search
    contexts = tuple(Context(content=text, metadata=ContextMetadata(source_id=source)) for source, text in found)
    return {
        "name": "",
        "question": _text_in(_read(first.values.get("input.value")), _QUESTIONS),
        **(told or _of_text(_text_in(_read(first.values.get("output.value")), _ANSWERS))),
    }, contexts or None


def _spans(value: Mapping[str, Any]) -> Iterator[_Span]:
    """The spans of OTLP in JSON, or the span as Phoenix gives it; none of anything else."""
    scopes = (scope for resource in value.get("resourceSpans", ()) for scope in resource.get("scopeSpans", ()))
    for span in (span for scope in scopes for span in scope.get("spans", ())):
        values = dict(_flat({each["key"]: _otlp(each["value"]) for each in span.get("attributes", ())}))
        began = str(span.get("startTimeUnixNano", "")).rjust(20)
        yield _Span(span["traceId"], span.get("parentSpanId", ""), began, values)
    if "parent_id" in value:
        flat = dict(_flat(value))
        values = {name.removeprefix("attributes."): inner for name, inner in flat.items()}
        yield _Span(str(flat["context.trace_id"]), str(flat["parent_id"] or ""), str(flat.get("start_time")), values)


def _otlp(value: Mapping[str, Any]) -> Any:
    """A value of OTLP, as `{"stringValue": "…"}`."""
    if isinstance(listed := value.get("arrayValue"), dict):
        return [_otlp(each) for each in listed.get("values", ())]
    return next(iter(value.values()), None)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf under its whole name: `retrieval.documents.0.document.id`."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _read(value: Any) -> Any:
    """What a text of JSON holds; any other text itself."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _text_in(value: Any, keys: Sequence[str]) -> str:
    """A text, or the first that one of the keys has; of a list of messages the last."""
    if isinstance(value, list) and value:
        return _text_in(value[-1], keys)
    if isinstance(value, dict):
        return next((text for key in keys if (text := _text_in(value.get(key), keys))), "")
    return value if isinstance(value, str) else ""


def _of_text(text: object) -> dict[str, Any]:
    """An answer in other words than ours: its numbers must be there; without numbers only that it is answered."""
    return {"outcome": "answered", "says": list(dict.fromkeys(NUMBER.findall(text))) if isinstance(text, str) else []}
