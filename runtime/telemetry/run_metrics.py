"""Prometheus metrics of finished runs: one process of the actors counts all runs of the bus, the others replace it when it stops.

Each process reports the runs that its stages ended; the records of other runs, such as cancelled ones, are read once. It counts
from its start on, as a counter of Prometheus does; the edge serves its text at `/metrics`.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from functools import cache

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from bus.journal.journal import Journal
from bus.journal.records import CAUSE
from bus.runs.story import RunStory, story_of
from bus.transport.connection import take
from bus.transport.envelope import Frame
from bus.transport.follow import Stored
from bus.transport.health import Watch, answer_text
from bus.wire.errors import UNREADABLE
from bus.wire.subjects import is_canary

#: The counting process answers here.
SUBJECT = "gw.metrics.runs"
#: The other processes report here.
_REPORTS = "gw.metrics.run"
#: Labels of `via`; an integration may name any.
_MOST_ROUTES = 24
_OTHER = "other"

_RUN_S = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120)
_STAGE_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

# All names:
#   groundwire_runs_total{via,outcome,reason}   groundwire_run_seconds{via}   groundwire_run_first_checked_seconds{via}
#   groundwire_run_sentences_total{via}   groundwire_run_sentences_withheld_total{via}   groundwire_run_flags_total{via,flag}
#   groundwire_stage_seconds{stage}   groundwire_stage_fallbacks_total{stage}   groundwire_tokens_total{model,direction}


class CountedRun(msgspec.Struct, frozen=True, array_like=True):
    """What is counted of a run, times in seconds. `stages`: the actor, its time, and whether something else decided than its model.

    `tokens`: of a model, in and out. `first_s` is None where nothing was checked and shown.
    """

    via: str
    outcome: str
    reason: str
    run_s: float
    first_s: float | None
    sentences: int
    withheld: int
    flags: list[str]
    stages: list[tuple[str, float, bool]]
    tokens: list[tuple[str, int, int]]


def counted(run: RunStory) -> CountedRun | None:
    """None for a run without its question or its end."""
    settled, draft = run.settled, run.draft
    if not run.run_id or settled is None or run.finished_at is None:
        return None
    checked = draft is not None and draft.question.release != "token" and run.first_shown_at
    return CountedRun(
        via=run.via,
        outcome=settled.outcome,
        reason=settled.reason or settled.unrun or ("internal" if settled.outcome == "failed" else ""),
        run_s=max(0.0, run.finished_at - run.received_at),
        first_s=max(0.0, run.first_shown_at - run.received_at) if checked else None,
        sentences=len(draft.sentences) if draft else 0,
        withheld=len(settled.withheld),
        flags=[kind for each in settled.withheld for kind in dict.fromkeys(flag.kind for flag in each.flags)],
        stages=[(each.stage.actor, each.stage.took_s, bool(each.fallback)) for each in run.stages],
        tokens=[(ask.model or ask.engine or "none", ask.tokens_in, ask.tokens_out) for ask in run.asks],
    )


_report = msgspec.json.Decoder(CountedRun)


class RunMetrics:
    """`count` each run once."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._routes: set[str] = set()

        def counter(name: str, about: str, labels: list[str]) -> Callable[..., Counter]:
            return cache(Counter(name, about, labels, registry=self._registry).labels)

        def times(name: str, about: str, labels: list[str], buckets: tuple[float, ...]) -> Callable[..., Histogram]:
            return cache(Histogram(name, about, labels, buckets=buckets, registry=self._registry).labels)

        self._runs = counter("groundwire_runs", "Runs that ended, by way in and how.", ["via", "outcome", "reason"])
        self._run_s = times("groundwire_run_seconds", "From the question to its end.", ["via"], buckets=_RUN_S)
        first = "From the question to the first checked sentence shown."
        self._first_s = times("groundwire_run_first_checked_seconds", first, ["via"], buckets=_RUN_S)
        self._sentences = counter("groundwire_run_sentences", "Sentences drafted.", ["via"])
        self._withheld = counter("groundwire_run_sentences_withheld", "Sentences withheld.", ["via"])
        self._flags = counter("groundwire_run_flags", "Sentences withheld, by each flag they had.", ["via", "flag"])
        self._stage_s = times("groundwire_stage_seconds", "A stage's work.", ["stage"], buckets=_STAGE_S)
        overruled = "Stages where something else decided than the model that was asked."
        self._fallbacks = counter("groundwire_stage_fallbacks", overruled, ["stage"])
        self._tokens = counter("groundwire_tokens", "Tokens of all models.", ["model", "direction"])

    def count(self, run: CountedRun) -> None:
        via = self._route(run.via)
        self._runs(via, run.outcome, run.reason).inc()
        self._run_s(via).observe(run.run_s)
        if run.first_s is not None:
            self._first_s(via).observe(run.first_s)
        self._sentences(via).inc(run.sentences)
        self._withheld(via).inc(run.withheld)
        for flag in run.flags:
            self._flags(via, flag).inc()
        for stage, took_s, fallback in run.stages:
            self._stage_s(stage).observe(took_s)
            if fallback:
                self._fallbacks(stage).inc()
        for model, tokens_in, tokens_out in run.tokens:
            self._tokens(model, "input").inc(tokens_in)
            self._tokens(model, "output").inc(tokens_out)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def _route(self, via: str) -> str:
        if via not in self._routes and len(self._routes) >= _MOST_ROUTES:
            return _OTHER
        self._routes.add(via)
        return via


class RunCounter:
    """Counts while `working` returns true; otherwise it reports the runs that ended in this process."""

    def __init__(self, journal: Journal, working: Callable[[], bool]) -> None:
        self.metrics = RunMetrics()
        self.watch = Watch()
        self._client = journal.client
        self._journal = journal
        self._working = working
        self._since = time.time()
        self._ended: asyncio.Queue[RunStory | str] = asyncio.Queue()

    async def start(self) -> None:
        await answer_text(self._client, SUBJECT, self.metrics.text, only=self._working)
        await take(self._client, _REPORTS, self._reported)
        self.watch.keep("the count of runs", self._run)

    async def stop(self) -> None:
        await self.watch.stop()

    def here(self, run: RunStory) -> None:
        """A run has ended in this process."""
        self._ended.put_nowait(run)

    def anywhere(self, run_id: str, end: Stored) -> None:
        """A run has ended. If no stage has ended it, its records are to be read."""
        if end.time <= self._since:  # a janitor that takes over begins with old ones
            return
        self._since = end.time
        if CAUSE not in end.headers:
            self._ended.put_nowait(run_id)

    def _reported(self, frame: Frame) -> None:
        if self._working():
            with contextlib.suppress(*UNREADABLE):
                self.metrics.count(_report.decode(frame[3]))

    async def _run(self) -> None:
        while True:
            ended = await self._ended.get()
            story = story_of(await self._journal.run(ended)) if isinstance(ended, str) else ended
            if is_canary(story.run_id) or (run := counted(story)) is None:
                continue
            if self._working():
                self.metrics.count(run)
            else:
                await self._client.publish(_REPORTS, msgspec.json.encode(run))
