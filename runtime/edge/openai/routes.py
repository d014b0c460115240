"""OpenAI's protocol as a plug-in: its routes."""

from runtime.edge.openai import chat, models, responses
from runtime.edge.routes import Route, declared
from runtime.edge.state import Edge


def routes(edge: Edge) -> list[Route]:
    return declared(chat, models, responses)
