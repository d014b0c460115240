"""The device's Prometheus metrics: counted per request as it ends, gauges read from the device at each scrape."""

from collections.abc import Callable, Iterator

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
        name = "groundwire_device"
        self._requests = Counter(
            f"{name}_requests", "Requests ended", ("operation", "prompt", "ending"), registry=registry
        )
        self._tokens = Counter(f"{name}_tokens", "Tokens by kind", ("kind",), registry=registry)
        self._queue = Histogram(
            f"{name}_queue_seconds", "Wait for a row", ("priority",), buckets=SECONDS, registry=registry
        )
        self._prefill = Histogram(f"{name}_prefill_seconds", "Start to first token", buckets=SECONDS, registry=registry)
        self._decode = Histogram(f"{name}_decode_seconds", "First to last token", buckets=SECONDS, registry=registry)
        self._replays = Counter(f"{name}_replays", "Requests restarted after a fault", registry=registry)
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


#: Name after `groundwire_device_`, help, and the view's field.
GAUGES = (
    ("rows_decoding", "Rows in the batch", "rows_decoding"),
    ("rows_prefilling", "Prompts being prefilled", "rows_prefilling"),
    ("queue_age_seconds", "Longest wait in the queue", "queue_age_s"),
    ("step_age_seconds", "Duration of the running step so far", "step_age_s"),
    ("pinned_prefixes", "Pinned prompt prefixes", "pinned_prefixes"),
    ("shared_prefixes", "Shared prompt prefixes", "shared_prefixes"),
    ("prefix_bytes", "Memory of kept prefixes", "prefix_bytes"),
    ("memory_bytes", "Memory in use", "memory_bytes"),
    ("memory_limit_bytes", "Memory available to models", "memory_limit_bytes"),
    ("faults", "Failed steps since the start", "faults"),
)


class _Gauges(Collector):
    def __init__(self, view: Callable[[], DeviceView]) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        view = self._view()
        yield GaugeMetricFamily("groundwire_device_ready", "1 if requests are served", float(view.state == "ready"))
        for name, help_line, field in GAUGES:
            yield GaugeMetricFamily(f"groundwire_device_{name}", help_line, float(getattr(view, field)))
        waiting = GaugeMetricFamily("groundwire_device_waiting", "Requests without a row", labels=["priority"])
        for priority, count in view.waiting.items():
            waiting.add_metric([priority], count)
        yield waiting
