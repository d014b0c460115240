"""What an actor is: a plain async function whose signature is its wiring.

`A -> B` one output, `A -> B | C` a branch, `A -> tuple[B, ...]` a fan-out, `A -> None` a sink; `tuple[A, ...] -> B` joins the
lanes of a round. The parameters after the message name the powers it wants: `ask`, `search`, `emit`, and nothing else.
"""

import inspect
import types
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bus.errors import Failure
from bus.messages import BY_TYPE, Message, message_type

POWERS = ("ask", "search", "emit")


class DeclarationError(Exception):
    """An actor's signature or options do not fit; says which and what would."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A declared actor. Call it like the function it wraps."""

    name: str
    takes: type[Message]
    gives: tuple[type[Message], ...]
    joins: bool
    fans_out: bool
    powers: tuple[str, ...]
    prompts: tuple[str, ...]
    retries: int
    bound: int | None
    fallback: Callable[..., object] | None
    handle: Callable[..., Awaitable[object]]
    doc: str

    def __call__(self, message: object, **powers: object) -> Awaitable[object]:
        return self.handle(message, **powers)


def actor[F: Callable[..., Awaitable[object]]](
    *,
    fallback: Callable[..., object] | None = None,
    prompts: tuple[str, ...] = (),
    retries: int = 1,
    bound: int | None = None,
) -> Callable[[F], Actor]:
    """Declare an actor.

    `fallback(message, failure)` is a pure function that answers when a power fails; an actor with powers must have one.
    `bound` is the number of times a run may pass an actor that closes a loop.

    Raises DeclarationError for a signature that is no wiring.
    """

    def declare(handle: F) -> Actor:
        name = handle.__name__
        signature = inspect.signature(handle)
        hints = typing.get_type_hints(handle)
        parameters = list(signature.parameters)
        if not inspect.iscoroutinefunction(handle):
            raise DeclarationError(f"actor {name}: it blocks whoever calls it; write it as `async def`")
        if not parameters or parameters[0] not in hints or "return" not in hints:
            raise DeclarationError(f"actor {name}: give its message and its result a type")
        takes, joins = _one(name, hints[parameters[0]])
        gives, fans_out = _many(name, hints["return"])
        powers = tuple(parameters[1:])
        if unknown := [p for p in powers if p not in POWERS]:
            raise DeclarationError(f"actor {name}: no such power: {', '.join(unknown)}; there are {', '.join(POWERS)}")
        if ("ask" in powers or "search" in powers) and fallback is None:
            raise DeclarationError(f"actor {name}: it uses a power that can fail, so declare fallback=")
        doc = (inspect.getdoc(handle) or inspect.getdoc(inspect.getmodule(handle)) or "").strip().split("\n")[0]
        return Actor(name, takes, gives, joins, fans_out, powers, prompts, retries, bound, fallback, handle, doc)

    return declare


def _is_message(hint: object) -> typing.TypeGuard[type[Message]]:
    return isinstance(hint, type) and issubclass(hint, Message) and BY_TYPE.get(message_type(hint)) is hint


def _one(name: str, hint: object) -> tuple[type[Message], bool]:
    joins = typing.get_origin(hint) is tuple
    inner = typing.get_args(hint)[0] if joins else hint
    if not _is_message(inner):
        raise DeclarationError(f"actor {name}: {inner!r} is not in the catalogue; add it to bus/messages.py")
    if joins and typing.get_args(hint)[1:] != (Ellipsis,):
        raise DeclarationError(f"actor {name}: several of a message are tuple[{inner.__name__}, ...], not {hint!r}")
    return inner, joins


def _many(name: str, hint: object) -> tuple[tuple[type[Message], ...], bool]:
    if hint is type(None):
        return (), False
    if isinstance(hint, types.UnionType):
        parts = [_many(name, part) for part in typing.get_args(hint)]
        return tuple(given for gives, _ in parts for given in gives), any(fans for _, fans in parts)
    message, fans_out = _one(name, hint)
    return (message,), fans_out


def fall_back(declared: Actor, message: object, failure: Failure) -> object:
    """The fallback's answer. Raises the failure itself when the actor has none."""
    if declared.fallback is None:
        raise failure
    return declared.fallback(message, failure)
