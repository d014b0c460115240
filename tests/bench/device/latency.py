"""Latency: of the first token, and between tokens."""

import asyncio
import time
from itertools import pairwise

from tests.bench.device.driving import ask, ask_all, rendered, running, stream, text_of
from tests.bench.device.figures import Figure, Scale, median
from tests.bench.device.raw import RawLoop
from tests.bench.device.server import MlxLmServer

CHUNK = 128
#: Requests per round of the first-token figure.
EACH = 4
#: Pieces of a stream that are waited for before anything disturbs it.
QUIET = 20


async def first_token(model: str, scale: Scale) -> list[Figure]:
    """First token of a short request behind a running stream, against an idle device and against mlx-lm's server."""
    idle, behind, http = list[float](), list[float](), list[float]()
    prompt = rendered("Is it so?", max_tokens=4, temperature=1.0)
    async with running(model, shared_bytes=1) as engine:
        await ask(engine, prompt)
        for _ in range(scale.repeats):
            idle += [(await ask(engine, prompt, seed=seed)).first_s for seed in range(EACH)]
            async with stream(engine):
                behind += [(await ask(engine, prompt, seed=seed)).first_s for seed in range(EACH)]
        with MlxLmServer(engine.device.tools.loaded.folder) as server:
            await asyncio.to_thread(server.ask, "Is it so?", 4)
            http = await asyncio.to_thread(server.first_s_behind_a_stream, "Is it so?", scale.repeats * EACH)
    mine = median(behind)
    note = f"{median(idle) * 1e3:.1f} ms idle"
    return [
        Figure("first token behind a running stream", mine * 1e3, "ms", note),
        Figure("  against idle", mine / median(idle), "×"),
        Figure("  against mlx_lm.server", mine / median(http), "×", f"{median(http) * 1e3:.0f} ms"),
    ]


async def prefix(model: str, scale: Scale) -> list[Figure]:
    """A long constant part, already prefilled (warm) against not (cold)."""
    cold, warm, cold_rate, warm_rate = list[float](), list[float](), list[float](), list[float]()
    async with running(model, shared_bytes=1) as engine:
        same = text_of(engine, scale.prefix_tokens)
        await ask(engine, rendered("Is it so?", system=same, max_tokens=2))
        for turn in range(scale.repeats):
            other = text_of(engine, scale.prefix_tokens, f"{turn}. ")
            for system, into in ((other, cold), (same, warm)):
                into.append((await ask(engine, rendered("Is it so?", system=system, max_tokens=2))).first_s)
            others = [text_of(engine, scale.prefix_tokens, f"{n} {turn}: ") for n in range(8)]
            for systems, into in ((others, cold_rate), ([same] * 8, warm_rate)):
                prompts = [rendered(f"{n}. Is it so?", system=text, max_tokens=4) for n, text in enumerate(systems)]
                began = time.perf_counter()
                await ask_all(engine, prompts, 8)
                into.append(len(prompts) / (time.perf_counter() - began))
    gain, gain_rate = median(cold) / median(warm), median(warm_rate) / median(cold_rate)
    note = f"{median(cold) * 1e3:.0f} ms cold, {median(warm) * 1e3:.1f} ms warm"
    return [
        Figure(f"{scale.prefix_tokens}-token prefix, first token, warm against cold", gain, "×", note),
        Figure("  requests/s, warm against cold", gain_rate, "×", f"{median(warm_rate):.0f}/s"),
    ]


async def worst_gap(model: str, scale: Scale) -> list[Figure]:
    """The longest gap in a stream while four long cold prompts arrive, against the longest chunk and one step."""
    worst, chunk, step = list[float](), list[float](), list[float]()
    async with running(model, chunk_tokens=CHUNK, idle_chunk_tokens=CHUNK, shared_bytes=1) as engine:
        raw = RawLoop(engine.device.tools.loaded.folder)
        for turn in range(scale.repeats):
            chunk.append(await asyncio.to_thread(raw.longest_chunk_s, scale.prefix_tokens, CHUNK, 4))
            at: list[float] = []
            async with stream(engine, at=at, pieces=QUIET):
                prompts = [
                    rendered(text_of(engine, scale.prefix_tokens, f"{turn} {n} "), max_tokens=1) for n in range(4)
                ]
                await ask_all(engine, prompts, 4)
            gaps = [later - earlier for earlier, later in pairwise(at)]
            step.append(median(gaps[: QUIET - 1]))
            worst.append(max(gaps[QUIET - 1 :]))
        raw.close()
    allowed = median(chunk) + median(step)
    note = f"{median(worst) * 1e3:.1f} ms; chunk {median(chunk) * 1e3:.1f}, step {median(step) * 1e3:.1f} ms"
    return [Figure("worst gap in a stream during 4 cold prompts", median(worst) / allowed, "×", note)]
