"""The extractive engine: each prompt is answered by the rule of its name, in a few milliseconds."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from prompts.contracts import PROMPTS, Part, Prompt
from runtime.engines.engine import Delta, Finished, Request, Wiring
from runtime.engines.extractive import answers, judging, queries, rewriting
from runtime.settings import InferenceSettings

#: By name of a prompt the function of that name, which takes its variables.
RULES: dict[str, Callable[[Any], Part | str]] = {
    prompt.name: getattr(module, prompt.name)
    for module in (answers, judging, queries, rewriting)
    for prompt in PROMPTS
    if hasattr(module, prompt.name)
}


def reply_to(variables: Prompt[Any]) -> Part | str:
    return RULES[variables.name](variables)


# A word with the space before it, or a few characters of a script without spaces.
_PIECE = re.compile(r"\s*(?:[\u3400-\u9fff]{1,4}|[^\s\u3400-\u9fff]+)|\s+")


#: Bytes of variables whose reading takes long enough for others to notice: those are read beside the event loop.
_LONG = 20_000


class ExtractiveEngine:
    """Stateless, with nothing to start."""

    name = "extractive"
    model = "extractive"
    needs_rendering = False
    owns_device = False

    async def start(self) -> None:
        return

    async def close(self) -> None:
        return

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        """Yield the reply as one delta: prose after what was already shown."""
        if request.size > _LONG:
            reply = await asyncio.to_thread(reply_to, request.variables)
        else:
            reply = reply_to(request.variables)
        text = reply if isinstance(reply, str) else msgspec.json.encode(reply).decode()
        pieces = [text]
        if isinstance(reply, str):
            pieces = [match.group() for match in _PIECE.finditer(text.removeprefix(request.already_shown))]
        cut = isinstance(reply, str) and 0 < request.max_tokens < len(pieces)
        if cut:
            pieces = pieces[: request.max_tokens]
            text = request.already_shown + "".join(pieces)
        if pieces:
            yield Delta("".join(pieces))
        yield Finished(
            text=text,
            finish_reason="length" if cut else "stop",
            engine=self.name,
            model=self.model,
            tokens_out=len(pieces),
            calls=0,
        )


def make(settings: InferenceSettings, wiring: Wiring) -> ExtractiveEngine:
    return ExtractiveEngine()
