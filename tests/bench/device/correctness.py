"""Invariants: replies fit their schema, pinned prefixes stay."""

import json
import random

from prompts.files import Rendered
from runtime.engines.limits import misfit
from tests.bench.device.driving import CLAIM, INSTRUCTION, Reply, ask, ask_all, rendered, running
from tests.bench.device.figures import Figure, Scale
from tests.bench.device.schemas import full_schemas, short_schemas

PINNED = 14


async def schema_valid(model: str, scale: Scale) -> list[Figure]:
    """Check hot replies over every prompt's schema: a tenth alone, the rest 8 to 32 at a time among unconstrained streams."""
    short, full = short_schemas(), full_schemas()
    names = sorted(short)
    order = random.Random(0)
    finished = valid = cut = 0
    wrong = ""

    def prompt(number: int) -> Rendered:
        schema = short[names[number % len(names)]]
        return rendered(f"{number}. {CLAIM}", schema=schema, temperature=1.0, max_tokens=400)

    async with running(model) as engine:
        number = 0
        while number < scale.outputs:
            at_once = 1 if number < scale.outputs // 10 else order.choice((8, 16, 24, 32))
            batch = range(number, min(number + at_once, scale.outputs))
            number = batch.stop
            free = [rendered(f"{n}.", max_tokens=40, temperature=1.0) for n in range(at_once // 8)]
            replies = await ask_all(engine, [prompt(n) for n in batch] + free, at_once + len(free))
            for n, reply in zip(batch, replies, strict=False):
                if reply.finished is None:
                    cut += 1
                    continue
                finished += 1
                found = _problem(reply, full[names[n % len(names)]])
                valid += not found
                wrong = wrong or found
    note = f"{finished} finished, {cut} cut by their limit, {len(names)} schemas; {wrong}".rstrip("; ")
    return [Figure("schema-valid finished replies", 100 * valid / max(1, finished), "%", note)]


def _problem(reply: Reply, schema: dict[str, object]) -> str:
    try:
        return misfit(json.loads(reply.text), schema)
    except json.JSONDecodeError as error:
        return f"{error}: {reply.text[:80]}"


async def pinned_prefixes(model: str, scale: Scale) -> list[Figure]:
    """Check that every prompt's constant part is still cached after many other requests."""
    prompts = [
        rendered(CLAIM, system=f"You are judge number {n}. " + INSTRUCTION * 3, max_tokens=1) for n in range(PINNED)
    ]
    async with running(model, shared_bytes=4_000_000) as engine:
        for prompt in prompts:
            await ask(engine, prompt)
        await ask_all(engine, [rendered(f"{n}. {CLAIM * 2}", max_tokens=1) for n in range(scale.others)], 8)
        hits = 0
        for prompt in prompts:
            reply = await ask(engine, prompt)
            constant = engine.device.encoder.prompt(prompt).constant
            hits += reply.finished is not None and reply.finished.tokens_in_cached >= constant
    name = f"pinned prefixes still hit after {scale.others} other requests"
    return [Figure(name, hits, f"of {PINNED}")]
