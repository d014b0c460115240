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
from typing import Any, Final

import msgspec

from bus.delivery.graph import Graph
from bus.journal.records import Record, encode
from bus.wire.messages import Context, ContextMetadata, QuestionAsked
from bus.wire.subjects import Key, check_id
from prompts.rendered import Rendered
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.steps import steps_of
from runtime.replay.trace import ASKED, Trace, masked_trace
from runtime.suite.cases import NUMBER, BrokenSuite, Case, Suite, name_for
from runtime.telemetry.otlp_json import otlp_json
from runtime.telemetry.spans import spans_of

_EXPECTED: Final = ("outcome", "reason", "says", "never_says", "cites", "never_cites", "flags")
#: The attribute of a trace's first span that has the case.
CASE: Final = "groundwire.case"
_DOCUMENT = re.compile(r"retrieval\.documents\.(\d+)\.document\.(id|content)")
#: Under which keys programs put a question and an answer where it is no plain text.
_QUESTIONS: Final = ("question", "input", "query", "messages", "content")
_ANSWERS: Final = ("answer", "output", "result", "content")


class Item(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An item as Langfuse takes and gives it; other fields are ignored."""

    dataset_name: str = ""
    input: Any = None
    expected_output: Any = None
    metadata: Any = None
    source_trace_id: str | None = None
    id: str | None = None
    status: str | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What another program has of a case; `name` may be empty. `expected`: keys of a case, or a text. `contexts`: documents."""

    name: str
    question: str
    expected: object
    note: str = ""
    contexts: tuple[Context, ...] | None = None


class _Span(msgspec.Struct, frozen=True, kw_only=True):
    """`values`: the attributes, each under its whole name. `began`: comparable within a trace."""

    trace_id: str
    parent_id: str
    began: str
    values: Mapping[str, Any]


def items_of(suite: Suite, dataset: str) -> Iterator[Item]:
    """Each case as an item of that dataset. Ids are unique in a whole project of Langfuse."""
    for case in suite.case:
        yield Item(
            dataset_name=dataset,
            id=f"{dataset}.{case.name}",
            input={"question": case.question},
            expected_output=_expected(case),
            metadata={"note": case.note, "trace": case.run},
            source_trace_id=case.run.partition(".")[0],
            status="ACTIVE",
        )


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
    spans: dict[str, list[_Span]] = {}
    for place, value in _values(path):
        try:
            if own := list(_spans(value)):
                for span in own:
                    spans.setdefault(span.trace_id, []).append(span)
            elif (item := msgspec.convert(value, Item)).status != "ARCHIVED":
                _add(_of_item(item), cases, traces)
        except ValueError as error:
            raise BrokenSuite(f"{path}, {place}: {error}") from None
    for trace_id, every in spans.items():
        try:
            _add(_of_trace(every), cases, traces)
        except ValueError as error:
            raise BrokenSuite(f"{path}, trace {trace_id}: {error}") from None
    return msgspec.structs.replace(suite, case=tuple(cases.values())), traces


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Each JSON object of a file with its place: one JSON text, or one a line; a list holds several. Raises BrokenSuite."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BrokenSuite(f"{path}: cannot be read ({error.strerror})") from None
    try:
        texts = [("the text", msgspec.json.decode(data))]
    except msgspec.DecodeError:
        texts = []
        for number, line in enumerate(data.splitlines(), 1):
            try:
                texts += [(f"line {number}", msgspec.json.decode(line))] if line.strip() else []
            except msgspec.DecodeError as error:
                raise BrokenSuite(f"{path}, line {number}: {error}") from None
    for place, value in texts:
        listed = value.get("data", value) if isinstance(value, dict) else value  # pages of an API hold `data`
        yield from ((place, each) for each in (listed if isinstance(listed, list) else [listed]))


def _add(entry: Entry, cases: dict[str, Case], traces: dict[str, Trace]) -> None:
    """Raises ValueError."""
    same = next((case.name for case in cases.values() if case.question == entry.question), "")
    name = entry.name or same or name_for(entry.question, cases)
    known = cases.get(name)
    run_id = check_id("".join(char if char.isascii() and char.isalnum() else "-" for char in name)[:64])
    told = entry.expected if isinstance(entry.expected, dict) else _of_text(entry.expected)
    fields = {key: told[key] for key in _EXPECTED if key in told}
    run = known.run if known else f"{run_id}.jsonl"
    cases[name] = msgspec.convert(
        {"name": name, "run": run, "question": entry.question, "note": entry.note, **fields}, Case
    )
    if known is None:
        asked = QuestionAsked(question=entry.question, contexts=entry.contexts)
        traces[run] = Trace(run_id, (Record(Key(ASKED, run_id), 1, 0.0, encode(asked), {}),))


def _of_item(item: Item) -> Entry:
    """Raises ValueError."""
    return Entry(
        name=(item.id or "").removeprefix(f"{item.dataset_name}."),
        question=_question(item.input),
        expected=item.expected_output,
        note=item.metadata.get("note", "") if isinstance(item.metadata, dict) else "",
    )


def _of_trace(spans: Sequence[_Span]) -> Entry:
    """Raises ValueError."""
    first = min(spans, key=lambda span: (bool(span.parent_id), span.began))
    told = msgspec.json.decode(first.values.get(CASE, "{}"), type=dict[str, Any])
    found: dict[str, Context] = {}
    for span in spans:
        parts: dict[str, dict[str, str]] = {}
        for name, value in span.values.items():
            if place := _DOCUMENT.fullmatch(name):
                parts.setdefault(place[1], {})[place[2]] = str(value)
        for number, part in parts.items():
            source = ContextMetadata(source_id=part.get("id", f"document-{number}")[:256])
            if text := part.get("content", "")[:20_000]:
                found.setdefault(f"{source.source_id} {text}", Context(content=text, metadata=source))
    return Entry(
        name=told.get("name", ""),
        question=_question(_read(first.values.get("input.value"))),
        expected=told or _text_in(_read(first.values.get("output.value")), _ANSWERS),
        note=told.get("note", ""),
        contexts=tuple(found.values()) or None,
    )


def _spans(value: Any) -> Iterator[_Span]:
    """The spans of OTLP in JSON, or the span as Phoenix gives it; none of anything else."""
    if not isinstance(value, dict):
        return
    for resource in value.get("resourceSpans", ()):
        for span in (span for scope in resource.get("scopeSpans", ()) for span in scope.get("spans", ())):
            values = dict(_flat({each["key"]: _otlp(each.get("value", {})) for each in span.get("attributes", ())}))
            began = str(span.get("startTimeUnixNano", "")).rjust(20)
            yield _Span(trace_id=span["traceId"], parent_id=span.get("parentSpanId") or "", began=began, values=values)
    if "parent_id" in value:
        flat = dict(_flat(value))
        yield _Span(
            trace_id=str(flat.get("context.trace_id", "")),
            parent_id=flat.get("parent_id") or "",
            began=str(flat.get("start_time", "")),
            values={name.removeprefix("attributes."): value for name, value in flat.items()},
        )


def _otlp(value: Mapping[str, Any]) -> Any:
    """A value of OTLP, as `{"stringValue": "…"}`."""
    if "arrayValue" in value:
        return [_otlp(each) for each in value["arrayValue"].get("values", ())]
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


def _question(value: Any) -> str:
    """Raises ValueError."""
    asked = _text_in(value, _QUESTIONS)
    if not asked.strip():
        raise ValueError("the input has no question; write it as a text, or as an object with `question`")
    return asked


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


def dumped(objects: Sequence[object]) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in objects)
