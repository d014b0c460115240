"""The actors process: all stages of the pipeline, on one bus connection."""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from actors.pipeline import pipeline
from actors.question.profile import preload
from actors.question.resolved import Defaults, resolving_under
from bus.delivery.admission import Admission
from bus.delivery.limit import Limit, least_at_once
from bus.delivery.rehearsal import rehearse
from bus.delivery.subscribing import Alone
from bus.delivery.worker import Worker
from bus.journal.access import groups_named
from bus.journal.janitor import Janitor
from bus.journal.pruner import Pruner
from bus.runs.requests import serve_runs
from bus.runs.runs import Runs
from bus.transport.connection import connect, declare_streams
from bus.transport.health import answer_health
from bus.transport.users import ACTORS
from bus.wire.errors import Unavailable
from bus.wire.messages import RunFinished
from index.java.jvm import limit_blas
from index.languages import LANGUAGES
from index.languages.detection import detect, detect_in_question
from index.languages.meaning import nearness
from index.languages.names import named
from runtime.engines.rendering import make_engine
from runtime.processes.inference import Inference
from runtime.settings import Settings
from runtime.telemetry.run_metrics import RunCounter

if TYPE_CHECKING:
    from runtime.telemetry.otlp import Exporter


log = logging.getLogger("groundwire.bus")

#: How long a cluster may take until it has leaders, in seconds.
PATIENCE_S = 60.0


def defaults_in(settings: Settings) -> Defaults:
    return Defaults(settings.verifier.numeric_promote, settings.answers.voice, has_model=not settings.without_model)


async def serve(settings: Settings, stop: asyncio.Event, *, name: str = "") -> None:
    """Run actors until `stop` is set; `name` identifies this process in health checks. Without one it serves a lone question.

    Raises GraphError, Poison for an invalid profile, Unavailable when the bus cannot be reached.
    """
    limit_blas()  # more threads only wait for each other on matrices of this size
    graph = pipeline()
    if name:
        preload()
        detect("The first call loads the words of both.")
        detect_in_question("key words")
        nearness("The first call", ["loads the vectors."])
        for language in LANGUAGES:
            named(LANGUAGES, language)
    with resolving_under(defaults_in(settings)):
        first = await connect(settings.bus, name="groundwire-declare", user=ACTORS.name)
        await declare_streams(first.jetstream(timeout=2.0), settings.bus)
        await first.close()
        ungranted, inference = groups_named(settings.access.integrations), await _in_place(settings)
        answer = inference.answer if inference is not None else None
        least = least_at_once(settings.inference.batch)
        worker = await _started(
            lambda: Worker(
                graph,
                settings.bus,
                ungranted=ungranted,
                answer=answer,
                intake=Admission(Limit(least)),
                subscriptions=None if name else Alone(settings.bus),
            )
        )
        closers = [actor.name for actor in graph.actors if actor.takes is RunFinished]
        pruner = Pruner(worker.journal, settings.bus, closers)
        await pruner.start()
        janitor = Janitor(worker.journal, settings.bus, lambda: pruner.working)
        await janitor.start()
        counter = RunCounter(worker.journal, lambda: pruner.working)
        worker.stages.on_end, janitor.on_end = counter.here, counter.anywhere
        await counter.start()
        watches = [worker.watch, janitor.watch, pruner.watch, counter.watch]
        if (exporter := await _exporter(settings, worker, lambda: pruner.working)) is not None:
            watches.append(exporter.watch)
        stop_requests = await serve_runs(worker.client, Runs(worker.journal))
        if name and inference is not None and (settings.index.place or settings.index.bucket):
            rehearsing = asyncio.ensure_future(rehearse(worker.client, graph, inference.answer))
            stopping = asyncio.ensure_future(stop.wait())
            await asyncio.wait([rehearsing, stopping], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            rehearsing.cancel()
            failure, _ = await asyncio.gather(rehearsing, stopping, return_exceptions=True)
            if isinstance(failure, Exception):
                log.error("the first questions of this process may be slow: its rehearsal failed: %r", failure)
        await answer_health(worker.client, name or ACTORS.name, worker.health, *watches)
        await stop.wait()
        await stop_requests()
        if exporter is not None:
            await exporter.stop()
        await counter.stop()
        await pruner.stop()
        await janitor.stop()
        await worker.stop()
        if inference is not None:
            await inference.routes.close()


async def _in_place(settings: Settings) -> Inference | None:
    """What answers asks here without a model, and with the models that profiles name for some prompts."""
    if not settings.without_model:
        return None
    engine = make_engine(settings.inference)
    await engine.start()
    return Inference(engine, settings.inference)


async def _started(make: Callable[[], Worker]) -> Worker:
    """A worker at work; a cluster that elects its leaders is waited for. Raises Unavailable."""
    give_up = asyncio.get_running_loop().time() + PATIENCE_S
    while True:
        worker = make()
        try:
            await worker.start()
            return worker
        except Unavailable as problem:
            await worker.stop()
            if asyncio.get_running_loop().time() > give_up:
                raise
            log.warning("%s; trying again", problem)
            await asyncio.sleep(1.0)


async def _exporter(settings: Settings, worker: Worker, working: Callable[[], bool]) -> "Exporter | None":
    """What sends spans, at work, where the settings ask for it. Raises Unavailable."""
    if not settings.telemetry.otlp:
        return None
    from runtime.telemetry.otlp import Exporter

    made = Exporter(settings.telemetry, worker.journal, working)
    await made.start()
    return made
