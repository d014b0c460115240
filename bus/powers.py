"""The three powers an actor may ask for. Their bodies are beside them; there is no clock, no randomness and no I/O but these."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import ClassVar, Protocol

from bus.events import Event, Progress
from bus.messages import Passage


class Variables(Protocol):
    """The variables of a prompt; the class attribute names it."""

    name: ClassVar[str]


class Ask(Protocol):
    """The device. Raises NoReply, BadReply or Unavailable."""

    async def __call__[R](self, variables: Variables, reply: type[R]) -> R:
        """The reply, in the prompt's schema."""
        ...

    async def map[R](self, variables: Iterable[Variables], reply: type[R]) -> list[R]:
        """All the replies, asked together, in order."""
        ...

    def stream(self, variables: Variables, *, already_shown: str = "") -> AsyncIterator[str]:
        """Pieces of a prose reply as they are made, after `already_shown`; survives the device's death."""
        ...


class Search(Protocol):
    """The index. Raises Unavailable."""

    async def __call__(self, query: str, *, language: str, k: int, bm25_k: int = 5, vector_k: int = 5) -> "Found":
        """Hits, best first; may be empty."""
        ...


class Found(Protocol):
    @property
    def passages(self) -> tuple[Passage, ...]: ...
    @property
    def snapshot(self) -> str: ...


class Emit(Protocol):
    """The client. Raises Superseded when another attempt has gone on with the run."""

    async def progress(self) -> Progress: ...
    async def shown(self) -> str: ...
    async def tokens(self, pieces: Sequence[str]) -> None: ...
    async def text(self, text: str) -> None: ...
    async def events(self, *events: Event) -> None: ...
    async def aside(self, event: Event) -> None: ...
