"""The declaration of a tool: its arguments and result as JSON Schema from their Structs, and the scope that it needs.

`Peer` is the caller of a request, and `report` tells it of progress.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolResult,
    ProgressNotification,
    ProgressNotificationParams,
    ResourceLink,
    TextContent,
    Tool,
    ToolAnnotations,
)
from msgspec import UNSET

from bus.runs.router import Closing, Reader
from bus.wire.messages import QuestionAsked
from bus.wire.requests import parse_body
from runtime.edge.door import Caller, check_scope
from runtime.edge.problems import EXPECTED, problem_of
from runtime.edge.state import Edge
from runtime.keys import Scope


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


@dataclass(frozen=True)
class Declared[Arguments: msgspec.Struct]:
    """A read-only tool. `use` is its body; it may raise EXPECTED, whose sentence the client's model reads."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[Arguments]
    gives: type[msgspec.Struct]
    use: Callable[[Context, Arguments], Awaitable[CallToolResult]]

    @cached_property
    def listed(self) -> Tool:
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema_of(self.arguments),
            output_schema=schema_of(self.gives),
            annotations=ToolAnnotations(
                title=self.title, read_only_hint=True, idempotent_hint=True, open_world_hint=False
            ),
        )

    async def called(self, context: Context, arguments: dict[str, Any]) -> CallToolResult:
        """The result, or a problem as text, so that the client's model can ask differently. Raises Problem 403, Closing."""
        check_scope(context.lifespan_context.caller, self.scope)
        try:
            return await self.use(context, parse_body(msgspec.json.encode(arguments), self.arguments))
        except Closing:
            raise
        except EXPECTED as error:
            problem, meta = problem_of(error), None
        text = problem.detail
        if problem.retry_after_s is not UNSET:
            text += f" (try again in {problem.retry_after_s} s)"
            meta = {"groundwire/retry_after_s": problem.retry_after_s}
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta=meta)


def result_of(text: str, data: msgspec.Struct, links: tuple[ResourceLink, ...] = ()) -> CallToolResult:
    """A result as text for any model, with links to its sources, and as data."""
    return CallToolResult(
        content=[TextContent(type="text", text=text), *links], structured_content=msgspec.to_builtins(data)
    )


def schema_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a Struct. Its root is an object and no reference, as the protocol requires."""
    _, schemas = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    root: dict[str, Any] = schemas.pop(struct.__name__)
    return root | ({"$defs": schemas} if schemas else {})
