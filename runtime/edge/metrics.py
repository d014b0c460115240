"""Every Prometheus metric of the edge, and what every process says of its messages and tasks."""

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from bus.health import ProcessHealth


class Metrics:
    """A registry of its own, so that two edges in one process stay apart."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "groundwire_edge_requests", "Requests answered.", ["route", "method", "status"], registry=self.registry
        )
        self.asked = Counter(
            "groundwire_edge_questions", "Questions accepted.", ["profile", "transport"], registry=self.registry
        )
        self.streams = Gauge("groundwire_edge_streams", "Streams open now.", ["transport"], registry=self.registry)
        self.events = Counter("groundwire_edge_events", "Events sent to clients.", registry=self.registry)
        self.writes = Counter("groundwire_edge_writes", "Socket writes that carried events.", registry=self.registry)
        self.left = Counter("groundwire_edge_left", "Clients that disconnected before DONE.", registry=self.registry)
        self.slow = Counter(
            "groundwire_edge_slow", "Clients disconnected because they read too slowly.", registry=self.registry
        )
        self.first_event_s = Histogram(
            "groundwire_edge_first_event_seconds",
            "From the request to its first event.",
            registry=self.registry,
            buckets=(0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30),
        )
        self.run_s = Histogram(
            "groundwire_edge_run_seconds",
            "From the request to DONE.",
            registry=self.registry,
            buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120),
        )

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _Processes(Collector):
    def __init__(self, processes: Mapping[str, ProcessHealth]) -> None:
        self._processes = processes

    def collect(self) -> Iterator[Metric]:
        aside = CounterMetricFamily(
            "groundwire_set_aside", "Messages that could not be read.", labels=["process", "kind"]
        )
        restarts = CounterMetricFamily(
            "groundwire_task_restarts", "Background tasks that were started again.", labels=["process", "task"]
        )
        for name, health in self._processes.items():
            for kind, count in health.set_aside.items():
                aside.add_metric([name, kind], count)
            for task, count in health.restarts.items():
                restarts.add_metric([name, task], count)
        yield from (aside, restarts)


def text_of_processes(processes: Mapping[str, ProcessHealth]) -> bytes:
    """What the processes, by name, say of themselves."""
    registry = CollectorRegistry()
    registry.register(_Processes(processes))
    return generate_latest(registry)
