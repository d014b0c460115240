"""A failing row takes no other with it; a hanging step is reported; memory is counted before it is used."""

import asyncio
import threading
import time
from contextlib import asynccontextmanager
from types import SimpleNamespace

import mlx.core as mx
import pytest

from bus.wire.errors import NoReply, Unavailable
from runtime.engines.mlx.memory import Memory
from runtime.engines.mlx.model import load
from runtime.engines.mlx.settings import DeviceSettings
from tests.runtime.engines.sample import ENDLESS, collect, render, request, shape

LONG = shape(note={"type": "string", "minLength": 60, "maxLength": 60})
POISON = "$"


class Faulty:
    """A model that raises if `broken` is true for its input tokens."""

    def __init__(self, inner, broken):
        self.inner, self.broken, self.raised = inner, broken, 0

    def __call__(self, inputs, cache=None):
        if self.broken(inputs):
            self.raised += 1
            raise RuntimeError("kernel failed")
        return self.inner(inputs, cache=cache)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def faulty(broken):
    """A loader of a faulty model; `broken` gets the loaded model and the tokens of a call."""
    models = []

    def loader(settings):
        loaded = load(settings)
        loaded.model = Faulty(loaded.model, lambda inputs: broken(loaded, inputs))
        models.append(loaded.model)
        return loaded

    return loader, models


def notes(engine, count, *, max_tokens=400, **options):
    asked = [render(f"Q{n}", schema=LONG, temperature=1.0, max_tokens=max_tokens) for n in range(count)]
    return [collect(engine, request(rendered=r, seed=n, **options)) for n, r in enumerate(asked)]


async def texts(engine, count, **options):
    return [finished.text for _, finished in await asyncio.gather(*notes(engine, count, **options))]


async def test_failed_step_is_replayed_for_all_rows(start, mlx):
    expected = await texts(mlx, 5)
    calls = {"left": 40}

    def once(loaded, inputs):
        calls["left"] -= inputs.shape[1] == 1
        return calls["left"] == 0 and inputs.shape[1] == 1

    loader, models = faulty(once)
    records = []
    async with start(loader=loader, on_record=records.append) as engine:
        assert await texts(engine, 5) == expected
        assert engine.view().faults == models[0].raised == 1
    assert any(record.replays for record in records)


async def test_the_guilty_row_fails_alone(start, mlx):
    """One row's own token breaks every step that it is part of."""
    expected = await texts(mlx, 4)

    def guilty(loaded, inputs):
        poison = loaded.tokenizer.encode(POISON, add_special_tokens=False)[0]
        return inputs.shape[1] == 1 and poison in inputs[:, 0].tolist()

    loader, models = faulty(guilty)
    schema = {"enum": [f"a{POISON}one", f"a{POISON}two", "b"]}
    async with start(loader=loader) as engine:
        spelled = render("Spell", schema=shape(word=schema), max_tokens=64, temperature=0.0)
        others = asyncio.gather(*notes(engine, 4))
        poisoned = [collect(engine, request(rendered=spelled, already_shown='{"word":"a')) for _ in range(1)]
        (failure,) = await asyncio.gather(*poisoned, return_exceptions=True)
        assert [finished.text for _, finished in await others] == expected
    if models[0].raised:
        assert isinstance(failure, Unavailable)


async def test_broken_prompt_fails_alone(start):
    def broken(loaded, inputs):
        return inputs.shape[1] == 77

    loader, _ = faulty(broken)
    async with start(loader=loader, settings={"chunk_tokens": 77, "idle_chunk_tokens": 77}) as engine:
        running = asyncio.gather(*notes(engine, 3))
        with pytest.raises(Unavailable, match="failed on this request"):
            await collect(engine, request(rendered=render("word " * 200)))
        assert len(await running) == 3


async def test_permanently_failing_device_is_given_up(start):
    started = threading.Event()
    told = asyncio.Event()

    def always(loaded, inputs):
        return started.is_set()

    loader, _ = faulty(always)
    async with start(loader=loader, on_broken=lambda why: told.set()) as engine:
        started.set()
        for _ in range(5):
            with pytest.raises(Unavailable):
                await collect(engine, request(rendered=render()))
        await asyncio.wait_for(told.wait(), 60)
        assert engine.view().state == "failed"


