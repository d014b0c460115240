"""Requests that need no decoding: one-token verdicts and embeddings."""

import time
from dataclasses import dataclass, field
from typing import Any, Literal

import mlx.core as mx
import msgspec
import numpy as np

from bus.wire.errors import Unavailable
from runtime.engines.engine import Ending, RequestRecord
from runtime.engines.mlx.batch import Row
from runtime.engines.mlx.jobs import PromptJob, Tools
from runtime.engines.mlx.prefixes import Tokens
from runtime.engines.mlx.tickets import Done, Event, Ticket, Values


def probabilities(logits: mx.array, tokens: list[int]) -> list[float]:
    """Of each of `tokens` among them, in a row of one."""
    shares: Any = mx.softmax(logits[0, mx.array(tokens)].astype(mx.float32)).tolist()
    return list(shares)


@dataclass(slots=True, eq=False)
class Verdict(PromptJob):
    """Chooses among `values` by the probability of the one token that distinguishes each."""

    values: list[str] = field(default_factory=list)
    deciding: list[int] = field(default_factory=list)  # one token per value, all different
    opening: str = ""

    def finish(self, tools: Tools, logits: mx.array) -> Row | Event:
        shares = probabilities(logits, self.deciding)
        best = max(range(len(shares)), key=shares.__getitem__)
        record = msgspec.structs.replace(self.ending("stop"), tokens_out=1, probability=shares[best])
        return Done(self.values[best], record)


@dataclass(slots=True, eq=False)
class Embedding:
    """One vector of length 1 per text, several short texts in one call. A long text is not interrupted."""

    ticket: Ticket
    record: RequestRecord
    texts: list[Tokens]
    pooling: Literal["last", "mean"]
    submitted: float = field(default_factory=time.monotonic)
    started: float | None = None
    vectors: list[list[float]] = field(default_factory=list)
    replays: int = 0

    @property
    def remaining(self) -> int:
        return sum(len(text) for text in self.texts[len(self.vectors) :])

    @property
    def length(self) -> int:
        return max(len(text) for text in self.texts)

    def advance(self, tools: Tools, budget: int) -> tuple[int, Row | Event | None]:
        if tools.forward.body is None:
            return 1, Unavailable(f"{tools.loaded.name} gives no hidden states to embed with; choose another model")
        group = self._next_group(budget)
        width = max(map(len, group))
        inputs = np.zeros((len(group), width), dtype=np.int32)
        real = np.zeros((len(group), width, 1), dtype=np.float32)
        for row, text in enumerate(group):
            inputs[row, : len(text)] = text
            real[row, : len(text)] = 1
        hidden = tools.forward.body(mx.array(inputs)).astype(mx.float32)
        if self.pooling == "mean":
            pooled = (hidden * mx.array(real)).sum(axis=1) / mx.array(real).sum(axis=1)
        else:
            pooled = mx.stack([hidden[row, len(text) - 1] for row, text in enumerate(group)])
        pooled = pooled / mx.maximum(mx.linalg.norm(pooled, axis=-1, keepdims=True), 1e-12)
        fresh: Any = pooled.tolist()
        self.vectors.extend(fresh)
        done = len(self.vectors) == len(self.texts)
        return len(group) * width, Values(self.vectors) if done else None

    def restart(self) -> None:
        self.vectors, self.replays = [], self.replays + 1

    def release(self) -> None:
        pass

    def ending(self, ending: Ending) -> RequestRecord:
        now = time.monotonic()
        started = self.started or now
        size = sum(len(text) for text in self.texts)
        return msgspec.structs.replace(
            self.record,
            ending=ending,
            tokens_in=size,
            tokens_prefilled=size - self.remaining,
            queue_s=started - self.submitted,
            prefill_s=now - started,
            replays=self.replays,
        )

    def _next_group(self, budget: int) -> list[Tokens]:
        group: list[Tokens] = []
        for text in self.texts[len(self.vectors) :]:
            if group and max(len(text), *map(len, group)) * (len(group) + 1) > budget:
                break
            group.append(text)
        return group
