"""Throughput: tokens and judgements per second."""

import asyncio
import time
from typing import Any

from runtime.engines.engine import Rendered
from runtime.measure.device.driving import CLAIM, INSTRUCTION, ask_all, rendered, running
from runtime.measure.device.figures import Figure, median
from runtime.measure.device.raw import RawLoop
from runtime.measure.device.scale import Scale
from runtime.measure.device.server import MlxLmServer

AT_ONCE = 8
#: Rounds of judgements per repeat.
TURNS = 4
JUDGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        # Equal lengths, so that a random model's choice does not decide the duration.
        "verdict": {"enum": ["supported", "disproved", "undecided"]},
        "confidence": {"type": "integer", "minimum": 10, "maximum": 99},
    },
    "required": ["verdict", "confidence"],
    "additionalProperties": False,
}
VERDICT: dict[str, Any] = {"enum": ["supported", "disproved", "undecided"]}
FIXED = {"type": "string", "pattern": "^[a-z ]{1500}$"}


async def tokens_per_s(model: str, scale: Scale) -> list[Figure]:
    """Tokens/s at eight in flight; ours, the raw loop and mlx-lm's server take turns, so that other load affects all alike."""
    users = [f"{n}. {CLAIM}" for n in range(AT_ONCE)]
    ours, raw, http = list[float](), list[float](), list[float]()
    async with running(model) as engine:
        encoded = [engine.encoder.prompt(rendered(user)).tokens for user in users]
        loop = RawLoop(engine.folder)
        with MlxLmServer(engine.folder) as server:
            for turn in range(scale.repeats + 1):
                # A leading number, or the second round would find its prompts prefilled.
                prompts = [rendered(f"{turn}.{user}", max_tokens=scale.reply_tokens) for user in users]
                began = time.perf_counter()
                replies = await ask_all(engine, prompts, AT_ONCE)
                spent = time.perf_counter() - began
                count = sum(reply.finished.tokens_out for reply in replies if reply.finished)
                rates = (
                    count / spent,
                    await asyncio.to_thread(loop.tokens_per_s, encoded, scale.reply_tokens),
                    await asyncio.to_thread(server.tokens_per_s, [p.user for p in prompts], scale.reply_tokens),
                )
                for rate, into in zip(rates, (ours, raw, http), strict=True):
                    if turn:  # the first round warms up
                        into.append(rate)
        loop.close()
    return [
        Figure("tokens/s, 8 in flight", median(ours), "tokens/s"),
        Figure(
            "  against the raw BatchGenerator loop", median(ours) / median(raw), "×", 0.95, note=f"{median(raw):.0f}"
        ),
        Figure("  against mlx_lm.server over HTTP", median(ours) / median(http), "×", 1.3, note=f"{median(http):.0f}"),
    ]


async def grammar_cost(model: str, scale: Scale) -> list[Figure]:
    """Time of a step with eight rows, all under a grammar, against the same without."""
    free, guided = list[float](), list[float]()
    async with running(model) as engine:
        for turn in range(scale.repeats + 1):
            plain = [rendered(f"{turn}.{n}.", max_tokens=300, temperature=1.0) for n in range(AT_ONCE)]
            bound = [rendered(f"{turn}.{n}.", max_tokens=300, temperature=1.0, schema=FIXED) for n in range(AT_ONCE)]
            for prompts, into in ((plain, free), (bound, guided)):
                steps, began = engine.view().steps, time.perf_counter()
                await ask_all(engine, prompts, AT_ONCE)
                if turn:
                    into.append((time.perf_counter() - began) / (engine.view().steps - steps))
    cost = median(guided) / median(free) - 1
    note = f"{median(free) * 1e3:.2f} ms a step without"
    return [Figure("grammar's cost at 8 rows", max(0.0, cost) * 100, "%", 20, most=True, note=note)]


async def judgements_per_s(model: str, scale: Scale) -> list[Figure]:
    """Judgements/s, eight at a time over the same evidence, in each of the three ways."""
    rates: dict[str, list[float]] = {"plain": [], "forced": [], "verdict": []}
    system = INSTRUCTION * 2 + f"Evidence: {CLAIM} " * 8

    def prompts(schema: dict[str, Any]) -> list[Rendered]:
        return [
            rendered(f"Refunds take {n} days.", system=system, schema=schema, temperature=1.0, max_tokens=200)
            for n in range(scale.judgements)
        ]

    async with running(model, forced_prefix=False, shared_bytes=1) as plain, running(model, shared_bytes=1) as ours:
        ways = [("plain", plain, JUDGE), ("forced", ours, JUDGE), ("verdict", ours, VERDICT)]
        # Many short alternating rounds, so that other load affects all three alike.
        for turn in range(TURNS * scale.repeats + 1):
            for name, engine, schema in ways if turn % 2 else reversed(ways):
                began = time.perf_counter()
                replies = await ask_all(engine, prompts(schema), AT_ONCE)
                done = sum(reply.finished is not None for reply in replies)
                if turn:
                    rates[name].append(done / (time.perf_counter() - began))
    base = rates["plain"]

    def gain(name: str) -> float:
        return median([rate / other for rate, other in zip(rates[name], base, strict=True)])

    return [
        Figure("judgements/s, plain constrained JSON", median(base), "1/s"),
        Figure("  with the forced beginning in the prompt", gain("forced"), "×", 1.15),
        Figure("  as one-token verdicts", gain("verdict"), "×", 3),
    ]
