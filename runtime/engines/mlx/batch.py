"""All decoding rows, one step at a time: mlx-lm's batch with one grammar step and one sampling step for all rows.

Each row samples from its own random stream, so that rows do not affect each other.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

from runtime.engines.mlx.grammar import Grammars, Guide


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


# `import mlx_lm.generate` would bind the function of the same name.
generate: Any = importlib.import_module("mlx_lm.generate")


@dataclass(slots=True, frozen=True)
class Row:
    """A prefilled request ready to decode. `first`: its first token, possibly not yet computed."""

    key: int
    cache: list[Any]
    first: mx.array
    sampling: Sampling
    position: int  # tokens sampled before `first`
    guide: Guide | None


class Batch(generate.GenerationBatch):  # type: ignore[misc]
    """The decoding rows; mlx-lm's per-row lists hold our objects: samplings as samplers, guides as processors."""

    def __init__(self, model: Any, grammars: Grammars, rows: Sequence[Row] = ()) -> None:
        # A row alone keeps its own cache, which needs neither padding nor a mask.
        caches = rows[0].cache if len(rows) == 1 else generate._merge_caches([row.cache for row in rows])
        first = mx.concatenate([row.first for row in rows]) if rows else mx.array([], dtype=mx.uint32)
        # Without uids the base class takes no step, so these rows take their first one together with the others.
        super().__init__(model, [], first, caches, [], [], None, [], [], [])
        self.grammars = grammars
        self._alone = len(rows) == 1
        self._next_tokens: Any = first
        self.uids = [row.key for row in rows]
        self.samplers = [row.sampling for row in rows]
        self.logits_processors = [row.guide for row in rows]
        count = len(rows)
        self.tokens = [None] * count
        self.max_tokens = [0] * count
        self.stop_sequences = [None] * count
        self._next_logprobs = [None] * count
        self._token_context = [None] * count
        self._matchers = [None] * count
        self._num_tokens = [row.position for row in rows]

    def step(self) -> list[tuple[int, int]]:
        """Each row's key and its newest token; the device already computes the next ones.

        A guide has consumed its row's token when this returns.
        """
        inputs: Any = self._next_tokens
        logits = self.model(inputs[:, None], cache=self.prompt_cache)[:, -1, :]
        if any(self.logits_processors):
            # The grammar runs on the CPU while the device computes the logits.
            mx.async_eval(logits)  # type: ignore[no-untyped-call]
            for guide, token in zip(self.logits_processors, inputs.tolist(), strict=True):
                if guide is not None:
                    guide.consume(token)
            logits = self.grammars.apply(logits, self.logits_processors)
        self._num_tokens = [count + 1 for count in self._num_tokens]
        self._next_tokens = sample(logits, self.samplers, self._num_tokens)
        mx.async_eval(self._next_tokens)  # type: ignore[no-untyped-call]
        return list(zip(self.uids, inputs.tolist(), strict=True))

    def extend(self, batch: "Batch") -> None:
        if not self.uids:
            self._alone = batch._alone
        elif batch.uids:
            self._share()
            batch._share()
        super().extend(batch)

    def drop(self, keys: set[int]) -> None:
        """Remove rows; the others continue bit for bit as before."""
        keep = [index for index, key in enumerate(self.uids) if key not in keys]
        if len(keep) < len(self.uids):
            self.filter(keep)

    def _share(self) -> None:
        if self._alone:
            self.prompt_cache: Any = generate._merge_caches([self.prompt_cache])
            self._alone = False
