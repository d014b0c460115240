"""Sample tokens for all rows in one call, each row from its own random stream, so that rows do not affect each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np


@dataclass(slots=True, frozen=True)
class Sampling:
    """How a row is sampled: `temperature` 0 takes the likeliest token; else the seed and the token's position decide."""

    temperature: float
    seed: int


def sample(logits: mx.array, rows: Sequence[Sampling], positions: Sequence[int]) -> mx.array:
    """Sample one token per row of `logits`; `positions` counts each row's tokens so far. Gumbel-max: argmax(x + T·g)."""
    if not any(row.temperature for row in rows):
        return mx.argmax(logits, axis=-1)
    seeds = [[row.seed & 0xFFFFFFFF, position] for row, position in zip(rows, positions, strict=True)]
    width = logits.shape[-1]
    noise = mx.vmap(lambda key: mx.random.gumbel((width,), key=key))(mx.array(np.array(seeds, dtype=np.uint32)))
    heat = mx.array([row.temperature for row in rows])[:, None]
    return mx.argmax(mx.where(heat > 0, logits + heat * noise, logits), axis=-1)
