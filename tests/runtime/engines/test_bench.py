"""The bench itself: the verdicts on its figures, its schemas, and one short run."""

import pytest

from bus.wire.errors import Unavailable
from prompts.contracts import PROMPTS
from runtime.measure.device import correctness, latency
from runtime.measure.device.driving import running, stream
from runtime.measure.device.figures import Figure, Table, percentile
from runtime.measure.device.roofline import BANDWIDTH_GB_S
from runtime.measure.device.scale import Scale
from runtime.measure.device.schemas import full_schemas, short_schemas


@pytest.mark.parametrize(
    ("figure", "ok"),
    [
        (Figure("a", 1.0), True),
        (Figure("a", 0.94, "×", 0.95), False),
        (Figure("a", 0.95, "×", 0.95), True),
        (Figure("a", 3.1, "×", 3, most=True), False),
        (Figure("a", 3.0, "×", 3, most=True), True),
    ],
)
def test_a_figure_knows_its_target(figure, ok):
    lines = []
    table = Table(show=lines.append)
    table.add(figure)
    assert figure.ok is ok
    assert ("missed" in lines[0]) is not ok
    assert bool(table.missed) is not ok


def test_percentile_of_few():
    assert [percentile([3, 1, 2], share) for share in (0.0, 0.5, 0.99)] == [1, 2, 3]


def test_every_json_prompt_has_a_short_schema():
    short, full = short_schemas(), full_schemas()
    assert sorted(short) == sorted(full) == sorted(p.name for p in PROMPTS if p.reply_type() is not str)
    for name, schema in short.items():
        assert schema["required"] == full[name]["required"]
        assert list(schema["properties"]) == list(full[name]["properties"])


@pytest.mark.parametrize(
    ("device", "speed"),
    [
        ("Apple M4 Max", 546),
        ("Apple M4", 120),
        ("Apple M5 Ultra", None),  # not that of the M5
        ("NVIDIA H100 80GB HBM3", 3350),
        ("NVIDIA H100 PCIe", 2039),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),  # a part of the card has a part of its bandwidth
        ("AMD EPYC", None),
    ],
)
def test_bandwidth_by_chip(device, speed):
    assert BANDWIDTH_GB_S.get(device) == speed


async def test_short_run(tiny):
    scale = Scale(repeats=1, outputs=40, others=5, starts=1, prefix_tokens=200)
    for measure in (correctness.schema_valid, correctness.pinned_prefixes, latency.cancellation):
        for figure in await measure(str(tiny), scale):
            # On a busy core the device may take some steps before the loop has its turn, but not all of the 4,000.
            assert figure.ok or (figure.name == "cancellation acknowledged" and figure.value < 1000), figure.line()


async def test_impossible_stream_is_not_counted_as_load(tiny):
    """Otherwise the following measurement would run on an idle device."""
    async with running(str(tiny), memory_bytes=1_500_000) as engine:
        with pytest.raises(Unavailable, match="shorten it"):
            async with stream(engine):
                pass
