"""Turn a request into a job: tokens, grammar and the forced beginning; runs on its own thread, off the loop and the device."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from bus.wire.errors import TooLong
from prompts.contracts import Prompt
from prompts.fields import shortened
from prompts.files import Rendered
from runtime.engines.engine import Operation, Request, RequestRecord
from runtime.engines.mlx.encode import Encoded, Encoder
from runtime.engines.mlx.grammar import choices, schema_digest
from runtime.engines.mlx.jobs import Generation, Text, Tools
from runtime.engines.mlx.model import LoadedModel
from runtime.engines.mlx.sampling import Sampling
from runtime.engines.mlx.settings import DeviceSettings
from runtime.engines.mlx.tickets import Ticket
from runtime.engines.mlx.verdict import Verdict

type Render = Callable[[Prompt[Any]], Rendered]


class Preparation:
    """Prepares jobs. `render` renders shortened variables; without it a prompt beyond the context fails."""

    def __init__(self, tools: Tools, encoder: Encoder, settings: DeviceSettings, render: Render | None) -> None:
        self._tools, self._encoder, self._settings, self._render = tools, encoder, settings, render

    def generation(self, request: Request, ticket: Ticket) -> Generation | Verdict:
        """The job of a generation. Raises: TooLong for a prompt that cannot fit, BadReply for a schema that cannot be compiled."""
        rendered = _rendered(request)
        guide = self._tools.grammars.guide(rendered.schema) if rendered.schema is not None else None
        encoded, shortened = self._fitting(request, rendered)
        said, forced = request.already_shown, list[int]()
        if guide is not None:
            if said and not guide.take(self._encoder.text(said)):
                # What was shown is not a beginning of this JSON: start over.
                encoded, said = self._encoder.prompt(rendered), ""
            guide.left = rendered.max_tokens
            forced = guide.forced() if self._settings.forced_prefix else []
        tokens = np.array(encoded.tokens + forced, dtype=np.int32)
        values = choices(rendered.schema) if rendered.schema is not None and not said else None
        record = self._record("generate", request, rendered, tokens_in=len(tokens), shortened=shortened)
        if values is not None and (deciding := self._deciding(values, forced)) is not None:
            record = self._record("verdict", request, rendered, tokens_in=len(tokens), shortened=shortened)
            return Verdict(ticket, record, tokens, encoded.constant, values=values, deciding=deciding)
        text = Text(self._tools.loaded.grammar_tokenizer)
        text.add(forced)
        return Generation(
            ticket,
            record,
            tokens,
            encoded.constant,
            max_tokens=max(1, rendered.max_tokens - len(forced)),
            sampling=Sampling(rendered.temperature, request.seed),
            guide=guide,
            pristine=None if guide is None else guide.copy(),
            forced=forced,
            said=said,
            text=text,
        )

    def _fitting(self, request: Request, rendered: Rendered) -> tuple[Encoded, str]:
        """The prompt's tokens, shortened by `fit` if they leave no room for the reply."""
        context = self._tools.loaded.context_tokens
        room = context - min(rendered.max_tokens, context // 2)
        encoded = self._encoder.prompt(rendered, request.already_shown)
        if len(encoded.tokens) <= room:
            return encoded, ""
        if self._render is not None:
            render = self._render

            def fits(variables: Prompt[Any]) -> bool:
                return len(self._encoder.prompt(render(variables), request.already_shown).tokens) <= room

            found = fit(request.variables, fits)
            if found is not None:
                return self._encoder.prompt(render(found[0]), request.already_shown), found[1]
        raise TooLong(
            f"{request.variables.name}: the prompt has {len(encoded.tokens)} tokens and the model's context leaves "
            f"{room}; ask with less text, or use a model with a longer context"
        )

    def _deciding(self, values: Sequence[str], forced: Sequence[int]) -> list[int] | None:
        """The first token of each value after the forced part; None if two share it."""
        written = self._tools.loaded.grammar_tokenizer.decode_str(list(forced)) if forced else ""
        if not all(value.startswith(written) and len(value) > len(written) for value in values):
            return None
        firsts = [self._encoder.text(value[len(written) :])[0] for value in values]
        return firsts if len(set(firsts)) == len(firsts) else None

    def _record(
        self, operation: Operation, request: Request, rendered: Rendered, *, tokens_in: int, shortened: str
    ) -> RequestRecord:
        loaded: LoadedModel = self._tools.loaded
        return RequestRecord(
            request_id=request.request_id,
            operation=operation,
            prompt=request.variables.name,
            version=rendered.version,
            engine="mlx",
            model=loaded.name,
            model_digest=loaded.digest,
            priority=request.priority,
            seed=request.seed,
            schema=schema_digest(rendered.schema),
            ending="stop",
            tokens_in=tokens_in,
            shortened=shortened,
        )


def _rendered(request: Request) -> Rendered:
    if request.rendered is None:
        raise ValueError(f"{request.variables.name} came to the mlx engine without being rendered")
    return request.rendered


def fit(variables: Prompt[Any], fits: Callable[[Prompt[Any]], bool]) -> tuple[Prompt[Any], str] | None:
    """The variables, shortened as little as needed and as their fields declare, and what was left out; None if they cannot fit."""
    said = []
    for name, rule in shortened(type(variables)):
        tail = not rule.oldest
        items = getattr(variables, name)
        if not items:
            continue
        kept = _most(variables, name, tail, fits)
        fewer = _with(variables, name, items, tail, kept)
        said.append(f"{name} {kept} of {len(items)}")
        variables = fewer
        if fits(variables):
            return variables, ", ".join(said)
    return None


def _most(variables: Prompt[Any], name: str, tail: bool, fits: Callable[[Prompt[Any]], bool]) -> int:
    """The largest number of items with which the prompt fits; 0 if it never does."""
    items = getattr(variables, name)
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_with(variables, name, items, tail, middle)):
            low = middle
        else:
            high = middle - 1
    return low


def _with(variables: Prompt[Any], name: str, items: tuple[Any, ...], tail: bool, kept: int) -> Prompt[Any]:
    part = items[:kept] if tail else items[len(items) - kept :]
    return msgspec.structs.replace(variables, **{name: part})
