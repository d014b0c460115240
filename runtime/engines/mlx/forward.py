"""Model calls that compute only the needed part."""

from collections.abc import Callable
from typing import Any

import mlx.core as mx

type Head = Callable[[mx.array], mx.array]
type Body = Callable[[mx.array], mx.array]


class Forward:
    """The model as prefill needs it: the vocabulary's logits of the last position only.

    Most mlx-lm models have a body and a head that can be called separately; a trial run checks that this gives the model's
    own logits. If not, the last token takes a separate call.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._head = _separate_head(model)
        #: Tokens to hidden states, one row per text; None for a model without a separate body.
        self.body: Body | None = model.model if self._head is not None else None

    def fill(self, tokens: mx.array, cache: list[Any]) -> None:
        """Put `tokens` into `cache`; mlx is lazy, so the logits are never computed."""
        self.model(tokens, cache=cache)

    def last(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        """Put `tokens` into `cache`; the logits after the last one, a row of one."""
        if self._head is not None:
            return self._head(self.model.model(tokens, cache=cache)[:, -1:, :])[:, -1, :]
        if tokens.shape[1] > 1:
            self.fill(tokens[:, :-1], cache)
        logits: mx.array = self.model(tokens[:, -1:], cache=cache)[:, -1, :]
        return logits


def _separate_head(model: Any) -> Head | None:
    body = getattr(model, "model", None)
    table = getattr(body, "embed_tokens", None)
    head: Head | None = getattr(model, "lm_head", None) or getattr(table, "as_linear", None)
    if not callable(body) or head is None:
        return None
    probe = mx.array([[0, 1, 2]])
    whole, apart = model(probe), head(body(probe))
    same = whole.shape == apart.shape and bool(mx.allclose(whole, apart, rtol=1e-2, atol=1e-2))
    return head if same else None
