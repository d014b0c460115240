"""Embeddings agree with the model asked directly."""

import asyncio
import math

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm import load

from runtime.engines.mlx.encode import Encoder
from tests.runtime.engines.sample import collect, render, request


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
