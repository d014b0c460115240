"""The Protocol every engine satisfies, and the request and reply that cross it.

The inference process drives an engine from one asyncio loop; blocking work runs on the engine's own thread. Closing the
iterator from `generate` cancels the request.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from prompts.contracts import Prompt
from prompts.files import Rendered
from prompts.vocabulary import Priority

#: What a prompt says where the engine has no grammar for the schema of its reply.
SHAPE = "Answer with nothing but one JSON value that fits this JSON Schema: {schema}"

Operation = Literal["generate", "verdict"]
Ending = Literal["stop", "length", "cancelled", "expired", "failed"]
State = Literal["closed", "loading", "warming", "ready", "stuck", "failed"]


class RequestRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What one request cost. `tokens_out` includes forced tokens; times are in seconds."""

    request_id: str
    operation: Operation
    prompt: str
    engine: str
    model: str
    model_digest: str
    priority: Priority
    ending: Ending
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_prefilled: int = 0
    tokens_out: int = 0
    tokens_forced: int = 0
    queue_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    replays: int = 0
    probability: float | None = None  # of the chosen value, for a verdict
    shortened: str = ""


class DeviceView(msgspec.Struct, frozen=True, kw_only=True):
    """The device at one moment. Ages are in seconds; `step_age_s` is how long the running step has taken."""

    state: State
    rows_decoding: int = 0
    rows_prefilling: int = 0
    waiting: dict[str, int] = {}
    queue_age_s: float = 0.0
    step_age_s: float = 0.0
    steps: int = 0
    pinned_prefixes: int = 0
    shared_prefixes: int = 0
    prefix_bytes: int = 0
    memory_bytes: int = 0
    memory_limit_bytes: int = 0
    faults: int = 0


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """`deadline` is on the loop's monotonic clock, in seconds; a request past it is never started.

    `size`: of the variables, in bytes as they came.
    """

    request_id: str
    variables: Prompt[Any]
    rendered: Rendered | None  # None for engines with `needs_rendering = False`
    priority: Priority
    deadline: float
    already_shown: str = ""  # text that an earlier attempt has shown; the reply continues after it
    seed: int = 0
    size: int = 0
    max_tokens: int = 0  # for prose: the most tokens; 0 for the prompt's own limit


class Delta(msgspec.Struct, frozen=True):
    """A piece of the reply's text; never empty, never half a character."""

    text: str


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The whole reply and what it cost. `text` holds JSON when the prompt has a schema; tokens are the engine's own."""

    text: str
    finish_reason: Literal["stop", "length"]
    engine: str
    model: str
    model_digest: str = ""
    tokens_in: int = 0
    tokens_in_cached: int = 0
    tokens_out: int = 0
    queue_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    probability: float | None = None  # of a one-token verdict
    shortened: str = ""  # what was dropped from the prompt to fit the context; may be empty
    cut: str = ""  # the paths of the reply that were cut to their limits; may be empty
    calls: int = 1  # of the model


@dataclass(frozen=True, slots=True)
class Wiring:
    """The parts that the process gives an engine besides its settings; an engine takes what it can use.

    `warm`: prompts whose constant part may be prefilled. `render` renders variables that had to be shortened. `on_record` is
    called once per request, `on_broken` once, with a line for a person, when the engine has failed for good.
    """

    warm: Callable[[], Sequence[Rendered]] = tuple
    render: Callable[[Prompt[Any]], Rendered] | None = None
    on_record: Callable[[RequestRecord], None] = lambda record: None
    on_broken: Callable[[str], None] = lambda why: None


class Engine(Protocol):
    """Raises from every method: NoReply past the deadline, BadReply for a reply outside its schema, Unavailable."""

    name: str
    model: str
    needs_rendering: bool
    owns_device: bool  # it holds one model on a device that only one process may use

    async def start(self) -> None:
        """Load and warm up. Raises Unavailable, with the remedy, when it cannot start."""
        ...

    async def close(self) -> None: ...

    def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        """Yield the deltas in order, then exactly one Finished."""
        ...


@runtime_checkable
class Remote(Protocol):
    """An engine whose model is served elsewhere. `away`: why that server cannot be used now; empty while it can."""

    away: str

    async def look_after(self) -> None:
        """Keep `away` true, for ever."""
        ...


@runtime_checkable
class Device(Protocol):
    """An engine with a device of its own, whose load can be watched."""

    def view(self) -> DeviceView: ...
