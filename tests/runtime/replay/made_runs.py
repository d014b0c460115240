"""Runs made in this process alone, over the pages of `tests.whole`: no nats-server, no index, no model."""

import time
from collections.abc import Awaitable, Callable

from actors.pipeline import pipeline
from bus.journal.records import Record, encode
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import Key
from runtime.engines.engine import Engine
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.forking.fork import fork
from runtime.forking.live_powers import Live
from runtime.processes.inference import Inference
from runtime.replay.trace import Trace
from runtime.settings import InferenceSettings
from tests.whole import find

QUESTION = "When are refunds paid after the return?"


def live_with(engine: Engine | None = None, search: Callable[[SearchRequest], Awaitable[SearchReply]] = find) -> Live:
    return Live(Inference(engine or ExtractiveEngine(), InferenceSettings(cache_entries=0)), search)


async def made(
    question: str = QUESTION, live: Live | None = None, *, run_id: str = "made", has_model: bool = False
) -> Trace:
    """The run that a question becomes: a fork at its first stage of a run that came to nothing else."""
    asked = Record(Key("question_asked", "asked"), 1, time.time(), encode(QuestionAsked(question=question)), {})
    live = live or live_with()
    live.has_model = has_model
    trace = await fork(Trace("asked", (asked,)), pipeline(), "classify_intent", run_id, live)
    return Trace(run_id, tuple(_own(record) for record in trace.records), trace.frames)


def _own(record: Record) -> Record:
    headers = {
        name: value
        for name, value in record.headers.items()
        if not name.startswith(("Gw-Parent", "Gw-Forked", "Gw-Taken"))
    }
    return Record(record.key, record.sequence, record.time, record.data, headers)
