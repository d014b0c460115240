"""Text, JSON, verdicts and their records, on a tiny model with random weights; every reply is complete and in its schema."""

import asyncio
import json

import msgspec
import pytest

from bus.wire.errors import BadReply, NoReply, Unavailable
from prompts.library import Library
from runtime.engines.engine import Delta
from runtime.engines.limits import misfit
from runtime.engines.mlx.grammar import shortest
from tests.prompts.samples import SAMPLES
from tests.runtime.engines.sample import ENDLESS, collect, released, render, request, shape

JUDGE = shape(verdict={"enum": ["clean", "minor_issues"]}, score={"type": "integer", "minimum": 0, "maximum": 9})
NOTE = shape(ok={"type": "boolean"}, note={"type": "string", "maxLength": 12})


async def test_text_streams_and_ends_at_its_limit(mlx):
    deltas, finished = await collect(mlx, request(rendered=render(max_tokens=12, temperature=1.0)))
    assert "".join(deltas) == finished.text
    assert finished.tokens_out <= 12
    assert "\ufffd" not in finished.text


async def test_text_depends_on_the_seed_alone(mlx):
    hot = render(temperature=1.5, max_tokens=24)
    one, two, other = [(await collect(mlx, request(rendered=hot, seed=seed)))[1].text for seed in (7, 7, 8)]
    assert one == two != other


async def test_neighbours_do_not_change_a_row(mlx):
    hot = render(temperature=1.0, max_tokens=40)
    alone = (await collect(mlx, request(rendered=hot, seed=5)))[1].text
    crowd = [collect(mlx, request(rendered=render(f"Number {n}", temperature=1.0), seed=n)) for n in range(7)]
    (_, together), *_ = await asyncio.gather(collect(mlx, request(rendered=hot, seed=5)), *crowd)
    assert together.text == alone


@pytest.mark.parametrize("schema", [JUDGE, NOTE])
@pytest.mark.parametrize("temperature", [0.0, 1.5])
async def test_json_fits_its_schema(mlx, schema, temperature):
    asked = [
        collect(mlx, request(rendered=render(f"Q{n}", schema=schema, temperature=temperature, max_tokens=64), seed=n))
        for n in range(12)
    ]
    for deltas, finished in await asyncio.gather(*asked):
        assert "".join(deltas) == finished.text
        value = json.loads(finished.text)
        assert list(value) == schema["required"]
        assert finished.finish_reason == "stop"


async def test_forced_beginning_costs_no_step(mlx):
    deltas, finished = await collect(mlx, request(rendered=render(schema=JUDGE, max_tokens=64)))
    record = mlx.records[-1]
    assert deltas[0].startswith('{"verdict":"')
    assert 0 < record.tokens_forced < finished.tokens_out


async def test_reply_cut_by_its_limit_is_bad(mlx):
    with pytest.raises(BadReply, match="incomplete after"):
        await collect(mlx, request(rendered=render(schema=NOTE, max_tokens=3)))


@pytest.mark.parametrize(
    ("schema", "values"),
    [({"enum": ["supported", "refuted"]}, ["supported", "refuted"]), ({"type": "boolean"}, [True, False])],
)
async def test_verdict_takes_one_token_with_a_probability(mlx, schema, values):
    deltas, finished = await collect(mlx, request(rendered=render(schema=schema)))
    record = mlx.records[-1]
    assert json.loads(finished.text) in values
    assert deltas == [finished.text]
    assert (record.operation, record.tokens_out) == ("verdict", 1)
    assert 0.5 <= record.probability <= 1.0


async def test_verdicts_with_a_common_token_are_spelled(mlx):
    schema = {"enum": ["same one", "same two", "other"]}
    _, finished = await collect(mlx, request(rendered=render(schema=schema, max_tokens=32)))
    assert json.loads(finished.text) in schema["enum"]
    assert mlx.records[-1].operation == "generate"


async def test_schema_that_cannot_be_compiled(mlx):
    bad = shape(x={"type": "string", "pattern": "(?=a)b"})
    with pytest.raises(BadReply, match="cannot be compiled"):
        await collect(mlx, request(rendered=render(schema=bad)))
    await collect(mlx, request(rendered=render()))


async def test_reply_continues_what_was_shown(mlx):
    shown = "The refund is paid"
    fresh, finished = await collect(mlx, request(rendered=render(temperature=1.0), already_shown=shown))
    assert fresh
    assert finished.text == shown + "".join(fresh)
    await collect(mlx, request(rendered=render(temperature=1.0)))
    assert finished.tokens_in > mlx.records[-1].tokens_in


async def test_json_continues_what_was_shown(mlx):
    asked = render(schema=JUDGE, max_tokens=64)
    shown = '{"verdict":"minor'
    fresh, finished = await collect(mlx, request(rendered=asked, already_shown=shown))
    assert json.loads(finished.text)["verdict"] == "minor_issues"
    assert finished.text == shown + "".join(fresh)


async def test_expired_request_is_never_started(mlx):
    with pytest.raises(NoReply):
        await collect(mlx, request(rendered=render(), seconds=-1))


async def test_deadline_ends_a_running_reply(mlx):
    with pytest.raises(NoReply):
        await collect(mlx, request(rendered=render(schema=ENDLESS, max_tokens=100_000), seconds=0.15))


async def test_closing_the_iterator_frees_the_row(mlx):
    asked = request(rendered=render(max_tokens=20_000, schema=ENDLESS))
    stream = mlx.generate(asked)
    assert isinstance(await anext(stream), Delta)
    await stream.aclose()
    await released(mlx)
    assert mlx.records[-1].ending == "cancelled"
    assert mlx.view().rows_decoding == 0


async def test_record_has_the_cost(mlx):
    variables = SAMPLES[12]
    await collect(mlx, request(variables, rendered=render("x " * 90, schema=JUDGE, max_tokens=64), seed=3))
    record = mlx.records[-1]
    assert (record.prompt, record.engine, record.model, record.ending) == ("verify_answer", "mlx", mlx.model, "stop")
    assert len(record.model_digest) == 16
    assert record.tokens_in == record.tokens_cached + record.tokens_prefilled - record.tokens_forced
    assert record.prefill_s > 0
    assert record.decode_s > 0


async def test_closed_engine_is_unavailable(start):
    async with start() as engine:
        pass
    with pytest.raises(Unavailable):
        await collect(engine, request(rendered=render()))


LIBRARY = Library()
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


@pytest.mark.parametrize("variables", SAMPLES, ids=lambda v: v.name)
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
            assert misfit(json.loads(finished.text), rendered.schema) == ""
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
        assert misfit(json.loads(finished.text), schema) == ""
    assert "length" in reasons
