"""The tools: what each takes and gives, as JSON Schema from its Structs, and who may use it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from runtime.edge.door import check_scope
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.request_parsing import parse_body
from runtime.keys import Scope
from runtime.mcp.calls import Call
from runtime.mcp.results import Text, Tool, ToolAnnotations, ToolCalled, Tools
from runtime.mcp.schemas import CallTool
from runtime.mcp.versions import INVALID_PARAMS, RpcError, at_least

#: The first version whose clients know structured results and links to resources.
STRUCTURED_SINCE = "2025-06-18"


@dataclass(frozen=True)
class Declared[Arguments: msgspec.Struct]:
    """A tool. `use` is its body; it may raise EXPECTED, whose sentence the model then reads. All of them only read."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[Arguments]
    gives: type[msgspec.Struct]
    use: Callable[[Call, Arguments], Awaitable[ToolCalled]]

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

    async def called(self, call: Call, arguments: bytes) -> ToolCalled:
        """Raises Problem 403."""
        check_scope(call.peer.caller, self.scope)
        try:
            result = await self.use(call, parse_body(arguments, self.arguments))
        except EXPECTED as error:
            return failed(problem_of(error))
        return result if at_least(call.version, STRUCTURED_SINCE) else _plain(result)


#: The tools by name, each with arguments of its own, hence Any.
type Offered = dict[str, Declared[Any]]


def failed(problem: Problem) -> ToolCalled:
    """A problem as the model reads it; so it may ask otherwise."""
    again = problem.headers.get("Retry-After")
    wait = f" (try again in {again} s)" if again else ""
    return ToolCalled(content=(Text(text=f"{problem.detail}{wait}"),), is_error=True)


def schema_of(struct: type[msgspec.Struct]) -> msgspec.Raw:
    """The JSON Schema of a Struct, whose root is an object's and no reference, as the protocol wants it."""
    _, schemas = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    root = schemas.pop(struct.__name__)
    return msgspec.Raw(msgspec.json.encode(root | ({"$defs": schemas} if schemas else {})))


def _plain(result: ToolCalled) -> ToolCalled:
    """For clients that know texts only."""
    return ToolCalled(
        content=tuple(each for each in result.content if isinstance(each, Text)), is_error=result.is_error
    )


def listed(tools: Offered, call: Call) -> Tools:
    """The tools that the caller may use."""
    return Tools(tools=tuple(tool.listed for tool in tools.values() if call.peer.caller.may(tool.scope)))


async def called(tools: Offered, call: Call) -> ToolCalled:
    """Raises RpcError, Problem 403."""
    params = call.params(CallTool)
    tool = tools.get(params.name)
    if tool is None:
        raise RpcError(INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; there are {', '.join(tools)}")
    return await tool.called(call, bytes(params.arguments))
