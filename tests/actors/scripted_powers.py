"""The three powers for tests: replies by rule or by hand, hits from a list, and a client that remembers what it saw.

`ScriptedAsk` answers as the extractive engine would; `failing` raises; `Screen` keeps what a client would have seen.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from bus.powers.events import Done, Error, Event, Progress, Stretch, Token, TokensEnd, tokens_of
from bus.powers.protocols import Variables
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.errors import Failure
from bus.wire.parts import Collection, Passage
from bus.wire.settled import UnverifiedSentence
from prompts.contracts import Prompt
from runtime.engines.extractive.engine import reply_to

type Reply = object | Callable[[Any], object]


class ScriptedAsk:
    """`ask`: replies by prompt name, a value or a function of the variables; the rules answer prompts that have none."""

    cut_off = False

    def __init__(self, replies: Mapping[str, Reply] | None = None) -> None:
        self.replies = dict(replies or {})
        self.asked: list[Prompt[Any]] = []

    def _reply[R](self, variables: Variables[R]) -> object:
        asked = cast(Prompt[Any], variables)
        self.asked.append(asked)
        reply = self.replies.get(variables.name)
        if reply is None:
            return reply_to(asked)
        return reply(asked) if callable(reply) else reply

    async def __call__[R](self, variables: Variables[R]) -> R:
        await asyncio.sleep(0)
        found = self._reply(variables)
        assert isinstance(found, variables.reply_type()), f"{variables.name} replies {found!r}"
        return found

    async def stream(
        self, variables: Variables[str], *, already_shown: str = "", max_tokens: int = 0
    ) -> AsyncIterator[str]:
        text = self._reply(variables)
        assert isinstance(text, str)
        rest = text[len(already_shown) :] if text.startswith(already_shown) else text
        for piece in tokens_of(rest):
            await asyncio.sleep(0)
            yield piece


class Failing:
    """`ask` and `search` that cannot: raise the same failure for everything."""

    cut_off = False

    def __init__(self, failure: Failure) -> None:
        self.failure = failure

    async def __call__(self, *args: object, **kwargs: object) -> Any:
        raise self.failure

    async def stream(self, *args: object, **kwargs: object) -> AsyncIterator[str]:
        raise self.failure
        yield ""


class Hanging:
    """`ask` and `search` that never return. `begun` is set once a caller waits."""

    cut_off = False

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self, *args: object, **kwargs: object) -> Any:
        self.begun.set()
        await asyncio.Event().wait()

    async def stream(self, *args: object, **kwargs: object) -> AsyncIterator[str]:
        await self()
        yield ""


@dataclass
class Hits:
    """`search` over a list."""

    passages: tuple[Passage, ...] = ()
    none_passes: bool = False
    languages: Mapping[str, int] = field(default_factory=dict)
    asked: list[SearchRequest] = field(default_factory=list)

    async def __call__(self, request: SearchRequest) -> SearchReply:
        self.asked.append(request)
        known = Collection(languages=dict(self.languages))
        return SearchReply(passages=self.passages, snapshot="s1", collection=known, none_passes=self.none_passes)


@dataclass
class Screen:
    """`emit`: what the client has seen, and the stretches of it that are marked. `before` is what an earlier attempt showed."""

    before: str = ""
    cited: tuple[int, ...] = ()
    seen: list[Event] = field(default_factory=list)
    asides: list[Event] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    marked: list[Stretch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pieces += tokens_of(self.before)

    async def progress(self) -> Progress:
        closed = any(isinstance(event, Done) for event in self.seen)
        over = any(isinstance(event, TokensEnd | Error) for event in self.seen)
        return Progress(
            len(self.pieces) + len(self.seen),
            len(self.pieces),
            "closed" if closed else "ended" if over else "open",
            cited=self.cited,
        )

    async def shown(self) -> str:
        return self.text_shown

    @property
    def text_shown(self) -> str:
        return "".join(self.pieces)

    async def unverified(self) -> tuple[UnverifiedSentence, ...]:
        return tuple(
            UnverifiedSentence(text=self.text_shown[a:b], answer_start=a, answer_end=b) for a, b in self.marked
        )

    async def tokens(
        self, pieces: Sequence[str], *, cited: Sequence[int] = (), unverified: Sequence[Stretch] = ()
    ) -> None:
        await asyncio.sleep(0)
        self.cited = tuple(cited)
        assert all(pieces)
        at = len(self.text_shown)
        self.marked += [(at + start, at + end) for start, end in unverified if end > 0]
        self.pieces += pieces

    async def text(self, text: str, *, unverified: Sequence[Stretch] = ()) -> None:
        await self.tokens(tokens_of(text), unverified=unverified)

    async def events(self, *events: Event) -> None:
        assert not any(isinstance(event, Token) for event in events)
        self.seen += events

    async def aside(self, event: Event) -> None:
        self.asides.append(event)
