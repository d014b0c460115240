"""Every agent's reply is complete and in its schema, however little room it has and however random the model."""

import asyncio
import json

import msgspec
import pytest

from prompts.contracts import PROMPTS
from prompts.library import Library
from runtime.engines.mlx.grammar import shortest
from runtime.engines.openai.wire import problem
from tests.runtime.engines.sample import VARIABLES, collect, render, request, shape

LIBRARY = Library()
JSON_PROMPTS = [v for v in VARIABLES if v.reply_type() is not str]
ITEM = shape(id={"type": "string", "minLength": 2}, kind={"enum": ["a", "longest"]})


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (ITEM, '{"id":"~^","kind":"longest"}'),
        (shape(items={"type": "array", "items": ITEM}), '{"items":[{"id":"~^","kind":"longest"}]}'),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, "[false,false]"),
        ({"anyOf": [{"type": "null"}, {"type": "string", "minLength": 9}]}, '"~^~^~^~^~"'),
        ({"type": "integer", "maximum": 4000}, "4000"),
    ],
)
def test_shortest_reply(schema, text):
    assert shortest(schema) == text


@pytest.mark.parametrize("variables", VARIABLES, ids=lambda v: v.name)
async def test_every_prompt_gets_a_valid_reply(mlx, variables):
    rendered = LIBRARY.render(variables)
    # The whole system texts are long in the tiny model's tokens.
    prompt = render(
        rendered.user, system=rendered.system[:300], schema=rendered.schema, temperature=1.0, max_tokens=140
    )
    asked = [collect(mlx, request(variables, rendered=prompt, seed=seed)) for seed in range(2)]
    for deltas, finished in await asyncio.gather(*asked):
        assert "".join(deltas) == finished.text
        if rendered.schema is not None:
            assert problem(json.loads(finished.text), rendered.schema) == ""
            msgspec.json.decode(finished.text, type=variables.reply_type())


@pytest.mark.parametrize("room", [60, 80, 100])
async def test_reply_without_room_is_marked_as_cut(mlx, room):
    schema = shape(
        note={"type": "string", "minLength": 20, "maxLength": 5000},
        tags={"type": "array", "items": ITEM, "maxItems": 99},
    )
    asked = render(schema=schema, temperature=1.0, max_tokens=room)
    reasons = set()
    for seed in range(4):
        _, finished = await collect(mlx, request(rendered=asked, seed=seed))
        reasons.add(finished.finish_reason)
        assert finished.tokens_out <= room
        assert problem(json.loads(finished.text), schema) == ""
    assert "length" in reasons


def test_every_json_prompt_has_a_sample():
    assert len(JSON_PROMPTS) == sum(prompt.reply_type() is not str for prompt in PROMPTS)
