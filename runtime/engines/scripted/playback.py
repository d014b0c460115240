"""Stream a known reply as a model would."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from bus.wire.errors import NoReply
from runtime.engines.engine import Delta, Finished, Request


def play(request: Request, pieces: Iterable[str], *, engine: str, model: str) -> Iterator[Delta | Finished]:
    """Yield the deltas of `pieces` after what was already shown, then the Finished with the whole text.

    Raises: NoReply past the deadline.
    """
    if asyncio.get_running_loop().time() > request.deadline:
        raise NoReply(f"{request.variables.name} was asked after its deadline; allow the run more time")
    shown, text, count = request.already_shown, "", 0
    reason: Literal["stop", "length"] = "stop"
    for piece in pieces:
        if request.max_tokens and count == request.max_tokens and request.variables.reply_type() is str:
            reason = "length"
            break
        start = len(text)
        text += piece
        count += 1
        fresh = piece if start >= len(shown) else text[len(shown) :]
        if fresh:
            yield Delta(fresh)
    yield Finished(text=text, finish_reason=reason, engine=engine, model=model, tokens_out=count)


def words(text: str) -> list[str]:
    """`text` split before every word without loss: 'a b' -> ['a', ' b']."""
    return re.findall(r"\s*\S+|\s+$", text)
