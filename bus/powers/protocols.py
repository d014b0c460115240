"""The powers an actor may ask for: its only clock, randomness and I/O, and a note. Their bodies are in this package."""

from collections.abc import AsyncIterator, Sequence
from typing import ClassVar, Protocol

import msgspec

from bus.journal.records import ChoiceRecord
from bus.powers.events import Event, Progress, Stretch
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.settled import UnverifiedSentence


class Variables[Reply](Protocol):
    """The variables of a prompt; the class attribute names the prompt."""

    name: ClassVar[str]

    @classmethod
    def reply_type(cls) -> type[Reply]: ...


class Ask(Protocol):
    """The model. Raises NoReply, BadReply or Unavailable. `cut_off`: the last stream ended at the model's limit of tokens."""

    cut_off: bool

    async def __call__[Reply](self, variables: Variables[Reply]) -> Reply:
        """The reply, in the prompt's schema."""
        ...

    def stream(self, variables: Variables[str], *, already_shown: str = "", max_tokens: int = 0) -> AsyncIterator[str]:
        """Pieces of a prose reply as they are generated, after `already_shown`; survives the death of a device.

        `max_tokens`: the most tokens of the model; 0 for the prompt's own limit. Closing it stops the model.
        """
        ...


class Search(Protocol):
    """The index. Raises Unavailable."""

    async def __call__(self, request: SearchRequest) -> SearchReply:
        """Hits, best first; may be empty."""
        ...


class Emit(Protocol):
    """The client. Raises Superseded when another attempt has gone on with the run."""

    async def progress(self) -> Progress: ...
    async def shown(self) -> str: ...
    async def unverified(self) -> tuple[UnverifiedSentence, ...]: ...
    async def tokens(
        self, pieces: Sequence[str], *, cited: Sequence[int] = (), unverified: Sequence[Stretch] = ()
    ) -> None: ...
    async def text(self, text: str, *, unverified: Sequence[Stretch] = ()) -> None: ...
    async def events(self, *events: Event) -> None: ...
    async def aside(self, event: Event) -> None: ...


class Note(Protocol):
    """The stage's own record: what explains its result to a person, and no later stage reads."""

    def __call__(self, choice: ChoiceRecord, /) -> None: ...


def unnoted(choice: ChoiceRecord, /) -> None:
    """A note that nobody keeps."""


class Powers(msgspec.Struct, frozen=True):
    """All powers; an actor gets those that it names."""

    ask: Ask
    search: Search
    emit: Emit
    note: Note = unnoted
