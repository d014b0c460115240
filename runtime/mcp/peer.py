"""The caller of a request, and how a tool reports progress to it."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from mcp.server.context import ServerRequestContext
from mcp_types import ProgressNotification, ProgressNotificationParams

from bus.runs.router import Reader
from bus.wire.messages import QuestionAsked
from runtime.edge.door import Caller
from runtime.edge.state import Edge


class Peer:
    """A caller and the edge that answers it.

    `base`: the start of the edge's addresses (`https://host:port`); empty if it serves no pages. `run_key`: the idempotency key of
    the run. `may_leave`: a client that disconnects has not cancelled. `after`: the last event of the run that the client received.
    """

    run_key: str | None = None
    may_leave = False
    after = 0

    def __init__(self, caller: Caller, base: str = "") -> None:
        self.caller = caller
        self.base = base

    async def edge(self) -> Edge:
        """The edge, once it is ready. Raises Unavailable."""
        raise NotImplementedError

    def run(self, edge: Edge, question: QuestionAsked) -> AbstractAsyncContextManager[Reader]:
        """The events of the question's run. Raises the errors of `Edge.submit`."""
        return edge.submit(self.caller, question, "mcp")

    async def begin(self, run_id: str) -> None:
        """Called when the request has become a run."""

    async def alive(self) -> None:
        """Called after a silence."""


#: The parameters of a request are its method's own, hence Any.
type Context = ServerRequestContext[Peer, Any]


def token_of(context: Context) -> str | int | None:
    """The client's progress token; None if it wants no progress."""
    return (context.meta or {}).get("progress_token")


async def report(context: Context, number: float, message: str, event: msgspec.Struct) -> None:
    """Report progress to a client that wants it. `number` grows with each call; `event` is the same progress for programs."""
    if (token := token_of(context)) is not None:
        params = ProgressNotificationParams(
            progress_token=token,
            progress=number,
            message=message,
            _meta={"groundwire/event": msgspec.to_builtins(event)},
        )
        await context.session.send_notification(ProgressNotification(params=params), context.request_id)
