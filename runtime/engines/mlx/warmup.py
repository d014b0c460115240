"""Warm up before the first request: prefill and pin every prompt's constant part, and run one step."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from runtime.engines.engine import Rendered
from runtime.engines.mlx.batch import Batch, Row
from runtime.engines.mlx.encode import Encoder
from runtime.engines.mlx.jobs import Tools
from runtime.engines.mlx.prefixes import WORTH_TOKENS
from runtime.engines.mlx.sampling import Sampling, sample


def warm_up(tools: Tools, encoder: Encoder, prompts: Sequence[Rendered], chunk_tokens: int) -> None:
    """Pin the constant parts of `prompts`, compile their schemas, and run one step so that kernels are compiled."""
    for rendered in prompts:
        encoded = encoder.prompt(rendered)
        if encoded.constant >= WORTH_TOKENS:
            pin(tools, encoded.tokens[: encoded.constant], chunk_tokens)
        if rendered.schema is not None:
            tools.grammars.guide(rendered.schema)
    _one_step(tools)


def pin(tools: Tools, constant: list[int], chunk_tokens: int) -> None:
    tokens = np.array(constant, dtype=np.int32)
    if tools.prefixes.knows(tokens):
        return
    cache, done = tools.prefixes.open(tokens)
    while done < len(tokens):
        end = min(done + chunk_tokens, len(tokens))
        tools.forward.fill(mx.array(tokens[None, done:end]), cache)
        mx.eval([layer.state for layer in cache])
        done = end
    tools.prefixes.keep(tokens, cache, pinned=True)


def _one_step(tools: Tools) -> None:
    tokens = np.zeros(2, dtype=np.int32)
    cache, _ = tools.prefixes.open(tokens)
    logits = tools.forward.last(mx.array(tokens[None]), cache)
    greedy = Sampling(0.0, 0)
    batch = Batch(tools.loaded.model, tools.grammars, [Row(0, cache, sample(logits, [greedy], [0]), greedy, 0, None)])
    batch.step()
    batch.step()
