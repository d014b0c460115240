"""A finished run as spans of OpenTelemetry, made from its records: the question and its wait, stages, asks, searches, the device.

Names and attributes follow the semantic conventions for generative AI (https://github.com/open-telemetry/semantic-conventions-genai);
what they have no name for begins with `groundwire.`. The ids follow from the run's id, so that spans sent twice are the same spans.
None of what was asked, found or answered is in them unless `content` says so.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bus.journal.records import TRACEPARENT, AskRecord, Record, SearchRecord, Stage
from bus.powers.searching import found_in
from bus.runs.run_record import RunRecord, record_of
from bus.transport.traceparent import Parent, own, parent_in
from runtime.telemetry.account import received_at, via_of

type Value = str | int | float | bool | Sequence[str]
type Kind = Literal["server", "client", "internal"]


@dataclass(frozen=True, slots=True)
class Span:
    """`parent_id` is empty for a root. Times in epoch seconds. `error`: what kind of failure it was; empty for none."""

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
class _Place:
    """Where the spans of a run belong."""

    trace_id: str
    run_id: str

    def span(
        self, what: str, parent: str, name: str, kind: Kind, began: float, ended: float, error: str = "", **told: Value
    ) -> Span:
        """`what` names it within the run. In `told`, `__` stands for a dot, and what is empty is left out."""
        attributes = {key.replace("__", "."): value for key, value in told.items() if value not in ("", None)}
        if error:
            attributes["error.type"] = error
        return Span(
            self.trace_id, _id(self.run_id, what), parent, name, kind, began, max(began, ended), attributes, error
        )


def spans_of(records: Sequence[Record], *, content: bool = False) -> list[Span]:
    """The spans of a run whose records are given, oldest first, the whole run's first.

    None without its question or its end, and none where the client's own trace is not recorded.
    """
    run = record_of(records)
    if run is None or run.finished_at is None:
        return []
    asked = next(record for record in records if record.key.type == "question_asked")
    parent = parent_in(asked.headers.get(TRACEPARENT)) or own(run.run_id)
    if not parent.sampled:
        return []
    place = _Place(parent.trace_id, run.run_id)
    received = received_at(asked)
    whole = _whole(place, run, parent, received, via_of(asked), content=content)
    waited = place.span("admission", whole.span_id, "admission", "internal", received, asked.time)
    stages = [(record, stage) for record in records if (stage := record.stage) is not None]
    before = [waited] if received < asked.time else []
    return [whole, *before, *(span for record, stage in stages for span in _stage(place, whole, record, stage))]


def _whole(place: _Place, run: RunRecord, parent: Parent, received: float, via: str, *, content: bool) -> Span:
    assert run.finished_at is not None
    told: dict[str, Value] = {}
    if run.first_shown_s is not None:
        told["gen_ai.response.time_to_first_chunk"] = run.first_shown_s
    if content:
        told["gen_ai.input.messages"] = _said("user", run.question)
        told["gen_ai.output.messages"] = _said("assistant", run.answer)
    reason = run.reason or run.unrun or ""
    return place.span(
        "run",
        parent.span_id,
        f"invoke_workflow {run.profile}",
        "server",
        received,
        run.finished_at,
        error=(reason or "internal") if run.outcome == "failed" else "",
        gen_ai__operation__name="invoke_workflow",
        gen_ai__workflow__name=run.profile,
        gen_ai__provider__name="groundwire",
        gen_ai__usage__input_tokens=run.tokens_in,
        gen_ai__usage__output_tokens=run.tokens_out,
        groundwire__run_id=run.run_id,
        groundwire__via=via,
        groundwire__outcome=run.outcome or "",
        groundwire__reason=reason,
        groundwire__re_gate=run.re_gate or "",
        groundwire__confidence=run.confidence or "",
        groundwire__language=run.language,
        groundwire__snapshot=run.snapshot,
        groundwire__withheld_sentences=len(run.withheld),
        groundwire__citations=len(run.citations),
        **told,
    )


def _stage(place: _Place, whole: Span, record: Record, stage: Stage) -> Iterator[Span]:
    """The journal knows when a stage's output was written; it began so much earlier as it took."""
    what = record.key.subject
    span = place.span(
        what,
        whole.span_id,
        stage.actor,
        "internal",
        record.time - stage.took_s,
        record.time,
        groundwire__stage=stage.actor,
        groundwire__lane=record.key.lane,
        groundwire__attempt=stage.attempt,
        groundwire__fallback=_kind_of(stage.fallback),
    )
    yield span
    for n, ask in enumerate(stage.asks):
        yield from _ask(place, span, f"{what} ask {n}", ask)
    for n, search in enumerate(stage.searches):
        yield _search(place, span, f"{what} search {n}", search)


def _ask(place: _Place, stage: Span, what: str, ask: AskRecord) -> Iterator[Span]:
    began = stage.began + ask.began_s
    ended = began + ask.took_s
    model = ask.model or ask.engine
    span = place.span(
        what,
        stage.span_id,
        f"chat {model}".strip(),
        "client",
        began,
        ended,
        error=_kind_of(ask.failure) if ask.failure else "",
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
    )
    yield span
    at = ended - (ask.queue_s + ask.prefill_s + ask.decode_s)  # what the device did ends when the reply is there
    for name, took_s in (("queue", ask.queue_s), ("prefill", ask.prefill_s), ("decode", ask.decode_s)):
        if took_s and not ask.cached:
            yield place.span(f"{what} {name}", span.span_id, name, "internal", at, at + took_s)
        at += took_s


def _search(place: _Place, stage: Span, what: str, search: SearchRecord) -> Span:
    began = stage.began + search.began_s
    snapshot, hits = found_in(search)
    return place.span(
        what,
        stage.span_id,
        f"retrieval {snapshot}".strip(),
        "client",
        began,
        began + search.took_s,
        gen_ai__operation__name="retrieval",
        gen_ai__provider__name="groundwire",
        gen_ai__data_source__id=snapshot,
        gen_ai__request__top_k=search.k,
        groundwire__language=search.language,
        groundwire__hits=hits,
    )


def _kind_of(failure: str) -> str:
    """`BadReply` of `BadReply: judge_relevance: …`: what follows may hold words of a document."""
    kind = failure.partition(":")[0].strip()
    return kind if kind.isidentifier() and kind[0].isupper() else "failure" if failure else ""


def _said(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False)


def _id(run_id: str, what: str) -> str:
    return hashlib.blake2b(f"{run_id} {what}".encode(), digest_size=8, person=b"groundwire-span").hexdigest()
