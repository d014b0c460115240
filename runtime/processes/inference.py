"""The inference process: owns the device, renders prompts, runs the engine, caches replies.

It serves `gw.ask`. Replies to prompts declared `remembered` are cached for an hour by prompt version, model and variables
(the question and its evidence), so that the same question over the same evidence gets the same answer; failures are not.
"""

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
from cachetools import TTLCache
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bus.journal.records import AskRecord
from bus.powers.asking import AskRequest, AskServer
from bus.transport.connection import connect, keep_trying
from bus.transport.health import Watch, answer_health, answer_text
from bus.transport.users import INFERENCE
from bus.wire.errors import BadReply, Unavailable
from bus.wire.messages import same_fields
from bus.wire.subjects import is_canary
from prompts.contracts import PROMPTS
from prompts.files import Rendered
from runtime.engines.engine import (
    Delta,
    Device,
    DeviceView,
    Engine,
    Finished,
    Remote,
    Request,
    RequestRecord,
    Wiring,
)
from runtime.engines.rendering import Renderer, Routes, make_engine, model_for
from runtime.processes.device_lock import DeviceLock
from runtime.settings import InferenceSettings, Settings

log = logging.getLogger("groundwire.inference")

_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}
_DECODERS = {prompt.name: msgspec.json.Decoder(prompt) for prompt in PROMPTS}


