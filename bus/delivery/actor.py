"""An actor: a plain async function with its wiring in its signature.

`A -> B` is one output, `A -> B | C` a branch, `A -> tuple[B, ...]` a fan-out, `A -> None` a sink; `tuple[A, ...] -> B` joins
the lanes of a round. Parameters after the message name the powers the actor needs: `ask`, `search`, `emit` or `note`.
"""

import functools
import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, cast

from bus.powers.protocols import Ask, Emit, Note, Powers, Search
from bus.wire.errors import Failure
from bus.wire.messages import BY_TYPE, Message, message_type
from prompts.vocabulary import Priority

#: The input of an actor: a message, or all the lanes of a join in the order of their plan.
type Taken = Message | tuple[Message, ...]
#: What an actor returns: a message, several of them (a fan-out), or nothing.
type Result = Message | tuple[Message, ...] | None

POWERS: dict[str, object] = {"ask": Ask, "search": Search, "emit": Emit, "note": Note}


class DeclarationError(Exception):
    """An actor's signature or options are invalid; the message names them and the valid form."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A declared actor. `run` calls it with the powers it names; `fallback` answers for it on a Failure."""

    name: str
    takes: type[Message]
    gives: tuple[type[Message], ...]
    joins: bool
    fans_out: bool
    powers: tuple[str, ...]
    prompts: tuple[str, ...]
    priority: Priority
    retries: int
    bound: int | None
    run: Callable[[Taken, Powers], Awaitable[Result]]
    fallback: Callable[[Taken, Failure], Result] | None


@dataclass(frozen=True, slots=True)
class Declared[**P, R](Actor):
    """An actor that can still be called as the plain function it was declared from."""

    handle: Callable[P, Coroutine[Any, Any, R]]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
        return self.handle(*args, **kwargs)


class Declare(Protocol):
    """The decorator that `actor(...)` returns."""

    def __call__[**P, R: Result](self, handle: Callable[P, Coroutine[Any, Any, R]], /) -> Declared[P, R]: ...


def actor[T: Taken](
    *,
    fallback: Callable[[T, Failure], Result] | None = None,
    prompts: tuple[str, ...] = (),
    priority: Priority = "judge",
    retries: int = 1,
    bound: int | None = None,
) -> Declare:
    """Declare an actor.

    `fallback(message, failure)` is a pure function that answers when a power fails; an actor that asks or searches must
    have one. `priority` is the priority of its asks. `bound` limits how often a run may go round a loop that the actor
    closes.

    Raises DeclarationError for a signature that is not a valid wiring.
    """

    def declare[**P, R: Result](handle: Callable[P, Coroutine[Any, Any, R]], /) -> Declared[P, R]:
        who = f"actor {handle.__name__}"
        if not inspect.iscoroutinefunction(handle):
            raise DeclarationError(f"{who}: an actor must not block its caller; write it as `async def`")
        if bound is not None and bound < 1:
            raise DeclarationError(f"{who}: bound={bound} would stop every run; use 1 or more, or leave it out")
        (first, *powers), hints = _signature(who, handle)
        takes, joins = _one(who, hints[first])
        gives, fans_out = _many(who, hints["return"])
        if unknown := [power for power in powers if power not in POWERS]:
            raise DeclarationError(f"{who}: no such power: {', '.join(unknown)}; there are {', '.join(POWERS)}")
        if fallback is None and ("ask" in powers or "search" in powers):
            raise DeclarationError(f"{who}: it uses a power that can fail; declare fallback=")
        if fallback is not None:
            _check_fallback(f"the fallback of {who}", fallback, hints[first], hints["return"])
        return Declared(
            name=handle.__name__,
            takes=takes,
            gives=gives,
            joins=joins,
            fans_out=fans_out,
            powers=tuple(powers),
            prompts=prompts,
            priority=priority,
            retries=retries,
            bound=bound,
            run=_with_powers(handle, powers),
            fallback=cast(Callable[[Taken, Failure], Result] | None, fallback),
            handle=handle,
        )

    return declare


class _Handle(Protocol):
    def __call__(self, taken: Taken, /, **powers: Ask | Search | Emit | Note) -> Awaitable[Result]: ...


def _with_powers[**P, R: Result](
    handle: Callable[P, Coroutine[Any, Any, R]], names: Sequence[str]
) -> Callable[[Taken, Powers], Awaitable[Result]]:
    """The function in the form that everyone runs. Its signature was checked before: the names after the message are powers."""
    called = cast(_Handle, handle)

    @functools.wraps(handle)
    async def run(taken: Taken, powers: Powers) -> Result:
        return await called(taken, **{name: getattr(powers, name) for name in names})

    return run


def _signature(who: str, function: Callable[..., object]) -> tuple[list[str], dict[str, Any]]:
    """The parameter names, and the types of the parameters and the result."""
    hints = typing.get_type_hints(function)
    parameters = list(inspect.signature(function).parameters)
    if not parameters or parameters[0] not in hints or "return" not in hints:
        raise DeclarationError(f"{who}: annotate its message and its result with types")
    return parameters, hints


def _check_fallback(who: str, fallback: Callable[..., object], taken: Any, given: Any) -> None:
    """Check that the fallback is synchronous, takes the actor's message and a Failure, and returns what the actor may
    return.
    """
    if inspect.iscoroutinefunction(fallback):
        raise DeclarationError(f"{who}: a fallback is synchronous and uses only its message; write it as `def`")
    parameters, hints = _signature(who, fallback)
    if (
        len(parameters) != 2
        or not _covers(hints[parameters[0]], taken)
        or not _covers(hints.get(parameters[1]), Failure)
    ):
        raise DeclarationError(f"{who}: a fallback takes the actor's message and a Failure, and nothing else")
    allowed = _parts(given)
    if wrong := [part for part in _parts(hints["return"]) if part not in allowed]:
        raise DeclarationError(f"{who}: it gives {', '.join(map(_name, wrong))}, which the actor does not")


def _covers(accepted: Any, given: Any) -> bool:
    """Whether a parameter of the first type accepts a value of the second."""
    if typing.get_origin(given) is tuple:
        return typing.get_origin(accepted) is tuple and _covers(typing.get_args(accepted)[0], typing.get_args(given)[0])
    return isinstance(accepted, type) and issubclass(given, accepted)


def _parts(hint: Any) -> list[Any]:
    """The members of a union, whichever way it is written."""
    if isinstance(hint, typing.TypeAliasType):
        return _parts(hint.__value__)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return [part for member in typing.get_args(hint) for part in _parts(member)]
    return [hint]


def _is_message(hint: object) -> TypeGuard[type[Message]]:
    return isinstance(hint, type) and issubclass(hint, Message) and BY_TYPE.get(message_type(hint)) is hint


def _one(who: str, hint: Any) -> tuple[type[Message], bool]:
    several = typing.get_origin(hint) is tuple
    inner = typing.get_args(hint)[0] if several else hint
    if not _is_message(inner):
        raise DeclarationError(f"{who}: {inner!r} is not in the catalogue; add it to bus/wire/messages.py")
    if several and typing.get_args(hint)[1:] != (Ellipsis,):
        raise DeclarationError(f"{who}: several of a message are tuple[{inner.__name__}, ...], not {hint!r}")
    return inner, several


def _many(who: str, hint: Any) -> tuple[tuple[type[Message], ...], bool]:
    parts = [_one(who, part) for part in _parts(hint) if part is not type(None)]
    return tuple(message for message, _ in parts), any(several for _, several in parts)


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
