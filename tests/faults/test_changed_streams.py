"""A client that changes the configuration of our streams stops nothing: the change is undone and reported."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from faststream.nats import NatsBroker

from bus.transport import restoring
from bus.transport.configuration import changed, marked, streams
from bus.transport.connection import connect, declare_streams
from bus.transport.health import Health, process_health
from bus.transport.settings import BusSettings
from bus.wire.subjects import EVENTS, RUNS
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.bus.wires import Server
from tests.polling import until
from tests.whole import Whole, whole

QUESTION = "How many days until refunds are paid?"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "nats")
    made.start()
    yield made
    made.kill()


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restoring, "LOOK_S", 0.2)


async def subscribe_with_faststream(url: str, subject: str, stream: str) -> NatsBroker:
    """An ordinary integration, which declares the stream that it names."""
    broker = NatsBroker(url, logger=None, graceful_timeout=2.0)

    @broker.subscriber(subject, stream=stream)
    async def take(body: bytes) -> None:
        """Read and forget."""

    await broker.start()
    return broker


async def config_of(run: Whole, stream: str) -> dict[str, object]:
    return (await run.journal.js.stream_info(stream)).config.as_dict()


@pytest.mark.parametrize(("stream", "subject"), [(EVENTS, "gw.event.demo"), (RUNS, "gw.run_finished.demo.main")])
async def test_stream_declared_by_a_subscriber_is_restored(
    server: Server, tmp_path: Path, stream: str, subject: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with whole(tmp_path, ExtractiveEngine(), url=server.url) as run:
        before, restarts = await config_of(run, stream), run.worker.watch.restarts
        with caplog.at_level(logging.WARNING, "groundwire.bus"):
            broker = await subscribe_with_faststream(server.url, subject, stream)
            told = await until(lambda: run.worker.watch.down.get(f"the stream {stream}", ""))
        assert "another client has changed it: max_msg_size -1, allow_direct False" in told
        assert (restarts[f"the stream {stream}"], told.removesuffix("; set back") in caplog.text) == (1, True)
        assert not process_health(Health(ready=True), run.worker.watch).ready
        assert await config_of(run, stream) == before
        assert (await run.ask(QUESTION))[1].outcome == "answered"
        await until(lambda: process_health(Health(ready=True), run.worker.watch).ready)
        await broker.stop()


async def test_irreversible_change_is_reported_and_the_rest_restored(server: Server, tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine(), url=server.url) as run:
        config = (await run.journal.js.stream_info(EVENTS)).config
        await run.journal.js.update_stream(config.evolve(allow_direct=False, deny_purge=True))
        told = await until(lambda: run.worker.watch.down.get("the look at streams and consumers", ""))
        assert "deny_purge True" in told
        assert "nats stream rm EVENTS" in told
        assert (await run.ask(QUESTION))[1].outcome == "answered"


async def test_fields_we_do_not_set_stay(server: Server, tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine(), url=server.url) as run:
        config = (await run.journal.js.stream_info(EVENTS)).config
        assert config.metadata is not None
        named = config.metadata | {"owner": "team"}
        await run.journal.js.update_stream(config.evolve(description="ours", metadata=named, max_age=300.0))
        await until(lambda: run.worker.watch.restarts[f"the stream {EVENTS}"] == 1)
        found = (await run.journal.js.stream_info(EVENTS)).config
        assert found.metadata is not None
        assert (found.description, found.metadata["owner"], found.max_age) == ("ours", "team", config.max_age)


async def test_consumer_declared_by_another_client_is_restored(server: Server, tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine(), url=server.url) as run:
        before = (await run.journal.js.consumer_info(RUNS, "retrieve")).config
        await run.journal.js.add_consumer(RUNS, before.evolve(filter_subject="gw.nothing.*.*", max_deliver=1))
        told = await until(lambda: run.worker.watch.down.get("the consumer retrieve", ""))
        assert "filter_subject 'gw.nothing.*.*', max_deliver 1" in told
        assert (await run.ask(QUESTION))[1].outcome == "answered"
        assert (await run.journal.js.consumer_info(RUNS, "retrieve")).config == before


def test_process_with_other_settings_is_not_a_foreign_client() -> None:
    """Two processes would set back one another's limits for ever."""
    ours, theirs = streams(BusSettings())[EVENTS], streams(BusSettings(events_max_age_s=60.0))[EVENTS]
    assert changed(marked(theirs), ours) == []
    assert changed({**marked(theirs), "max_age": 0}, ours) == ["max_age 0"]
    assert changed({**theirs}, ours) == ["max_age 60000000000"]


async def test_correct_configuration_is_not_rewritten(server: Server) -> None:
    """A process that starts while the disk is full must find nothing to write."""
    client = await connect(server.url, name="test")
    js, settings = client.jetstream(timeout=2.0), BusSettings(url=server.url)
    await declare_streams(js, settings)
    updates = await client.subscribe("$JS.EVENT.ADVISORY.STREAM.UPDATED.*")
    await declare_streams(js, settings)
    await declare_streams(js, BusSettings(url=server.url, events_max_age_s=999.0))
    first = await updates.next_msg(timeout=5.0)
    assert first.subject.endswith(f".{EVENTS}"), "only what is another now is declared"
    await client.close()
