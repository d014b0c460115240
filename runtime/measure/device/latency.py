"""Latency: of the first token, between tokens, of a cancellation, of the event loop."""

import asyncio
import time
from itertools import pairwise
from typing import Any

from runtime.measure.device.driving import LONG_TOKENS, ask, ask_all, rendered, request, running, stream, text_of
from runtime.measure.device.figures import Figure, median, percentile
from runtime.measure.device.raw import RawLoop
from runtime.measure.device.scale import Scale
from runtime.measure.device.server import MlxLmServer

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
        with MlxLmServer(engine.folder) as server:
            await asyncio.to_thread(server.ask, "Is it so?", 4)
            http = await asyncio.to_thread(server.first_s_behind_a_stream, "Is it so?", scale.repeats * EACH)
    mine = median(behind)
    note = f"{median(idle) * 1e3:.1f} ms idle"
    return [
        Figure("first token behind a running stream", mine * 1e3, "ms", note=note),
        Figure("  against idle", mine / median(idle), "×", 3, most=True),
        Figure(
            "  against mlx_lm.server", mine / median(http), "×", 0.1, most=True, note=f"{median(http) * 1e3:.0f} ms"
        ),
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
        Figure(f"{scale.prefix_tokens}-token prefix, first token, warm against cold", gain, "×", 10, note=note),
        Figure("  requests/s, warm against cold", gain_rate, "×", 5, note=f"{median(warm_rate):.0f}/s"),
    ]


async def worst_gap(model: str, scale: Scale) -> list[Figure]:
    """The longest gap in a stream while four long cold prompts arrive, against the longest chunk and one step."""
    worst, chunk, step = list[float](), list[float](), list[float]()
    async with running(model, chunk_tokens=CHUNK, idle_chunk_tokens=CHUNK, shared_bytes=1) as engine:
        raw = RawLoop(engine.folder)
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
    return [
        Figure("worst gap in a stream during 4 cold prompts", median(worst) / allowed, "×", 1.5, most=True, note=note)
    ]


async def cancellation(model: str, scale: Scale) -> list[Figure]:
    """Iterations from closing a stream to its row being free, and whether other rows changed."""
    acknowledged, same = list[float](), True
    neighbours = [rendered(f"{n}. Tell me.", max_tokens=60, temperature=1.0) for n in range(4)]
    async with running(model) as engine:
        alone = [reply.text for reply in await ask_all(engine, neighbours, 4)]
        for turn in range(scale.repeats):
            victim = request(rendered(f"{turn} Endless", max_tokens=LONG_TOKENS, temperature=1.0), seed=turn)
            events: Any = engine.generate(victim)
            await anext(events)
            others = asyncio.create_task(ask_all(engine, neighbours, 4))
            for _ in range(5):
                await anext(events)
            steps = engine.view().steps
            await events.aclose()
            await engine.cancelled(victim.request_id)
            acknowledged.append(engine.view().steps - steps)
            same = same and [reply.text for reply in await others] == alone
    return [
        Figure(
            "cancellation acknowledged",
            median(acknowledged),
            "steps",
            1,
            most=True,
            note=f"at most {max(acknowledged):.0f}",
        ),
        Figure("  other rows bit-identical", float(same), "", 1),
    ]


async def loop_lag(model: str, scale: Scale) -> list[Figure]:
    """How late the event loop is while the device thread is busy with eight streams and prefills."""
    lags: list[float] = []
    async with running(model) as engine:

        async def probe() -> None:
            while True:
                before = time.perf_counter()
                await asyncio.sleep(0.001)
                lags.append(time.perf_counter() - before - 0.001)

        text = text_of(engine, scale.prefix_tokens // 3)
        probing = asyncio.create_task(probe())
        prompts = [rendered(f"{n} {text}", max_tokens=150, temperature=1.0) for n in range(8 * scale.repeats)]
        await ask_all(engine, prompts, 8)
        probing.cancel()
        await asyncio.gather(probing, return_exceptions=True)
    return [Figure("event-loop lag p99, device busy", percentile(lags, 0.99) * 1e3, "ms", 10, most=True)]
