"""A sample prompt, and requests over it."""

import asyncio
import itertools
from typing import Any

from prompts import contracts as c
from prompts.files import Rendered
from prompts.vocabulary import Priority
from runtime.engines.engine import Delta, Engine, Finished, Request
from runtime.engines.mlx.engine import MlxEngine

RELEVANCE = c.Relevance(
    sub_query_id="sq_1",
    sub_query_statement="refund time",
    relevant_extracts=(),
    sub_answer="14 days.",
    confidence="high",
    missing_aspects=(),
)

PLAIN = c.AnswerSimple(
    original_query="q",
    retrieved_chunks=(c.Evidence(n=1, source_id="a", title="A", text="Refunds are paid within 14 days."),),
    language="en",
)
_ids = itertools.count(1)


def request(
    variables: c.Prompt[Any] = PLAIN,
    *,
    rendered: Rendered | None = None,
    priority: Priority = "answer",
    seconds: float = 120.0,
    already_shown: str = "",
    seed: int = 0,
) -> Request:
    """A request with `seconds` left. Call it inside a running loop."""
    return Request(
        request_id=f"r{next(_ids)}",
        variables=variables,
        rendered=rendered,
        priority=priority,
        deadline=asyncio.get_running_loop().time() + seconds,
        already_shown=already_shown,
        seed=seed,
    )


async def collect(engine: Engine, asked: Request) -> tuple[list[str], Finished]:
    """The deltas' texts and the Finished, which must be the last event."""
    events = [event async for event in engine.generate(asked)]
    *deltas, finished = events
    assert isinstance(finished, Finished)
    assert all(isinstance(d, Delta) and d.text for d in deltas)
    return [d.text for d in deltas if isinstance(d, Delta)], finished


async def released(engine: MlxEngine) -> None:
    """Wait until the device has released every request."""
    for ticket in list(engine._open):
        await ticket.closed.wait()


def render(
    text: str = "Tell me.",
    *,
    system: str = "You are a strict judge of passages. Answer briefly.",
    schema: dict[str, Any] | None = None,
    temperature: float = 0.0,
    max_tokens: int = 16,
) -> Rendered:
    return Rendered(
        system=system, user=text, version="v1", schema=schema, temperature=temperature, max_tokens=max_tokens
    )


def shape(**properties: Any) -> dict[str, Any]:
    """A closed object schema in which everything is required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


#: A reply that goes on until it is stopped.
ENDLESS = shape(note={"type": "string", "minLength": 100_000})
