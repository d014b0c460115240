"""Prometheus metrics of finished runs: one process of the actors counts all runs of the bus, the others replace it when it stops.

It follows the ends of runs and reads each run's records once. It counts from its start on, as a counter of Prometheus does; the
edge serves its text at `/metrics`.
"""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from bus.journal.journal import Journal
from bus.runs.story import RunStory, story_of
from bus.transport.connection import Client
from bus.transport.envelope import set_aside
from bus.transport.follow import follow
from bus.transport.health import answer_text
from bus.transport.watched import Watch
from bus.wire.messages import RunFinished
from bus.wire.subjects import RUNS, BadId, consumed_subject, is_canary, parse

#: The counting process answers here.
SUBJECT = "gw.metrics.runs"
#: Labels of `via`; an integration may name any.
_MOST_ROUTES = 24
_OTHER = "other"

_RUN_S = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120)
_STAGE_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

# All names:
#   groundwire_runs_total{via,outcome,reason}   groundwire_run_seconds{via}   groundwire_run_first_checked_seconds{via}
#   groundwire_run_sentences_total{via}   groundwire_run_sentences_withheld_total{via}   groundwire_run_flags_total{via,flag}
#   groundwire_stage_seconds{stage}   groundwire_stage_fallbacks_total{stage}   groundwire_tokens_total{model,direction}


class RunMetrics:
    """`count` each run once."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._routes: set[str] = set()
        self._runs = Counter(
            "groundwire_runs", "Runs that ended, by way in and how.", ["via", "outcome", "reason"], registry=registry
        )
        self._run_s = Histogram(
            "groundwire_run_seconds", "From the question to its end.", ["via"], registry=registry, buckets=_RUN_S
        )
        self._first_s = Histogram(
            "groundwire_run_first_checked_seconds",
            "From the question to the first checked sentence shown.",
            ["via"],
            registry=registry,
            buckets=_RUN_S,
        )
        self._sentences = Counter("groundwire_run_sentences", "Sentences drafted.", ["via"], registry=registry)
        self._withheld = Counter("groundwire_run_sentences_withheld", "Sentences withheld.", ["via"], registry=registry)
        self._flags = Counter(
            "groundwire_run_flags", "Sentences withheld, by each flag they had.", ["via", "flag"], registry=registry
        )
        self._stage_s = Histogram(
            "groundwire_stage_seconds", "A stage's work.", ["stage"], registry=registry, buckets=_STAGE_S
        )
        self._fallbacks = Counter(
            "groundwire_stage_fallbacks", "Stages answered by their fallback.", ["stage"], registry=registry
        )
        self._tokens = Counter("groundwire_tokens", "Tokens of all models.", ["model", "direction"], registry=registry)

    def count(self, run: RunStory) -> None:
        """Count a run with its question and its end; any other is left out."""
        settled, draft = run.settled, run.draft
        if not run.run_id or settled is None or run.finished_at is None:
            return
        via = self._route(run.via)
        reason = settled.reason or settled.unrun or ("internal" if settled.outcome == "failed" else "")
        self._runs.labels(via, settled.outcome, reason).inc()
        self._run_s.labels(via).observe(max(0.0, run.finished_at - run.received_at))
        if draft is not None and draft.question.release != "token" and run.first_shown_at:
            self._first_s.labels(via).observe(max(0.0, run.first_shown_at - run.received_at))
        self._sentences.labels(via).inc(len(draft.sentences) if draft else 0)
        self._withheld.labels(via).inc(len(settled.withheld))
        for sentence in settled.withheld:
            for flag in dict.fromkeys(flag.kind for flag in sentence.flags):
                self._flags.labels(via, flag).inc()
        for stage in (each.stage for each in run.stages):
            self._stage_s.labels(stage.actor).observe(stage.took_s)
            if stage.fallback:
                self._fallbacks.labels(stage.actor).inc()
            for ask in stage.asks:
                model = ask.model or ask.engine or "none"
                self._tokens.labels(model, "input").inc(ask.tokens_in)
                self._tokens.labels(model, "output").inc(ask.tokens_out)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def _route(self, via: str) -> str:
        if via not in self._routes and len(self._routes) >= _MOST_ROUTES:
            return _OTHER
        self._routes.add(via)
        return via


class RunCounter:
    """Counts while `working` returns true. `story`: a run that ended in this process; the others are read from the journal."""

    def __init__(
        self,
        client: Client,
        journal: Journal,
        working: Callable[[], bool],
        story: Callable[[str], RunStory | None] = lambda run_id: None,
    ) -> None:
        self.metrics = RunMetrics()
        self.watch = Watch()
        self._client = client
        self._journal = journal
        self._working = working
        self._story = story

    async def start(self) -> None:
        await answer_text(self._client, SUBJECT, self.metrics.text, only=self._working)
        self.watch.keep("the count of runs", self._run)

    async def stop(self) -> None:
        await self.watch.stop()

    async def _run(self) -> None:
        ends = [consumed_subject(RunFinished)]
        async for stored in follow(self._client, RUNS, ends, headers_only=True):
            try:
                run_id = parse(stored.subject).run_id
            except BadId as error:
                set_aside("subject", stored.subject, error)
                continue
            if self._working() and not is_canary(run_id):
                self.metrics.count(self._story(run_id) or story_of(await self._journal.run(run_id)))
