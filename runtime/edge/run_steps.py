"""What `run_trace` gives, read from a run's records. Imports the pipeline, so it is imported with the first request."""

import asyncio
import functools

import msgspec

from actors.pipeline import pipeline
from bus.delivery.graph import Graph
from bus.journal.records import AskRecord, Record, Stage
from bus.wire.errors import UNREADABLE
from bus.wire.messages import BY_TYPE, same_fields
from index.masking import masked
from prompts.files import Rendered
from runtime.edge.trace_schemas import RunTrace, TracedAsk, TracedMessage, TracedSearch, TracedStage, TracedStep
from runtime.replay.explained import explained
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.steps import Step, steps_of
from runtime.replay.trace import Trace, masked_trace


@functools.cache
def _graph() -> Graph:
    return pipeline()


def _steps(trace: Trace) -> list[tuple[int, Step]]:
    """Every step with the number of its input among the run's records."""
    steps = steps_of(trace, _graph())
    places = {record.sequence: number for number, record in enumerate(trace.records, 1)}
    return [(places[step.source.sequence], step) for step in (*steps.taken, *steps.unfinished)]


def stages_of(trace: Trace) -> RunTrace:
    """The run's stages, masked."""
    trace = masked_trace(trace)
    asked_at = trace.story.asked_at
    last = max((record.time for record in trace.records if record.key.type in BY_TYPE), default=asked_at)
    stages = tuple(_stage(number, step, asked_at) for number, step in _steps(trace))
    told = explained(trace)
    return RunTrace(
        **same_fields(told, RunTrace),
        run_id=trace.run_id,
        asked_at=asked_at,
        took_s=round(last - asked_at, 6),
        stages=stages,
    )


def _stage(number: int, step: Step, asked_at: float) -> TracedStage:
    run = step.run
    stage = run.stage if run else Stage(actor=step.actor.name)
    return TracedStage(
        step=number,
        stage=step.name,
        lane=step.lane,
        takes=step.source.key.type,
        gives=tuple(dict.fromkeys(record.key.type for record in step.outputs)),
        began_s=round(run.began_s(asked_at), 6) if run else None,
        took_s=stage.took_s if run else None,
        attempt=stage.attempt,
        fallback=stage.fallback,
        asks=tuple(ask.prompt for ask in stage.asks),
        searches=len(stage.searches),
        tokens_in=run.tokens_in if run else 0,
        tokens_out=run.tokens_out if run else 0,
    )


def step_of(trace: Trace, number: int) -> TracedStep | None:
    """One step, masked; None if there is no such step. The actor computes, so it runs in its own event loop."""
    seen = masked_trace(trace)
    raw, step = (dict(_steps(each)).get(number) for each in (trace, seen))
    if raw is None or step is None:
        return None
    prompts = asyncio.run(prompts_asked(trace, raw)) if raw.stage and raw.stage.asks else {}
    stage = step.stage or Stage(actor=step.actor.name)
    asks = tuple(_ask(ask, prompts.get((ask.prompt, ask.variables))) for ask in stage.asks)
    return TracedStep(
        step=number,
        stage=step.name,
        lane=step.lane,
        took=tuple(map(_message, step.given)),
        gave=tuple(map(_message, step.outputs)),
        asks=asks if seen is trace else masked(asks),
        searches=tuple(TracedSearch(query=s.query, took_s=s.took_s, hits=s.hits) for s in stage.searches),
        fallback=stage.fallback,
    )


def _message(record: Record) -> TracedMessage:
    line = record.data.partition(b"\n")[0]
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        line = b"null"
    return TracedMessage(type=record.key.type, lane=record.key.lane, message=msgspec.Raw(line))


def _ask(ask: AskRecord, prompt: Rendered | None) -> TracedAsk:
    return TracedAsk(
        **same_fields(ask, TracedAsk),
        same_version=prompt is None or ask.version in ("", prompt.version),
        system=prompt.system if prompt else "",
        user=prompt.user if prompt else "",
        reply=ask.said,
    )
