"""Every finished run is counted once, whichever way it came in; the text keeps Prometheus's rules."""

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bus.journal.records import RECEIVED, VIA, Record, encode
from bus.runs.story import story_of
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.parts import Flag
from bus.wire.settled import Settled, WithheldSentence
from bus.wire.subjects import finished, key_of
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.telemetry.run_metrics import RunCounter, RunMetrics, counted
from tests.clients.installed import output_of
from tests.polling import until
from tests.runtime.served import edge_of
from tests.whole import Whole, whole

QUESTION = "How many days until refunds are paid?"
type Samples = dict[tuple[str, ...], float]


@dataclass
class House:
    run: Whole
    http: aiohttp.ClientSession

    async def text(self) -> str:
        async with self.http.get("/metrics") as response:
            assert response.status == 200
            return await response.text()

    async def samples(self, name: str) -> Samples:
        """The samples of that name by the values of their labels, in the order of the labels' names."""
        families = text_string_to_metric_families(await self.text())
        found = (sample for family in families for sample in family.samples if sample.name == name)
        return {tuple(value for _, value in sorted(sample.labels.items())): sample.value for sample in found}


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole(tmp_path_factory.mktemp("counted"), ExtractiveEngine()) as run:
        # Two processes, as it were: the runs end in the one that only reports.
        journal = run.worker.journal
        counter = RunCounter(journal, lambda: True)
        reporter = RunCounter(journal, lambda: False)
        run.janitor.on_end, run.worker.stages.on_end = counter.anywhere, reporter.here
        await counter.start()
        await reporter.start()
        bus = run.users.bus(run.settings, "edge")
        async with edge_of(bus, tmp_path_factory.mktemp("state")) as url, aiohttp.ClientSession(url) as http:
            yield House(run, http)
        for each in (counter, reporter):
            assert not each.watch.restarts
            await each.stop()


WORDS = [{"role": "user", "content": QUESTION}]
PARTS = [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}]
#: How each way in by POST is taken; `Accept` where it matters.
POSTS: dict[str, tuple[str, dict[str, object], str]] = {
    "sse": ("/v1/runs", {"question": QUESTION}, "text/event-stream"),
    "json": ("/v1/runs", {"question": QUESTION}, "application/json"),
    "chat": ("/v1/chat/completions", {"model": "general", "messages": WORDS}, "*/*"),
    "responses": ("/v1/responses", {"model": "general", "input": QUESTION}, "*/*"),
    "ui": ("/api/chat", {"id": "counted", "messages": PARTS}, "*/*"),
}


async def test_every_way_in_is_counted(house: House) -> None:
    for path, body, accept in POSTS.values():
        async with house.http.post(path, json=body, headers={"Accept": accept}) as response:
            assert response.status == 200, await response.text()
            await response.read()
    asked: dict[str, object] = {"question": QUESTION}
    async with house.http.ws_connect("/v1/ws") as socket:
        await socket.send_json(asked)
        while (await socket.receive_json())["event"]["type"] != "DONE":
            pass
    await house.run.journal.js.publish("gw.question_asked.by-nats", json.dumps(asked).encode())
    await house.run.journal.js.publish("gw.question_asked.bad", b"{}")
    ways = (*POSTS, "websocket", "nats")

    async def all_told() -> bool:
        return sum((await house.samples("groundwire_runs_total")).values()) == len(ways) + 1

    await until(all_told)
    runs = await house.samples("groundwire_runs_total")
    assert runs == {("answered", "", via): 1.0 for via in ways} | {("failed", "invalid", "nats"): 1.0}
    first = await house.samples("groundwire_run_first_checked_seconds_count")
    assert first == dict.fromkeys(((via,) for via in ways), 1.0)
    assert (await house.samples("groundwire_run_seconds_count"))[("nats",)] == 2.0
    assert {"classify_intent", "retrieve", "stream_answer"} <= {
        stage for (stage,) in await house.samples("groundwire_stage_seconds_count")
    }


async def test_the_text_passes_promtool(house: House) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian's package prometheus has it)")
    await house.run.ask(QUESTION)
    assert await output_of(promtool, "check", "metrics", stdin=await house.text()) == ""


async def test_names_keep_prometheuss_rules(house: House) -> None:
    """What promtool looks at, for where there is none."""
    families = list(text_string_to_metric_families(await house.text()))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        names = {sample.name for sample in family.samples} or {family.name}
        assert family.documentation, family.name
        assert family.type != "unknown", family.name
        assert not any(name.endswith(("_ms", "_kb", "_mb", "_minutes")) for name in names), names
        if family.type == "gauge":
            assert not any(name.endswith(("_total", "_count", "_sum", "_bucket", "_info")) for name in names), names


def records(settled: Settled, **headers: str) -> list[Record]:
    asked = key_of(QuestionAsked, "r")
    return [
        Record(asked, 1, 100.0, encode(QuestionAsked(question="a")), headers),
        Record(finished("r"), 2, 102.5, encode(RunFinished(settled=settled)), {}),
    ]


@pytest.mark.parametrize(
    ("headers", "via"), [({}, "nats"), ({VIA: "chat"}, "chat"), ({VIA: 'x"} 1\n'}, "nats"), ({VIA: "a" * 40}, "nats")]
)
def test_interface_label_is_a_plain_name(headers: dict[str, str], via: str) -> None:
    assert f'groundwire_runs_total{{outcome="declined",reason="",via="{via}"}} 1.0' in text_after(
        records(Settled(outcome="declined"), **headers)
    )


@pytest.mark.parametrize(
    ("received", "took_s"), [("99.0", 3.5), ("101.0", 2.5), ("nan", 2.5), ("x", 2.5), ("-1e300", 3602.5)]
)
def test_run_duration_matches_the_client_wait(received: str, took_s: float) -> None:
    assert f'groundwire_run_seconds_sum{{via="nats"}} {took_s}\n' in text_after(
        records(Settled(outcome="answered"), **{RECEIVED: received})
    )


def text_after(*runs: list[Record]) -> str:
    metrics = RunMetrics()
    for each in runs:
        if (run := counted(story_of(each))) is not None:
            metrics.count(run)
    return metrics.text().decode()


def test_withheld_sentences_are_counted_by_flag() -> None:
    number, quote = (
        Flag(kind=kind, strength="strong", words="w", evidence_n=(), why="y")
        for kind in ("fabricated_number", "fabricated_quote")
    )
    withheld = (WithheldSentence(text="a", flags=(number, number, quote)), WithheldSentence(text="b", flags=(number,)))
    text = text_after(records(Settled(outcome="answered", withheld=withheld)))
    assert 'groundwire_run_flags_total{flag="fabricated_number",via="nats"} 2.0' in text
    assert 'groundwire_run_flags_total{flag="fabricated_quote",via="nats"} 1.0' in text
    assert 'groundwire_run_sentences_withheld_total{via="nats"} 2.0' in text
    assert "groundwire_run_first_checked_seconds_count{" not in text


def test_ways_in_are_bounded() -> None:
    text = text_after(*(records(Settled(outcome="answered"), **{VIA: f"way_{n}"}) for n in range(100)))
    assert text.count("groundwire_runs_total{") == 25


def test_unfinished_run_is_not_counted() -> None:
    assert counted(story_of(records(Settled(outcome="answered"))[:1])) is None
