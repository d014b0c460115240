"""Requests that need no decoding: verdicts of one token."""

from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import msgspec

from runtime.engines.mlx.batch import Row
from runtime.engines.mlx.jobs import Job, Tools
from runtime.engines.mlx.tickets import Done, Event


def probabilities(logits: mx.array, tokens: list[int]) -> list[float]:
    """Of each of `tokens` among them, in a row of one."""
    shares: Any = mx.softmax(logits[0, mx.array(tokens)].astype(mx.float32)).tolist()
    return list(shares)


@dataclass(slots=True, eq=False)
class Verdict(Job):
    """Chooses among `values` by the probability of the one token that distinguishes each."""

    values: list[str] = field(default_factory=list)
    deciding: list[int] = field(default_factory=list)  # one token per value, all different
    opening: str = ""

    def finish(self, tools: Tools, logits: mx.array) -> Row | Event:
        shares = probabilities(logits, self.deciding)
        best = max(range(len(shares)), key=shares.__getitem__)
        record = msgspec.structs.replace(self.ending("stop"), tokens_out=1, probability=shares[best])
        return Done(self.values[best], record)
