"""Throughput: tokens per second, and the cost of a grammar."""

import asyncio
import time

from tests.bench.device.driving import CLAIM, ask_all, rendered, running
from tests.bench.device.figures import Figure, Scale, median
from tests.bench.device.raw import RawLoop
from tests.bench.device.server import MlxLmServer

AT_ONCE = 8
FIXED = {"type": "string", "pattern": "^[a-z ]{1500}$"}


async def tokens_per_s(model: str, scale: Scale) -> list[Figure]:
    """Tokens/s at eight in flight; ours, the raw loop and mlx-lm's server take turns, so that other load affects all alike."""
    users = [f"{n}. {CLAIM}" for n in range(AT_ONCE)]
    ours, raw, http = list[float](), list[float](), list[float]()
    async with running(model) as engine:
        encoded = [engine.device.encoder.prompt(rendered(user)).tokens for user in users]
        loop = RawLoop(engine.device.tools.loaded.folder)
        with MlxLmServer(engine.device.tools.loaded.folder) as server:
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
        Figure("  against the raw BatchGenerator loop", median(ours) / median(raw), "×", f"{median(raw):.0f}"),
        Figure("  against mlx_lm.server over HTTP", median(ours) / median(http), "×", f"{median(http):.0f}"),
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
    return [Figure("grammar's cost at 8 rows", max(0.0, cost) * 100, "%", note)]
