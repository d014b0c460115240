"""Every Prometheus metric: of the edge, of each process's messages and tasks, and of the journal."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from bus.delivery.admission import Admission
from bus.journal.pruner import JournalState
from bus.transport.health import ProcessHealth
from prompts.vocabulary import URGENCIES


class Metrics:
    """A registry of its own, so that two edges in one process stay apart."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._events = self._writes = 0
        counter = partial(Counter, registry=self.registry)
        self.requests = counter("groundwire_edge_requests", "Requests answered.", ["route", "method", "status"])
        self.questions = counter("groundwire_edge_questions", "Questions accepted.", ["profile", "transport"])
        self.streams = Gauge("groundwire_edge_streams", "Streams open now.", ["transport"], registry=self.registry)
        self.events = counter("groundwire_edge_events", "Events sent to clients.")
        self.writes = counter("groundwire_edge_writes", "Socket writes that carried events.")
        self.left = counter("groundwire_edge_left", "Clients that disconnected before DONE.")
        self.slow = counter("groundwire_edge_slow", "Clients disconnected because they read too slowly.")
        self.first_event_s = Histogram(
            "groundwire_edge_first_event_seconds",
            "From the request to its first event.",
            registry=self.registry,
            buckets=(0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30),
        )

    def sent(self, events: int) -> None:
        """Count one write and its events. Plain numbers until the metrics are read: a Counter takes its lock for each."""
        self._events += events
        self._writes += 1

    def text(self) -> bytes:
        self.events.inc(self._events)
        self.writes.inc(self._writes)
        self._events = self._writes = 0
        return generate_latest(self.registry)


@dataclass(frozen=True, slots=True)
class ProcessCollector(Collector):
    """The messages that each process could not read, and its tasks that were started again."""

    processes: Mapping[str, ProcessHealth]

    def collect(self) -> Iterator[Metric]:
        aside = CounterMetricFamily(
            "groundwire_set_aside", "Messages that could not be read.", labels=["process", "kind"]
        )
        restarts = CounterMetricFamily(
            "groundwire_task_restarts", "Background tasks that were started again.", labels=["process", "task"]
        )
        for name, health in self.processes.items():
            for kind, count in health.set_aside.items():
                aside.add_metric([name, kind], count)
            for task, count in health.restarts.items():
                restarts.add_metric([name, task], count)
        yield from (aside, restarts)


def journal_text(state: JournalState | None) -> bytes:
    """The metrics of the journal; empty when no process prunes it."""
    if state is None:
        return b""
    registry = CollectorRegistry()
    age_s = max(0.0, time.time() - state.oldest_at) if state.oldest_at else 0.0
    for kind, name, what, value in (
        (Gauge, "bytes", "Bytes that the journal takes.", state.size_bytes),
        (Gauge, "limit_bytes", "Bytes that it may take.", state.limit_bytes),
        (Gauge, "messages", "Records in the journal.", state.messages),
        (Gauge, "oldest_run_seconds", "Since the oldest run was asked.", age_s),
        (Gauge, "pinned_runs", "Pinned runs, as of the last whole walk.", state.pinned),
        (Gauge, "running_runs", "Runs without an end, as of the last whole walk.", state.running),
        (Counter, "pruned_runs", "Runs removed from the journal.", state.pruned_runs),
        (Counter, "pruned_bytes", "Bytes that they took, near enough.", state.pruned_bytes),
    ):
        kind(f"groundwire_journal_{name}", what, registry=registry).inc(value)
    return generate_latest(registry)


@dataclass(frozen=True, slots=True)
class AdmissionCollector(Collector):
    """The admissions, refusals and waiting questions of this edge, and its measured rates."""

    admission: Admission

    def collect(self) -> Iterator[Metric]:
        door, limit = self.admission, self.admission.limit
        decided = CounterMetricFamily(
            "groundwire_edge_admission", "Questions by what was decided.", labels=["priority", "decision"]
        )
        waiting = GaugeMetricFamily("groundwire_edge_waiting", "Questions that wait to begin.", labels=["priority"])
        wait = GaugeMetricFamily(
            "groundwire_edge_wait_seconds", "How long a question that comes now would wait.", labels=["priority"]
        )
        for urgency in URGENCIES:
            decided.add_metric([urgency, "admitted"], door.counts.admitted[urgency])
            decided.add_metric([urgency, "refused"], door.counts.refused[urgency])
            waiting.add_metric([urgency], door.waiting(urgency))
            wait.add_metric([urgency], door.wait_s(urgency))
        yield from (decided, waiting, wait)
        for name, meaning, value in (
            ("limit", "How many runs may be under way at once.", limit.at_once),
            ("under_way", "Runs under way, those that other processes admitted among them.", len(limit.runs)),
            ("rate", "Runs done in a second when there is enough to do; 0: not known.", limit.per_s),
            ("run_seconds", "The time within which nine of ten runs end; 0: not known.", limit.longest_s),
        ):
            yield GaugeMetricFamily(f"groundwire_edge_admission_{name}", meaning, value=value)
