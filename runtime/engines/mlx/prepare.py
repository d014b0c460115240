"""Turn a request into a job: tokens, grammar and the forced beginning; runs on its own thread, off the loop and the device."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from jinja2 import TemplateError

from bus.wire.errors import TooLong
from index.languages.characters import HANGUL
from prompts.contracts import Prompt
from prompts.fields import shortened
from prompts.files import Rendered
from runtime.engines.engine import Request, RequestRecord
from runtime.engines.mlx.batch import Sampling
from runtime.engines.mlx.grammar import choices
from runtime.engines.mlx.jobs import Generation, Text, Tools, Verdict
from runtime.engines.mlx.settings import DeviceSettings
from runtime.engines.mlx.tickets import Ticket

#: Endings that make a tokenizer merge differently; tokens that none of them changes are the constant part.
PROBES = ("A", " a", "\n", HANGUL[0], "1", '"')


@dataclass(slots=True, frozen=True)
class Encoded:
    """A tokenised prompt. `constant`: how many leading tokens are the same in every call of it."""

    tokens: list[int]
    constant: int


class Encoder:
    """Applies the chat template with thinking off; use from one thread at a time."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._control = _control_tokens(tokenizer)
        self._constants: dict[str, list[int]] = {}
        self._has_system_role = _has_system_role(tokenizer)

    def prompt(self, rendered: Rendered, shown: str = "") -> Encoded:
        """Encode a prompt; `shown` follows the assistant's role, so that the reply continues it."""
        tokens = self._chat(rendered.system, rendered.user)
        constant = _common(tokens, self._constant(rendered.system))
        return Encoded(tokens + self.text(shown) if shown else tokens, constant)

    def text(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(self._data(text), add_special_tokens=False))

    def _chat(self, system: str, user: str) -> list[int]:
        if system and not self._has_system_role:
            system, user = "", f"{system}\n\n{user}"
        messages = [{"role": "system", "content": self._data(system)}] if system else []
        messages.append({"role": "user", "content": self._data(user)})
        if not self._tokenizer.has_chat_template:
            return self.text("\n\n".join(m["content"] for m in messages) + "\n\n")
        text = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _constant(self, system: str) -> list[int]:
        """The leading tokens of every prompt with this system text."""
        if system and system not in self._constants:
            first, *others = (self._chat(system, probe) for probe in PROBES)
            self._constants[system] = first[: min(_common(first, other) for other in others)]
        return self._constants.get(system, [])

    def _data(self, text: str) -> str:
        """`text` with the model's control tokens broken up, so that a passage cannot open a role."""
        return self._control.sub(lambda m: m[0][0] + "\u200b" + m[0][1:], text)


def _has_system_role(tokenizer: Any) -> bool:
    messages = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    try:
        return bool(tokenizer.has_chat_template and tokenizer.apply_chat_template(messages, tokenize=False))
    except TemplateError:
        return False


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    size = min(len(left), len(right))
    return next((index for index in range(size) if left[index] != right[index]), size)


def _control_tokens(tokenizer: Any) -> re.Pattern[str]:
    added = tokenizer.added_tokens_decoder.values()
    names = {t.content for t in added if len(t.content) > 2 and (t.special or re.fullmatch(r"<.+>", t.content))}
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


type Render = Callable[[Prompt[Any]], Rendered]


class Preparation:
    """Prepares jobs. `render` renders shortened variables; without it a prompt beyond the context fails."""

    def __init__(self, tools: Tools, encoder: Encoder, settings: DeviceSettings, render: Render | None) -> None:
        self._tools, self._encoder, self._settings, self._render = tools, encoder, settings, render

    def generation(self, request: Request, ticket: Ticket) -> Generation | Verdict:
        """The job of a generation. Raises: TooLong for a prompt that cannot fit, BadReply for a schema that cannot be compiled."""
        rendered, loaded = request.rendered, self._tools.loaded
        assert rendered is not None, "this engine needs rendering"
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
        deciding = self._deciding(values, forced) if values is not None else None
        record = RequestRecord(
            request_id=request.request_id,
            operation="generate" if deciding is None else "verdict",
            prompt=request.variables.name,
            engine="mlx",
            model=loaded.name,
            model_digest=loaded.digest,
            priority=request.priority,
            ending="stop",
            tokens_in=len(tokens),
            shortened=shortened,
        )
        if values is not None and deciding is not None:
            return Verdict(ticket, record, tokens, encoded.constant, values=values, deciding=deciding)
        text = Text(loaded.grammar_tokenizer)
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


def fit(variables: Prompt[Any], fits: Callable[[Prompt[Any]], bool]) -> tuple[Prompt[Any], str] | None:
    """The variables, shortened as little as needed and as their fields declare, and what was left out; None if they cannot fit."""
    said = []
    for name, rule in shortened(type(variables)):
        whole, items = variables, getattr(variables, name)
        if not items:
            continue

        def fewer(kept: int, name: str = name, whole: Prompt[Any] = whole, oldest: bool = rule.oldest) -> Prompt[Any]:
            items = getattr(whole, name)
            return msgspec.structs.replace(whole, **{name: items[len(items) - kept :] if oldest else items[:kept]})

        kept = bisect_left(range(1, len(items)), True, key=lambda count: not fits(fewer(count)))
        variables = fewer(kept)
        said.append(f"{name} {kept} of {len(items)}")
        if fits(variables):
            return variables, ", ".join(said)
    return None
