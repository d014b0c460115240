"""A finished run as spans of OpenTelemetry, made from its records: the question and its wait, stages, asks, searches, the device.

Names and attributes follow two conventions, and our own begin with `groundwire.`:

    https://github.com/open-telemetry/semantic-conventions-genai
    https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md

The ids follow from the run's id, so that spans sent twice are the same spans. They hold no words of question, passages or answer
without `content`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bus.journal.records import TRACEPARENT, AskRecord, Record, SearchRecord
from bus.powers.searching import found_in
from bus.runs.run_record import RunRecord, record_of
from bus.runs.story import RunStory, StageRun, story_of
from bus.transport.envelope import Parent, own, parent_in
from prompts.files import Rendered

type Prompts = Mapping[tuple[str, str], Rendered]
type Value = str | int | float | bool | Sequence[str]
type Kind = Literal["server", "client", "internal"]


@dataclass(frozen=True, slots=True)
class Span:
    """`parent_id` is empty for a root. Times in epoch seconds. `error`: the kind of failure; empty for none."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: Kind
    began: float
    ended: float
    attributes: Mapping[str, Value]
    error: str = ""


@dataclass(frozen=True, slots=True)
class _RunTrace:
    """The trace that the spans of a run belong to."""

    trace_id: str
    run_id: str
    prompts: Prompts | None

    def span(
        self,
        name_in_run: str,
        parent: str,
        name: str,
        kind: Kind,
        began: float,
        ended: float,
        error: str = "",
        **values: Value,
    ) -> Span:
        """In `values`, `__` stands for a dot, and empty values are left out."""
        attributes = {key.replace("__", "."): value for key, value in values.items() if value not in ("", None)}
        if error:
            attributes["error.type"] = error
        span_id = hashlib.blake2b(
            f"{self.run_id} {name_in_run}".encode(), digest_size=8, person=b"groundwire-span"
        ).hexdigest()
        return Span(self.trace_id, span_id, parent, name, kind, began, max(began, ended), attributes, error)


def spans_of(records: Sequence[Record], *, content: bool = False, prompts: Prompts | None = None) -> list[Span]:
    """The spans of a run whose records are given, oldest first, the whole run's first.

    `prompts`: by name and digest of the variables; with them, the spans also hold what was asked, replied, searched and found.

    None without its question or its end, and none where the client's own trace is not recorded.
    """
    story = story_of(records)
    run = record_of(story)
    parent = parent_in(story.headers.get(TRACEPARENT)) or own(story.run_id)
    if run is None or run.finished_at is None or not parent.sampled:
        return []
    trace = _RunTrace(parent.trace_id, run.run_id, prompts)
    whole = _whole(trace, run, story, parent, run.finished_at, content=content)
    waited = trace.span("admission", whole.span_id, "admission", "internal", story.received_at, story.asked_at)
    before = [waited] if story.received_at < story.asked_at else []
    return [whole, *before, *(span for each in story.stages for span in _stage(trace, whole, each))]


def _whole(
    trace: _RunTrace, run: RunRecord, story: RunStory, parent: Parent, finished_at: float, *, content: bool
) -> Span:
    values: dict[str, Value] = {}
    if run.first_shown_s is not None:
        values["gen_ai.response.time_to_first_chunk"] = run.first_shown_s
    if content:
        values["gen_ai.input.messages"] = _chat_message("user", run.question)
        values["gen_ai.output.messages"] = _chat_message("assistant", run.answer)
        values |= {"input.value": run.question, "output.value": run.answer}
    reason = run.reason or run.unrun or ""
    return trace.span(
        "run",
        parent.span_id,
        f"invoke_workflow {run.profile}",
        "server",
        story.received_at,
        finished_at,
        error=(reason or "internal") if run.outcome == "failed" else "",
        openinference__span__kind="CHAIN",
        gen_ai__operation__name="invoke_workflow",
        gen_ai__workflow__name=run.profile,
        gen_ai__provider__name="groundwire",
        gen_ai__usage__input_tokens=run.tokens_in,
        gen_ai__usage__output_tokens=run.tokens_out,
        groundwire__run_id=run.run_id,
        groundwire__via=story.via,
        groundwire__outcome=run.outcome or "",
        groundwire__reason=reason,
        groundwire__re_gate=run.re_gate or "",
        groundwire__confidence=run.confidence or "",
        groundwire__language=run.language,
        groundwire__snapshot=run.snapshot,
        groundwire__withheld_sentences=len(run.withheld),
        groundwire__citations=len(run.citations),
        **values,
    )


