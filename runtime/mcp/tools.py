"""The declaration of a tool: its arguments and result as JSON Schema from their Structs, and the scope that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from mcp_types import CallToolResult, ResourceLink, TextContent, Tool, ToolAnnotations
from msgspec import UNSET

from bus.runs.router import Closing
from runtime.edge.door import check_scope
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.request_parsing import parse_body
from runtime.keys import Scope
from runtime.mcp.peer import Context


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
        """Raises Problem 403, Closing."""
        check_scope(context.lifespan_context.caller, self.scope)
        try:
            return await self.use(context, parse_body(msgspec.json.encode(arguments), self.arguments))
        except Closing:
            raise
        except EXPECTED as error:
            return failed(problem_of(error))


def result_of(text: str, data: msgspec.Struct, links: tuple[ResourceLink, ...] = ()) -> CallToolResult:
    """A result as text for any model, with links to its sources, and as data."""
    return CallToolResult(
        content=[TextContent(type="text", text=text), *links], structured_content=msgspec.to_builtins(data)
    )


def failed(problem: Problem) -> CallToolResult:
    """A problem as text, so that the client's model can ask differently."""
    text, meta = problem.detail, None
    if problem.retry_after_s is not UNSET:
        text += f" (try again in {problem.retry_after_s} s)"
        meta = {"groundwire/retry_after_s": problem.retry_after_s}
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta=meta)


def schema_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a Struct. Its root is an object and no reference, as the protocol requires."""
    _, schemas = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    root: dict[str, Any] = schemas.pop(struct.__name__)
    return root | ({"$defs": schemas} if schemas else {})
