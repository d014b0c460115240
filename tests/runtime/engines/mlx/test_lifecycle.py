"""Starting and stopping, models that cannot be loaded, the tested version of mlx-lm."""

import asyncio
import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import mlx_lm
import pytest

from bus.wire.errors import Unavailable
from runtime.engines.mlx import device_thread, model
from runtime.engines.mlx.engine import MlxEngine
from runtime.engines.mlx.settings import DeviceSettings
from tests.runtime.engines.sample import ENDLESS, collect, render, request
from tests.runtime.engines.tiny import build

ROOT = Path(__file__).parents[4]


async def test_states_from_start_to_close(tiny):
    engine = MlxEngine(DeviceSettings(model=str(tiny)))
    seen = [engine.view().state]
    with pytest.raises(Unavailable):
        await collect(engine, request(rendered=render()))
    await engine.start()
    seen.append(engine.view().state)
    await engine.close()
    seen.append(engine.view().state)
    assert seen == ["closed", "ready", "closed"]


async def test_close_ends_requests_in_flight(start):
    async with start() as engine:
        asked = [
            asyncio.create_task(collect(engine, request(rendered=render(schema=ENDLESS, max_tokens=100_000))))
            for _ in range(3)
        ]
        stream = engine.generate(request(rendered=render(schema=ENDLESS, max_tokens=100_000)))
        await anext(stream)
    for failure in await asyncio.gather(*asked, return_exceptions=True):
        assert isinstance(failure, Unavailable)
    with pytest.raises(Unavailable):
        async for _ in stream:
            pass


PROGRAM = textwrap.dedent(
    """
    import asyncio, sys
    from runtime.engines.mlx.engine import MlxEngine
    from runtime.engines.mlx.settings import DeviceSettings
    from tests.runtime.engines.sample import ENDLESS, collect, render, request

    async def main():
        for _ in range(int(sys.argv[2])):
            engine = MlxEngine(DeviceSettings(model=sys.argv[1]))
            await engine.start()
            endless = render(schema=ENDLESS, max_tokens=100_000)
            load = [asyncio.create_task(collect(engine, request(rendered=endless))) for _ in range(4)]
            await collect(engine, request(rendered=render(max_tokens=2)))
            await engine.close()
            await asyncio.gather(*load, return_exceptions=True)

    asyncio.run(main())
    """
)


def test_process_exits_cleanly_under_load(tiny):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tiny), "2"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("broken", ["warm_up", "Encoder", "Memory"])
async def test_start_failure_is_one_line(tiny, monkeypatch, broken):
    def breaks(*given: object) -> None:
        raise KeyError("no such layer\nin this model")

    monkeypatch.setattr(device_thread, broken, breaks)
    engine = MlxEngine(DeviceSettings(model=str(tiny)))
    async with asyncio.timeout(30):
        with pytest.raises(Unavailable, match=r"could not be started \(KeyError: .*no such layer.*\); name another as"):
            await engine.start()
        assert engine.view().state == "failed"
        await engine.close()


@pytest.fixture
def copy(tiny, tmp_path):
    return shutil.copytree(tiny, tmp_path / "model")


def configured(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def without(name):
    return lambda folder: (folder / name).unlink()


def sharded(folder):
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def cut(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "there is no model folder .*; name a folder"),
        (without("config.json"), "lacks config.json; download"),
        (without("tokenizer.json"), "lacks tokenizer.json; download"),
        (without("model.safetensors"), "lacks model.safetensors; download"),
        (sharded, "lacks model-00002.safetensors; download"),
        (cut, "cannot be loaded .*; download"),
        (lambda f: configured(f, model_type="mystery"), "does not know the architecture mystery .*; choose"),
        (lambda f: configured(f, num_hidden_layers=4), "cannot be loaded .*; download"),
        (lambda f: (f / "config.json").write_text("{"), "cannot be loaded .*; download"),
    ],
)
async def test_damaged_folder_is_refused(copy, damage, message):
    damage(copy)
    engine = MlxEngine(DeviceSettings(model=str(copy)))
    with pytest.raises(Unavailable, match=message) as refused:
        await engine.start()
    assert "\n" not in str(refused.value)
    assert engine.view().state == "failed"
    await engine.close()


async def test_too_large_for_memory(start):
    with pytest.raises(Unavailable, match="choose a smaller"):
        async with start(settings={"memory_bytes": 200_000}):
            pass


@pytest.mark.parametrize(
    ("info", "limit"),
    [
        ({"max_recommended_working_set_size": 11_000, "memory_size": 16_000}, 11_000),
        ({"free_memory": 7_000, "total_memory": 8_000}, 7_500),  # mlx may use again the 500 that it has cached
        ({"free_memory": 7_900, "total_memory": 8_000}, 7_600),  # mlx's own limit
    ],
    ids=["Metal", "CUDA, partly in use", "CUDA"],
)
def test_memory_is_that_of_the_device(monkeypatch, info, limit):
    monkeypatch.setattr(model.mx, "device_info", lambda: info)
    monkeypatch.setattr(model.mx, "get_cache_memory", lambda: 500)
    monkeypatch.setattr(model.mx, "get_memory_limit", lambda: 7_600)
    assert model.memory_limit() == limit


async def test_digest_follows_the_weights(tiny, tmp_path, start):
    digests = set()
    for folder in (tiny, build(tmp_path / "other", hidden=32)):
        async with start(folder=folder) as engine:
            _, finished = await collect(engine, request(rendered=render()))
            digests.add(finished.model_digest)
    assert len(digests) == 2


def test_mlx_lm_version_is_the_tested_one():
    assert mlx_lm.__version__.startswith("0.32.")
