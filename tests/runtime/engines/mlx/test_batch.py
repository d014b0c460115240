"""Rows alone and together give the same reply; cached prefixes; the warm-up does all of it."""

import asyncio

import mlx.core as mx
from mlx_lm.models.cache import BatchKVCache, KVCache

from runtime.engines.mlx import warmup
from runtime.engines.mlx.jobs import Forward
from runtime.engines.mlx.model import load
from tests.runtime.engines.sample import ENDLESS, collect, render, request, shape


class Watched:
    """A model that notes each call's rows, tokens and kind of cache."""

    def __init__(self, inner):
        self.inner, self.calls = inner, []

    def __call__(self, inputs, cache=None):
        if cache is not None:
            self.calls.append((*inputs.shape, type(cache[0])))
        return self.inner(inputs, cache=cache)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def watched():
    models = []

    def loader(settings):
        loaded = load(settings)
        loaded.model = Watched(loaded.model)
        models.append(loaded.model)
        return loaded

    return loader, models


async def beginning(events, length=300):
    """The first `length` characters of a reply, from here on."""
    text = ""
    async for event in events:
        text += event.text
        if len(text) >= length:
            break
    return text[:length]


async def test_second_row_joins_and_leaves(start):
    loader, models = watched()
    long = render("One", schema=ENDLESS, max_tokens=4000, temperature=1.0)
    short = render("And two", max_tokens=12, temperature=1.0)
    async with start(loader=loader) as engine:
        alone = engine.generate(request(rendered=long))
        text = await beginning(alone)
        await alone.aclose()
        apart = text, (await collect(engine, request(rendered=short)))[1].text
        models[0].calls.clear()
        beside = engine.generate(request(rendered=long))
        first = await anext(beside)
        second = (await collect(engine, request(rendered=short)))[1].text
        rest = await beginning(beside)
        await beside.aclose()
    assert ((first.text + rest)[:300], second) == apart
    steps = {(rows, kind) for rows, tokens, kind in models[0].calls if tokens == 1}
    assert {(1, KVCache), (2, BatchKVCache)} <= steps
    assert (2, KVCache) not in steps


async def test_last_row_makes_way_for_the_next(start):
    async def replies(engine):
        asked = [collect(engine, request(rendered=render(f"Q{n}", temperature=1.0), seed=n)) for n in range(3)]
        return [finished.text for _, finished in await asyncio.gather(*asked)]

    async with start() as engine:
        expected = await replies(engine)
        for _ in range(3):
            asked = engine.generate(request(rendered=render(schema=ENDLESS, max_tokens=2000)))
            await anext(asked)
            await asked.aclose()
        assert await replies(engine) == expected


async def test_warm_up_steps_one_row_and_two(start):
    loader, models = watched()
    async with start(loader=loader):
        steps = [(rows, kind) for rows, tokens, kind in models[0].calls if tokens == 1]
    assert steps == [(1, KVCache), (1, KVCache), (2, BatchKVCache), (1, BatchKVCache)]


async def test_device_kernels_are_compiled_at_start(start, monkeypatch):
    lengths, last = [], Forward.last

    def counted(self, tokens, cache):
        lengths.append(tokens.shape[1])
        return last(self, tokens, cache)

    monkeypatch.setattr(Forward, "last", counted)
    monkeypatch.setattr(mx.cuda, "is_available", lambda: True)
    async with start(settings={"idle_chunk_tokens": 96}):
        assert {*warmup.KERNEL_TOKENS, 96} <= set(lengths)


FACTS = "Refunds are paid within 14 days of the return. " * 6
YES = shape(ok={"type": "boolean"})


async def test_pinned_prefix_survives_other_requests(start):
    prompts = [render(system=f"Judge number {n}. " * 8) for n in range(6)]
    async with start(warm=prompts, settings={"shared_bytes": 200_000}) as engine:
        assert engine.view().pinned_prefixes == len(prompts)
        for n in range(25):
            await collect(engine, request(rendered=render(f"{n} " * 40, system="", max_tokens=1)))
        for prompt in prompts:
            _, finished = await collect(engine, request(rendered=prompt))
            assert finished.tokens_in_cached > len("Judge number") * 2
        assert engine.view().pinned_prefixes == len(prompts)


async def test_first_request_pins_its_beginning(start):
    async with start() as engine:
        first, second = [
            (await collect(engine, request(rendered=render(text, system="Judge. " * 20))))[1] for text in ("one", "two")
        ]
        assert first.tokens_in_cached == 0
        assert second.tokens_in_cached > 20


async def test_concurrent_judgements_share_evidence(start):
    async with start() as engine:
        asked = [
            collect(engine, request(rendered=render(f"{FACTS} Claim {n}", schema=YES, max_tokens=16))) for n in range(6)
        ]
        replies = [finished for _, finished in await asyncio.gather(*asked)]
        assert sum(r.tokens_in_cached > r.tokens_in * 0.8 for r in replies) == len(replies) - 1


async def test_a_prefix_changes_no_word(start):
    prompt = render(FACTS, temperature=1.0, max_tokens=300, schema=shape(note={"type": "string", "maxLength": 30}))
    texts = set()
    async with start() as engine:
        for _ in range(3):
            texts.add((await collect(engine, request(rendered=prompt, seed=3)))[1].text)
    async with start(settings={"chunk_tokens": 7, "idle_chunk_tokens": 7}) as engine:
        texts.add((await collect(engine, request(rendered=prompt, seed=3)))[1].text)
    assert len(texts) == 1


async def test_shared_prefixes_stay_in_their_room(start):
    async with start(settings={"shared_bytes": 300_000}) as engine:
        for n in range(12):
            await collect(engine, request(rendered=render(f"{n} {FACTS}", system="", max_tokens=1)))
        view = engine.view()
        assert 1 <= view.shared_prefixes < 12
        assert view.prefix_bytes <= 300_000
