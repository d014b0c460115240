"""Metrics and status of every device on the bus."""

from prometheus_client import CollectorRegistry, generate_latest

from runtime.engines.engine import DeviceView, RequestRecord
from runtime.processes.inference import DeviceMetrics

VIEW = DeviceView(
    state="ready",
    rows_decoding=3,
    waiting={"answer": 0, "judge": 5},
    memory_bytes=2_000_000_000,
    memory_limit_bytes=8_000_000_000,
)
RECORD = RequestRecord(
    request_id="r1",
    operation="generate",
    prompt="verify_answer",
    engine="mlx",
    model="tiny",
    model_digest="d",
    priority="check",
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
