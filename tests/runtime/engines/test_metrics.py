"""Metrics and status of every device on the bus."""

import os

from prometheus_client import CollectorRegistry, generate_latest

from bus.transport.connection import connect
from runtime.commands.top import table
from runtime.engines.engine import DeviceView, RequestRecord
from runtime.engines.metrics import DeviceMetrics
from runtime.engines.watching import Watched, answer_views, views

VIEW = DeviceView(
    state="ready",
    model="tiny",
    rows_decoding=3,
    waiting={"answer": 0, "judge": 5},
    tokens_out=700,
    tokens_cached=300,
    tokens_prefilled=100,
    memory_bytes=2_000_000_000,
    memory_limit_bytes=8_000_000_000,
)
RECORD = RequestRecord(
    request_id="r1",
    operation="generate",
    prompt="verify_answer",
    version="v",
    engine="mlx",
    model="tiny",
    model_digest="d",
    priority="check",
    seed=0,
    schema="",
    ending="stop",
    tokens_in=90,
    tokens_cached=60,
    tokens_prefilled=30,
    tokens_out=20,
    tokens_forced=8,
    queue_s=0.02,
)


def test_metrics_match_records_and_device():
    registry = CollectorRegistry()
    metrics = DeviceMetrics(registry, lambda: VIEW)
    metrics.observe(RECORD)
    metrics.observe(RECORD)
    lines = set(generate_latest(registry).decode().splitlines())
    assert {
        'groundwire_device_requests_total{ending="stop",operation="generate",prompt="verify_answer"} 2.0',
        'groundwire_device_tokens_total{kind="cached"} 120.0',
        'groundwire_device_tokens_total{kind="decoded"} 24.0',
        'groundwire_device_queue_seconds_bucket{le="0.03",priority="check"} 2.0',
        'groundwire_device_queue_seconds_bucket{le="0.01",priority="check"} 0.0',
        "groundwire_device_ready 1.0",
        "groundwire_device_rows_decoding 3.0",
        'groundwire_device_waiting{priority="judge"} 5.0',
    } <= lines


def test_top_shows_rates_since_the_last_look():
    later = Watched(host="mac", process=1, view=VIEW)
    earlier = Watched(host="mac", process=1, view=DeviceView(state="ready", model="tiny", tokens_out=500))
    shown = table([later], {("mac", 1): earlier}, 2.0)
    names, cells = ([str(cell) for cell in column.cells] for column in shown.columns)
    said = dict(zip(names, cells, strict=True))
    assert said["tokens out"] == "100/s"
    assert said["waiting: judge"] == "5"
    assert said["read from cache"] == "75 %"
    assert said["memory"] == "2.00 GB, 25 %"


def test_top_without_a_device_suggests_a_remedy():
    assert "groundwire up" in str(table([], {}, 1.0).title)


async def test_all_devices_answer(bus_settings):
    owners = [await connect(bus_settings.url, name=f"device-{n}") for n in range(2)]
    for number, client in enumerate(owners):
        view = DeviceView(state="ready", model=f"model-{number}", waiting={"judge": number})
        await answer_views(client, lambda view=view: view)
        await client.flush()
    looker = await connect(bus_settings.url, name="top")
    seen = [watched for watched in await views(looker) if watched.view.model in ("model-0", "model-1")]
    assert len(seen) == 2
    assert {watched.process for watched in seen} == {os.getpid()}
    assert next(w for w in seen if w.view.model == "model-1").view.waiting == {"judge": 1}
    for client in (*owners, looker):
        await client.close()
