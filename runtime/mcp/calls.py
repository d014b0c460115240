"""One request of a client on its way through the server: what it asks, who asks, and how to tell them how far it is."""

from dataclasses import dataclass
from typing import Protocol

import msgspec
from msgspec import UNSET

from bus.journal.access import Groups
from runtime.edge.door import Caller
from runtime.edge.state import Edge
from runtime.mcp.schemas import Id, LogMessage, McpMessage, Object, Params, Progress, ProgressMeta, RequestMeta
from runtime.mcp.versions import INVALID_PARAMS, MODERN, RpcError, params_of

#: From the least to the most urgent.
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Peer(Protocol):
    """Who asks, and what answers them. `base`: where their addresses begin (`https://host:port`); empty where there is no page."""

    @property
    def caller(self) -> Caller: ...

    @property
    def base(self) -> str: ...

    async def edge(self) -> Edge:
        """What answers questions, once it is up. Raises Unavailable."""
        ...


class Stream(Protocol):
    """What carries notifications about one request, before its response."""

    async def begin(self, run_id: str) -> None:
        """The request has become a run, which may take a while."""
        ...

    async def notify(self, method: str, params: Object, number: int = 0) -> None:
        """`number`: of the run's event that it tells of; 0 for none."""
        ...

    async def alive(self) -> None:
        """Nothing has happened for a while."""
        ...


@dataclass
class Call:
    """A request. `version`: of the protocol. `run_key`: what names its run for a cancellation by another request, if anything does.

    `may_leave`: a client that leaves has not cancelled. `log_level`: what the connection asked for.
    """

    message: McpMessage
    version: str
    peer: Peer
    stream: Stream
    run_key: str | None = None
    may_leave: bool = False
    log_level: str = ""

    @property
    def modern(self) -> bool:
        return self.version == MODERN

    @property
    def groups(self) -> Groups:
        return self.peer.caller.groups

    @property
    def id(self) -> Id:
        assert self.message.id is not UNSET
        return self.message.id

    @property
    def token(self) -> Id | None:
        """What the client wants to be told of progress with. Raises RpcError."""
        token = self.meta.progress_token
        return None if token is UNSET else token

    @property
    def meta(self) -> RequestMeta:
        return self.params(Params).meta

    def params[T: Params](self, kind: type[T]) -> T:
        """Raises RpcError."""
        return params_of(self.message, kind)


class Teller:
    """Tells a client how far its request is, if it asked to be told."""

    def __init__(self, stream: Stream, token: Id | None, level: str = "") -> None:
        """`level`: of the least urgent message for the log that the client wants; empty for none. Raises RpcError."""
        if level and level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"{level[:40]} is no level of a log; take one of {', '.join(LEVELS)}")
        self.stream = stream
        self.token = token
        self.level = level

    @classmethod
    def of(cls, call: Call) -> "Teller":
        """Raises RpcError."""
        meta = call.meta
        return cls(call.stream, call.token, (meta.log_level or "") if call.modern else call.log_level)

    @property
    def wanted(self) -> bool:
        return self.token is not None or bool(self.level)

    async def progress(self, number: int, message: str, event: msgspec.Struct) -> None:
        """`number` grows with each; `event` is the same for programs."""
        if self.token is not None:
            told = Progress(progress_token=self.token, progress=number, message=message, meta=ProgressMeta(event=event))
            await self.stream.notify("notifications/progress", told, number)

    async def log(self, level: str, number: int, data: msgspec.Struct) -> None:
        if self.level and LEVELS.index(level) >= LEVELS.index(self.level):
            said = LogMessage(level=level, logger="groundwire", data=data)
            await self.stream.notify("notifications/message", said, number)
