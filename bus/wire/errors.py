"""The ways an actor or a power may fail. Any other exception is a bug and propagates.

A failure's message is one line for a person: the fault, its place, and the likely remedy.
"""

import re
from typing import ClassVar

import msgspec

from prompts.vocabulary import Reason

#: All that a decoder raises on arbitrary bytes: for text that is not UTF-8, nesting too deep, a number of thousands of digits.
UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)

_FIELD = re.compile(r"([a-z_]+(?:\[\d+\]|\.\w+)*): ")


class Failure(Exception):
    """The work could not be done; the actor's fallback answers instead. `reason`: of a run that ends for it.

    `calls`: of a model, before it failed.
    """

    reason: ClassVar[Reason] = "model_unavailable"
    calls: int = 1


class NoReply(Failure):
    """The model gave no reply before the deadline."""

    reason: ClassVar[Reason] = "timeout"


class BadReply(Failure):
    """The model replied, but not in the prompt's output schema. The engine has asked again where that is useful."""

    reason: ClassVar[Reason] = "model_malformed"


class TooLong(BadReply):
    """The prompt or the reply is longer than the model allows."""

    reason: ClassVar[Reason] = "model_too_long"


class Rejected(BadReply):
    """The model's server rejects the request: its key, its model or a parameter."""

    reason: ClassVar[Reason] = "model_rejected"


class ContentRefused(BadReply):
    """The model refuses to reply, or the filter of its server does; nothing of a reply came."""

    reason: ClassVar[Reason] = "model_refused"


class ContentStopped(BadReply):
    """The filter of the model's server ends the reply after its beginning."""

    reason: ClassVar[Reason] = "model_refused"


class Unavailable(Failure):
    """The index or the engine is not ready yet; the message is redelivered after a delay."""


class OverQuota(Unavailable):
    """The model's server accepts no more requests or tokens for now."""

    reason: ClassVar[Reason] = "model_over_quota"


class Unreadable(Unavailable):
    """The model's server sends what cannot be read; the request may be repeated."""

    reason: ClassVar[Reason] = "model_malformed"


class Busy(Unavailable):
    """The device is there but cannot start soon; the client asks again, and another device may take the request."""


class Poison(Exception):
    """A message that cannot be decoded or breaks an invariant; it is set aside and its run ends with an error."""


class Invalid(Poison):
    """A question that cannot be asked; the client gets the sentence and `code`, which is stable.

    `field`: the path of the wrong field, where the sentence does not begin with it.
    """

    def __init__(self, code: str, detail: str, field: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.field = field or named_field(detail)


def named_field(sentence: str) -> str:
    """The path of the field that a sentence begins with; empty where it begins with none."""
    named = _FIELD.match(sentence)
    return named[1] if named else ""
