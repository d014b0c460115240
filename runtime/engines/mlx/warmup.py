"""Warm up before the first request: prefill and pin every prompt's constant part, and take a few steps."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from prompts.files import Rendered
from runtime.engines.mlx.batch import Batch, Row, Sampling, sample
from runtime.engines.mlx.grammar import Guide
from runtime.engines.mlx.jobs import Tools, probabilities
from runtime.engines.mlx.memory import WORTH_TOKENS
from runtime.engines.mlx.prepare import Encoder

#: CUDA has another kernel for quantised weights up to each of these lengths, and compiles it at its first use on a machine:
#: that takes up to half a minute. Metal's come compiled.
KERNEL_TOKENS = (16, 32, 64, 128)
#: A schema that no model takes long to write.
BRIEF = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": False}


def warm_up(tools: Tools, encoder: Encoder, prompts: Sequence[Rendered], chunk_tokens: int) -> None:
    """Pin the constant parts of `prompts`, compile their schemas, and do a little of everything so that kernels are compiled."""
    for rendered in prompts:
        encoded = encoder.prompt(rendered)
        if encoded.constant >= WORTH_TOKENS:
            pin(tools, encoded.tokens[: encoded.constant], chunk_tokens)
        if rendered.schema is not None:
            tools.grammars.guide(rendered.schema)
    if mx.cuda.is_available():
        for length in (*KERNEL_TOKENS, chunk_tokens):
            cache, _ = tools.prefixes.open(np.zeros(0, dtype=np.int32))
            mx.eval(tools.forward.last(mx.zeros((1, length), dtype=mx.int32), cache))
    _steps(tools)


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


def _steps(tools: Tools) -> None:
    """Steps of a plain row: alone, together with a sampled row under a grammar, and after that row has left."""
    greedy, warm = Sampling(0.0, 0), Sampling(1.0, 0)
    batch = Batch(tools.loaded.model, tools.grammars, [_row(tools, 0, greedy, None)])
    batch.step()
    batch.step()
    batch.extend(Batch(tools.loaded.model, tools.grammars, [_row(tools, 1, warm, tools.grammars.guide(BRIEF))]))
    batch.step()
    batch.drop({1})
    batch.step()


def _row(tools: Tools, key: int, sampling: Sampling, guide: Guide | None) -> Row:
    tokens = np.zeros(2 + key, dtype=np.int32)  # of different lengths, so that one is padded
    cache, _ = tools.prefixes.open(tokens)
    logits = tools.forward.last(mx.array(tokens[None]), cache)
    if guide is not None:
        probabilities(logits, [0, 1])  # as a verdict takes them
        logits = tools.grammars.apply(logits, [guide])
    return Row(key, cache, sample(logits, [sampling], [0]), sampling, 0, guide)