async def test_hanging_step_is_reported_and_frees_its_requests(start):
    hang, told, why = threading.Event(), asyncio.Event(), []

    def hangs(loaded, inputs):
        if inputs.shape[1] == 33:
            hang.wait(90)
        return False

    def broken(message):
        why.append(message)
        told.set()

    loader, _ = faulty(hangs)
    settings = {"hang_s": 0.2, "idle_chunk_tokens": 33}
    async with start(loader=loader, on_broken=broken, settings=settings) as engine:
        began = time.monotonic()
        with pytest.raises(Unavailable, match="has run for"):
            await collect(engine, request(rendered=render("word " * 100)))
        assert time.monotonic() - began < 60
        assert "restart the process" in why[0]
        with pytest.raises(Unavailable):
            await collect(engine, request(rendered=render()))
        hang.set()


async def test_cancelled_row_leaves_the_others_bit_identical(start):
    async with start() as engine:
        expected = await texts(engine, 5)
        victim = request(rendered=render("Endless", schema=ENDLESS, max_tokens=5000))
        stream = engine.generate(victim)
        running = asyncio.gather(*notes(engine, 5))
        for _ in range(6):
            await anext(stream)
        await stream.aclose()
        assert [finished.text for _, finished in await running] == expected


async def test_rows_beyond_memory_wait_and_are_answered(start):
    async with start() as engine:
        expected = await texts(engine, 6)
        together = engine.view().steps
    async with start(settings={"memory_bytes": 4_000_000}) as engine:
        assert await texts(engine, 6, max_tokens=3000) == expected
        assert engine.view().steps > together * 1.5


async def test_what_can_never_fit_is_refused(start):
    async with start(settings={"memory_bytes": 1_000_000}) as engine:
        with pytest.raises(Unavailable, match="more than the device has"):
            await collect(engine, request(rendered=render(max_tokens=20_000)))


@asynccontextmanager
async def hog(engine, **options):
    """A reply without end that has its row already."""
    stream = engine.generate(request(rendered=render(schema=ENDLESS, max_tokens=100_000), **options))
    await anext(stream)
    yield
    await stream.aclose()


async def test_request_behind_a_full_device_expires(start):
    async with start(settings={"max_rows": 1}) as engine, hog(engine):
        with pytest.raises(NoReply):
            await collect(engine, request(rendered=render(), seconds=0.2))


async def test_a_full_queue_refuses(start):
    async with start(settings={"max_rows": 1, "max_waiting": 1}) as engine, hog(engine):
        asked = [collect(engine, request(rendered=render(), seconds=2)) for _ in range(4)]
        failures = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(failures[0], NoReply)
        assert all(isinstance(failure, Unavailable) for failure in failures[1:])


async def test_urgent_requests_find_a_row(start):
    async with start(settings={"max_rows": 4, "reserved_rows": 2}) as engine, hog(engine), hog(engine):
        with pytest.raises(NoReply):
            await collect(engine, request(rendered=render(max_tokens=2), priority="judge", seconds=0.1))
        await collect(engine, request(rendered=render(max_tokens=2), priority="check", seconds=120))


def test_gumbel_streams_do_not_depend_on_the_batch():
    from runtime.engines.mlx.batch import Sampling, sample

    logits = mx.random.normal((4, 300), key=mx.random.key(1))
    rows = [Sampling(0.9, seed) for seed in range(4)]
    together = sample(logits, rows, [5, 6, 7, 8]).tolist()
    alone = [sample(logits[n : n + 1], [rows[n]], [5 + n]).item() for n in range(4)]
    assert together == alone


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        ("[malloc] Unable to allocate 8589934592 bytes.", 4),
        (
            "[METAL] Command buffer execution failed: Insufficient Memory (kIOGPUCommandBufferCallbackErrorOutOfMemory)",
            4,
        ),
        ("cudaGraphLaunch(graph_exec, stream_) failed: out of memory", 4),
        ("cudaGraphLaunch(graph_exec, stream_) failed: an illegal memory access was encountered", 8),
    ],
)
def test_exhausted_memory_lowers_the_rows(said, rows):
    loaded = SimpleNamespace(memory_limit_bytes=1_000, kv_token_bytes=1, weight_bytes=0)
    memory = Memory(loaded, DeviceSettings(max_rows=8))
    memory.after_fault(RuntimeError(said))
    assert memory.max_rows == rows
