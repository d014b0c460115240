"""A protocol of the edge in one file: `POST /plain` takes a question as JSON and streams only the text of the answer.

Install it with this in its pyproject.toml:

    [project.entry-points."groundwire.protocols"]
    plain = "plain_protocol:routes"
"""

from collections.abc import Iterator

import msgspec
from aiohttp import web

from bus.wire.messages import QuestionAsked
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.relay import TextForm
from runtime.edge.routes import Reply, Route
from runtime.edge.sse import stream
from runtime.edge.state import EDGE, Edge


class PlainForm(TextForm[bytes]):
    """One event for each piece of text, a JSON string."""

    def text(self, number: int, tokens: list[str]) -> Iterator[bytes]:
        yield b"data: %s\n\n" % msgspec.json.encode("".join(tokens))

    def failed(self, problem: Problem) -> Iterator[bytes]:
        yield b"event: failed\ndata: %s\n\n" % msgspec.json.encode(problem.detail)


@Route("POST", "/plain", {200: Reply("Server-sent events, a JSON string each.", "text/event-stream")}, "ask")
async def plain(request: web.Request, question: QuestionAsked) -> web.StreamResponse:
    """Ask, and read the text of the answer."""
    async with request.app[EDGE].submit(request[CALLER], question, "plain") as reader:
        return await stream(request, reader, PlainForm(reader.run_id), "plain")


def routes(edge: Edge) -> list[Route]:
    return [plain]
