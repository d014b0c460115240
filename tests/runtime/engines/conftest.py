from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from runtime.engines.engine import Wiring
from runtime.engines.mlx.engine import MlxEngine
from runtime.engines.mlx.settings import DeviceSettings
from runtime.engines.openai.engine import OpenAIEngine
from tests.runtime.engines.fake_server import Fake, serving
from tests.runtime.engines.tiny import build


@pytest.fixture
async def fake() -> AsyncIterator[Fake]:
    async with serving() as server:
        yield server


@pytest.fixture
async def engine(fake: Fake) -> AsyncIterator[OpenAIEngine]:
    made = OpenAIEngine(fake.url)
    await made.start()
    yield made
    await made.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The folder of a tiny random model."""
    return build(tmp_path_factory.mktemp("tiny"))


@asynccontextmanager
async def running(
    folder: Any, *, settings: dict[str, Any] | None = None, loader: Any = None, warm: Any = (), **wiring: Any
) -> AsyncIterator[MlxEngine]:
    device = DeviceSettings(model=str(folder), **(settings or {}))
    engine = MlxEngine(device, Wiring(warm=lambda: warm, **wiring), loader)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


@pytest.fixture(scope="session")
async def mlx(tiny):
    """One engine for the tests that change nothing about it; `mlx.records` grows."""
    records: list[Any] = []
    async with running(tiny, on_record=records.append) as engine:
        engine.records = records
        yield engine


@pytest.fixture
def start(tiny) -> Callable[..., Any]:
    """`async with start(settings={...}) as engine`: an engine of one's own."""
    return lambda **options: running(options.pop("folder", tiny), **options)
