"""Cached prefixes: pinned ones stay for good, shared ones for the next request over the same evidence."""

import asyncio

import pytest

from tests.runtime.engines.sample import collect, render, request, shape

FACTS = "Refunds are paid within 14 days of the return. " * 6
YES = shape(ok={"type": "boolean"})


async def test_pinned_prefix_survives_other_requests(start):
    prompts = [render(system=f"Judge number {n}. " * 8) for n in range(6)]
    async with start(warm=prompts, settings={"shared_bytes": 200_000}) as engine:
        assert engine.view().pinned_prefixes == len(prompts)
        for n in range(60):
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


@pytest.mark.parametrize("temperature", [0.0, 1.0])
async def test_a_prefix_changes_no_word(start, temperature):
    prompt = render(
        FACTS, temperature=temperature, max_tokens=300, schema=shape(note={"type": "string", "maxLength": 30})
    )
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
