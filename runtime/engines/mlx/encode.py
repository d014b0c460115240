"""Tokenise a rendered prompt and find where its constant part ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError

from index.languages.scripts import HANGUL
from prompts.files import Rendered

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
    """Whether the template accepts a system message; some do not."""
    messages = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    try:
        return bool(tokenizer.has_chat_template and tokenizer.apply_chat_template(messages, tokenize=False))
    except TemplateError:
        return False


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading items are equal."""
    size = min(len(left), len(right))
    return next((index for index in range(size) if left[index] != right[index]), size)


def _control_tokens(tokenizer: Any) -> re.Pattern[str]:
    added = tokenizer.added_tokens_decoder.values()
    names = {t.content for t in added if len(t.content) > 2 and (t.special or re.fullmatch(r"<.+>", t.content))}
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
