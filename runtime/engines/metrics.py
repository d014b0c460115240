"""The device's Prometheus metrics: counted per request as it ends, gauges read from the device at each scrape."""

from collections.abc import Callable, Iterator
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from runtime.engines.engine import DeviceView, RequestRecord

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)

# All names:
#   groundwire_device_requests_total{operation,prompt,ending}   groundwire_device_tokens_total{kind}
#   groundwire_device_queue_seconds{priority}   groundwire_device_prefill_seconds   groundwire_device_decode_seconds
#   groundwire_device_replays_total   and the gauges of GAUGES below


class DeviceMetrics:
    """Pass `observe` to the engine as `on_record`; `view` is the engine's own."""

    def __init__(self, registry: CollectorRegistry, view: Callable[[], DeviceView]) -> None:
        counter, times = partial(Counter, registry=registry), partial(Histogram, registry=registry, buckets=SECONDS)
        self._requests = counter("groundwire_device_requests", "Requests ended", ("operation", "prompt", "ending"))
        self._tokens = counter("groundwire_device_tokens", "Tokens by kind", ("kind",))
        self._queue = times("groundwire_device_queue_seconds", "Wait for a row", ("priority",))
        self._prefill = times("groundwire_device_prefill_seconds", "Start to first token")
        self._decode = times("groundwire_device_decode_seconds", "First to last token")
        self._replays = counter("groundwire_device_replays", "Requests restarted after a fault")
        registry.register(_Gauges(view))

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


class _Gauges(Collector):
    def __init__(self, view: Callable[[], DeviceView]) -> None:
        self._view = view

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