def _stage(trace: _RunTrace, whole: Span, run: StageRun) -> Iterator[Span]:
    record, stage = run.record, run.stage
    subject = record.key.subject
    span = trace.span(
        subject,
        whole.span_id,
        stage.actor,
        "internal",
        record.time - stage.took_s,
        record.time,
        openinference__span__kind="CHAIN",
        groundwire__stage=stage.actor,
        groundwire__lane=record.key.lane,
        groundwire__attempt=stage.attempt,
        groundwire__fallback=_kind_of(stage.fallback),
    )
    yield span
    for n, ask in enumerate(stage.asks):
        yield from _ask(trace, span, f"{subject} ask {n}", ask)
    for n, search in enumerate(stage.searches):
        yield _search(trace, span, f"{subject} search {n}", search)


def _ask(trace: _RunTrace, stage: Span, name_in_run: str, ask: AskRecord) -> Iterator[Span]:
    began = stage.began + ask.began_s
    ended = began + ask.took_s
    model = ask.model or ask.engine
    values: dict[str, Value] = {}
    if trace.prompts is not None:
        values["output.value"] = ask.said
        if prompt := trace.prompts.get((ask.prompt, ask.variables)):
            values["input.value"] = prompt.user
            for n, (role, text) in enumerate((("system", prompt.system), ("user", prompt.user))):
                message = f"llm.input_messages.{n}.message"
                values |= {f"{message}.role": role, f"{message}.content": text}
    span = trace.span(
        name_in_run,
        stage.span_id,
        f"chat {model}".strip(),
        "client",
        began,
        ended,
        error=_kind_of(ask.failure) if ask.failure else "",
        openinference__span__kind="LLM",
        llm__model_name=model,
        llm__token_count__prompt=ask.tokens_in,
        llm__token_count__completion=ask.tokens_out,
        gen_ai__operation__name="chat",
        gen_ai__provider__name=ask.engine,
        gen_ai__request__model=model,
        gen_ai__response__model=model,
        gen_ai__prompt__name=ask.prompt,
        gen_ai__output__type="json" if ask.schema else "text",
        gen_ai__response__finish_reasons=[ask.finish_reason] if ask.finish_reason else "",
        gen_ai__usage__input_tokens=ask.tokens_in,
        gen_ai__usage__output_tokens=ask.tokens_out,
        gen_ai__usage__cache_read__input_tokens=ask.tokens_in_cached,
        groundwire__prompt_version=ask.version,
        groundwire__cached=ask.cached,
        **values,
    )
    yield span
    at = ended - (ask.queue_s + ask.prefill_s + ask.decode_s)  # the device ends with the reply
    for name, took_s in (("queue", ask.queue_s), ("prefill", ask.prefill_s), ("decode", ask.decode_s)):
        if took_s and not ask.cached:
            yield trace.span(f"{name_in_run} {name}", span.span_id, name, "internal", at, at + took_s)
        at += took_s


def _search(trace: _RunTrace, stage: Span, name_in_run: str, search: SearchRecord) -> Span:
    began = stage.began + search.began_s
    snapshot, passages = found_in(search)
    values: dict[str, Value] = {}
    if trace.prompts is not None:
        values["input.value"] = search.query
        for n, passage in enumerate(passages):
            document = f"retrieval.documents.{n}.document"
            values |= {f"{document}.id": passage.source_id, f"{document}.content": passage.text}
            values[f"{document}.score"] = passage.score
    return trace.span(
        name_in_run,
        stage.span_id,
        f"retrieval {snapshot}".strip(),
        "client",
        began,
        began + search.took_s,
        error="",
        openinference__span__kind="RETRIEVER",
        gen_ai__operation__name="retrieval",
        gen_ai__provider__name="groundwire",
        gen_ai__data_source__id=snapshot,
        gen_ai__request__top_k=search.k,
        groundwire__language=search.language,
        groundwire__hits=len(passages),
        **values,
    )


def _kind_of(failure: str) -> str:
    """`BadReply` of `BadReply: judge_relevance: …`; the rest may hold words of a document."""
    kind = failure.partition(":")[0].strip()
    return kind if kind.isidentifier() and kind[0].isupper() else "failure" if failure else ""


def _chat_message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False)
