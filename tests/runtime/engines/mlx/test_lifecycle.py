"""Starting and stopping: readiness is visible, nothing outlives the engine; embeddings agree with the model."""

import asyncio
import math
import subprocess
import sys
import textwrap
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm import load

from bus.wire.errors import Unavailable
from runtime.engines.mlx import device_thread
from runtime.engines.mlx.encode import Encoder
from runtime.engines.mlx.engine import MlxEngine
from tests.runtime.engines.sample import ENDLESS, collect, render, request

ROOT = Path(__file__).parents[4]


async def test_states_from_start_to_close(tiny):
    engine = MlxEngine(str(tiny))
    seen = [engine.view().state]
    with pytest.raises(Unavailable):
        await collect(engine, request(rendered=render()))
    await engine.start()
    seen.append(engine.view().state)
    await engine.close()
    seen.append(engine.view().state)
    assert seen == ["closed", "ready", "closed"]


async def test_close_ends_requests_in_flight(start):
    async with start() as engine:
        asked = [
            asyncio.create_task(collect(engine, request(rendered=render(schema=ENDLESS, max_tokens=100_000))))
            for _ in range(3)
        ]
        stream = engine.generate(request(rendered=render(schema=ENDLESS, max_tokens=100_000)))
        await anext(stream)
    for failure in await asyncio.gather(*asked, return_exceptions=True):
        assert isinstance(failure, Unavailable)
    with pytest.raises(Unavailable):
        async for _ in stream:
            pass


PROGRAM = textwrap.dedent(
    """
    import asyncio, sys
    from runtime.engines.mlx.engine import MlxEngine
    from tests.runtime.engines.sample import ENDLESS, collect, render, request

    async def main():
        for _ in range(int(sys.argv[2])):
            engine = MlxEngine(sys.argv[1])
            await engine.start()
            endless = render(schema=ENDLESS, max_tokens=100_000)
            load = [asyncio.create_task(collect(engine, request(rendered=endless))) for _ in range(4)]
            await collect(engine, request(rendered=render(max_tokens=2)))
            await engine.close()
            await asyncio.gather(*load, return_exceptions=True)

    asyncio.run(main())
    """
)


def test_process_exits_cleanly_under_load(tiny):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tiny), "5"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("broken", ["warm_up", "Encoder", "Memory"])
async def test_start_failure_is_one_line(tiny, monkeypatch, broken):
    def breaks(*given: object) -> None:
        raise KeyError("no such layer\nin this model")

    monkeypatch.setattr(device_thread, broken, breaks)
    engine = MlxEngine(str(tiny))
    async with asyncio.timeout(30):
        with pytest.raises(Unavailable, match=r"could not be started \(KeyError: .*no such layer.*\); name another as"):
            await engine.start()
        assert engine.view().state == "failed"
        await engine.close()


@pytest.fixture(scope="module")
def direct(tiny):
    """The model itself, on this thread."""
    model, tokenizer = load(str(tiny))
    return model, Encoder(tokenizer)


async def test_embedding_leaves_running_rows_alone(mlx):
    prompt = render(temperature=1.0, max_tokens=40)
    alone = (await collect(mlx, request(rendered=prompt, seed=2)))[1].text
    (_, together), *_ = await asyncio.gather(
        collect(mlx, request(rendered=prompt, seed=2)), *(mlx.embed(["a", "b c d"], query=False) for _ in range(5))
    )
    assert together.text == alone


@pytest.mark.parametrize("pooling", ["last", "mean"])
async def test_embeddings_equal_the_model_s_own(start, direct, pooling):
    model, encoder = direct
    texts = ["one", "환불 규정은 무엇인가요?", "word " * 90]
    async with start(settings={"pooling": pooling}) as engine:
        vectors = await engine.embed(texts, query=False)
    for text, vector in zip(texts, vectors, strict=True):
        hidden = np.array(model.model(mx.array([encoder.embedded(text)]))[0].astype(mx.float32))
        pooled = hidden[-1] if pooling == "last" else hidden.mean(axis=0)
        assert vector == pytest.approx(list(pooled / np.linalg.norm(pooled)), abs=1e-4)
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-4)


async def test_query_side_has_its_instruction(start):
    async with start(settings={"query_instruction": "Find: "}) as engine:
        (query,), (same,), (plain,) = [
            await engine.embed([text], query=side) for text, side in (("x", True), ("Find: x", False), ("x", False))
        ]
    assert query == pytest.approx(same, abs=1e-5)
    assert query != pytest.approx(plain, abs=1e-3)


async def test_nothing_to_embed_gives_nothing(mlx):
    assert await mlx.embed([], query=True) == []
