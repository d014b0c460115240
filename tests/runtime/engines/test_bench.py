"""The device benchmark: its schemas, and one short run."""

import pytest

from bus.wire.errors import Unavailable
from prompts.contracts import PROMPTS
from tests.bench.device.correctness import pinned_prefixes, schema_valid
from tests.bench.device.driving import running, stream
from tests.bench.device.figures import Scale
from tests.bench.device.schemas import full_schemas, short_schemas


def test_every_json_prompt_has_a_short_schema():
    short, full = short_schemas(), full_schemas()
    assert sorted(short) == sorted(full) == sorted(p.name for p in PROMPTS if p.reply_type() is not str)
    for name, schema in short.items():
        assert schema["required"] == full[name]["required"]
        assert list(schema["properties"]) == list(full[name]["properties"])


async def test_short_run(tiny):
    scale = Scale(repeats=1, outputs=40, others=5, prefix_tokens=200)
    assert [figure.value for figure in await schema_valid(str(tiny), scale)] == [100]
    assert [figure.value for figure in await pinned_prefixes(str(tiny), scale)] == [14]


async def test_impossible_stream_is_not_counted_as_load(tiny):
    """Otherwise the following measurement would run on an idle device."""
    async with running(str(tiny), memory_bytes=1_500_000) as engine:
        with pytest.raises(Unavailable, match="shorten it"):
            async with stream(engine):
                pass