class Inference:
    """Answers asks with the process's engine, or with the engine that a profile names for the prompt."""

    def __init__(self, engine: Engine, settings: InferenceSettings) -> None:
        self.routes = Routes(engine, lambda name: make_engine(msgspec.structs.replace(settings, engine=name, model="")))
        self.renderer = Renderer()
        #: Replies to `remembered` prompts, by what they depend on; the least recently used is evicted first.
        self.answers: TTLCache[str, AskRecord] = TTLCache(settings.cache_entries, settings.cache_s)
        self.served = 0
        self._proven: set[str] = set()  # the engines that did what they were asked last

    async def answer(self, ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        """Yield the pieces of the reply, then its record. Raises Failure."""
        if ask.prompt not in _BY_NAME:
            raise BadReply(f"no prompt is called {ask.prompt!r}; there are {', '.join(_BY_NAME)}")
        variables = _DECODERS[ask.prompt].decode(ask.variables)
        engine, model = await self.routes.find(model_for(ask.prompt, ask.profile))
        if is_canary(ask.run_id) and isinstance(engine, Remote) and engine.name in self._proven:
            engine, model = await self._instead(engine)
        rendered = None
        if engine.needs_rendering:
            rendered = _limited(self.renderer.render(variables, ask.profile), ask.max_tokens, model)
        kept_here = self.renderer.remembered(ask.prompt) and not ask.already_shown and self.answers.maxsize
        key = _key(ask, engine, rendered) if kept_here else ""
        if key and (kept := self.answers.get(key)):
            yield kept.text
            yield msgspec.structs.replace(kept, cached=True)
            return
        now = time.time()
        request = Request(
            request_id=f"{ask.run_id}.{ask.actor}",
            variables=variables,
            rendered=rendered,
            priority=ask.priority,
            deadline=asyncio.get_running_loop().time() + max(0.0, ask.deadline - now),
            already_shown=ask.already_shown,
            size=len(bytes(ask.variables)),
            max_tokens=ask.max_tokens,
        )
        self.served += 1
        self._proven.discard(engine.name)
        async for part in engine.generate(request):
            if isinstance(part, Delta):
                yield part.text
            else:
                self._proven.add(engine.name)
                record = record_of(ask.prompt, rendered, part, seed=request.seed)
                if key:
                    self.answers[key] = record
                yield record

    async def _instead(self, engine: Remote) -> tuple[Engine, str]:
        """What replies to readiness's own question: the rules, since a server that is looked after need not wake its model.

        Raises Unavailable if it cannot be used now; it is then asked once it can.
        """
        if engine.away:
            self._proven.clear()
            raise Unavailable(engine.away)
        return await self.routes.find(InferenceSettings().engine)


def _limited(rendered: Rendered, max_tokens: int, model: str) -> Rendered:
    """The prompt for that model, of prose with no more tokens than asked for: JSON that is cut off is none."""
    most = rendered.max_tokens
    if max_tokens and rendered.schema is None:
        most = min(most, max_tokens)
    return msgspec.structs.replace(rendered, model=model, max_tokens=most)


def _key(ask: AskRequest, engine: Engine, rendered: Rendered | None) -> str:
    sampling = (rendered.version, rendered.model, f"{rendered.temperature} {rendered.max_tokens}") if rendered else ()
    limit = (str(ask.max_tokens),) if ask.max_tokens else ()
    what = "\0".join((engine.name, engine.model, *sampling, *limit)).encode()
    return ask.prompt + hashlib.blake2b(what + bytes(ask.variables), digest_size=16).hexdigest()


def record_of(prompt: str, rendered: Rendered | None, finished: Finished, *, seed: int) -> AskRecord:
    schema = rendered.schema if rendered is not None else None
    same = same_fields(finished, AskRecord)
    return AskRecord(
        **same | {name: round(same[name], 6) for name in ("queue_s", "prefill_s", "decode_s")},
        prompt=prompt,
        variables="",
        version=rendered.version if rendered is not None else "",
        schema=hashlib.blake2b(msgspec.json.encode(schema), digest_size=6).hexdigest() if schema else "",
        seed=seed,
    )


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Take the device, start the engine, answer asks until `stop` is set, and close.

    A second process on the same device waits on standby and reports it. Raises Unavailable when the engine cannot start.
    """
    client = await connect(settings.bus, name="groundwire-inference", user=INFERENCE.name)
    keep_trying(client)
    state: dict[str, object] = {"ready": False, "detail": f"{settings.inference.engine} is starting"}
    watch = Watch()
    engine, metrics = make(settings)

    def health() -> dict[str, object]:
        away = engine.away if isinstance(engine, Remote) else ""
        return {"ready": False, "detail": away} if away else state

    await answer_health(client, "inference", health, watch)
    lock = DeviceLock(Path(settings.inference.lock) if settings.inference.lock else None)
    if engine.owns_device:
        await lock.acquire(lambda why: state.update(detail=why))
        state["detail"] = f"loading {engine.model}"
    await engine.start()
    if isinstance(engine, Remote):
        watch.keep("the look at the model server", engine.look_after)
    inference = Inference(engine, settings.inference)
    close = await AskServer(client, inference.answer, watch=watch).start()
    await answer_text(client, "gw.metrics.inference", lambda: generate_latest(metrics))
    state |= {"ready": True, "detail": f"{engine.name} {engine.model}"}
    await stop.wait()
    await close()
    await inference.routes.close()
    await engine.close()
    lock.release()
    await client.close()


def make(settings: Settings) -> tuple[Engine, CollectorRegistry]:
    """The engine, with metrics attached, and set to end the process if its device hangs."""
    registry = CollectorRegistry()
    renderer = Renderer()
    observed: list[DeviceMetrics] = []

    def observe(record: RequestRecord) -> None:
        if not is_canary(record.request_id):
            for each in observed:
                each.observe(record)

    wiring = Wiring(
        warm=renderer.constants,
        render=lambda variables: renderer.render(variables, "general"),
        on_record=observe,
        on_broken=_end_process,
    )
    engine = make_engine(settings.inference, wiring)
    if isinstance(engine, Device):
        observed.append(DeviceMetrics(registry, engine.view))
    return engine, registry


def _end_process(why: str) -> None:
    """End the process at once, as a hanging device cannot be closed; its supervisor starts another."""
    log.error("%s", why)
    os._exit(70)


SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)

# All names:
#   groundwire_device_requests_total{operation,prompt,ending}   groundwire_device_tokens_total{kind}
#   groundwire_device_queue_seconds{priority}   groundwire_device_prefill_seconds   groundwire_device_decode_seconds
#   groundwire_device_replays_total   and the gauges of GAUGES
#: Help by the view's field, which is the name after `groundwire_device_` with its unit written out.
GAUGES = {
    "rows_decoding": "Rows in the batch",
    "rows_prefilling": "Prompts being prefilled",
    "queue_age_s": "Longest wait in the queue",
    "step_age_s": "Duration of the running step so far",
    "pinned_prefixes": "Pinned prompt prefixes",
    "shared_prefixes": "Shared prompt prefixes",
    "prefix_bytes": "Memory of kept prefixes",
    "memory_bytes": "Memory in use",
    "memory_limit_bytes": "Memory available to models",
    "faults": "Failed steps since the start",
}


class DeviceMetrics(Collector):
    """Pass `observe` to the engine as `on_record`; `view` is the engine's own."""

    def __init__(self, registry: CollectorRegistry, view: Callable[[], DeviceView]) -> None:
        counter, times = partial(Counter, registry=registry), partial(Histogram, registry=registry, buckets=SECONDS)
        self._requests = counter("groundwire_device_requests", "Requests ended", ("operation", "prompt", "ending"))
        self._tokens = counter("groundwire_device_tokens", "Tokens by kind", ("kind",))
        self._queue = times("groundwire_device_queue_seconds", "Wait for a row", ("priority",))
        self._prefill = times("groundwire_device_prefill_seconds", "Start to first token")
        self._decode = times("groundwire_device_decode_seconds", "First to last token")
        self._replays = counter("groundwire_device_replays", "Requests restarted after a fault")
        self._view = view
        registry.register(self)

    def observe(self, record: RequestRecord) -> None:
        self._requests.labels(record.operation, record.prompt, record.ending).inc()
        counts = {
            "cached": record.tokens_cached,
            "prefilled": record.tokens_prefilled,
            "forced": record.tokens_forced,
            "decoded": record.tokens_out - record.tokens_forced,
        }
        for kind, count in counts.items():
            self._tokens.labels(kind).inc(count)
        self._queue.labels(record.priority).observe(record.queue_s)
        self._prefill.observe(record.prefill_s)
        self._decode.observe(record.decode_s)
        self._replays.inc(record.replays)

    def collect(self) -> Iterator[Metric]:
        view = self._view()
        yield GaugeMetricFamily("groundwire_device_ready", "1 if requests are served", float(view.state == "ready"))
        for field, help_line in GAUGES.items():
            name = f"{field.removesuffix('_s')}_seconds" if field.endswith("_s") else field
            yield GaugeMetricFamily(f"groundwire_device_{name}", help_line, float(getattr(view, field)))
        waiting = GaugeMetricFamily("groundwire_device_waiting", "Requests without a row", labels=["priority"])
        for priority, count in view.waiting.items():
            waiting.add_metric([priority], count)
        yield waiting
