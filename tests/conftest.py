"""Fixtures for every test: a real nats-server for the session, and the pipeline in this process over it."""

import itertools
import os
import random
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from actors.question.profile import PROFILES, preload
from bus.transport.connection import connect, declare_streams
from bus.transport.settings import BusSettings
from runtime.processes import ports

if TYPE_CHECKING:
    from tests.bus.wires import Server
    from tests.whole import Whole

os.environ.setdefault("MLX_DISABLE_COMPILE", "1")

# Containers often set it; then each process of the run, and there are hundreds, would compile everything that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_xdist_auto_num_workers() -> int:
    """Three processes for two cores: tests wait for servers and browsers a third of their time."""
    cores = os.cpu_count() or 2
    return max(cores, min(12, 3 * cores // 2))


#: Below the ephemeral ports of the system, a thousand for each process of the run.
_OWN = 20_000 + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ports = itertools.cycle(random.sample(range(_OWN, _OWN + 1000), 1000))


def own_port() -> int:
    """A port that is free, and stays so until a server of this process that starts slowly has bound it."""
    return next(port for port in _ports if not ports.taken(("127.0.0.1",), port))


ports.free_port = own_port  # before any import from there

# The time of an example depends more on other load of the machine than on the code.
settings.register_profile(
    "busy-machine", parent=settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy-machine")


#: How long a test may wait until the run's OpenSearch has started, and while another test kills its nodes and mends it.
CLUSTER_S = 1500


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # At the end the other processes would wait for them.
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("timeout") is None:
            params = item.callspec.params if hasattr(item, "callspec") else {}
            if "running_cluster" in item.fixturenames or params.get("body") == "opensearch":
                item.add_marker(pytest.mark.timeout(CLUSTER_S))


@pytest.fixture
def masking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a profile `general` that masks personal data, in use."""
    folder = tmp_path_factory.mktemp("masking")
    (folder / "general.toml").write_text('extends = "general"\nmask_personal_data = true\n')
    PROFILES.use(str(folder))
    preload()  # no test reads a profile in its event loop
    yield folder
    PROFILES.use("")
    preload()


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A nats-server of this test session."""
    from tests.bus.wires import serving

    with serving(tmp_path_factory.mktemp("nats")) as made:
        yield made.url


@pytest.fixture
def server(tmp_path: Path) -> Iterator["Server"]:
    """A nats-server that the test may kill and start again."""
    from tests.bus.wires import serving

    with serving(tmp_path / "nats") as made:
        yield made


@pytest.fixture(scope="session")
async def bus_settings(nats_url: str) -> AsyncIterator[BusSettings]:
    """Settings for that server, its streams declared."""
    settings = BusSettings(url=nats_url, heartbeat_s=0.4, janitor_period_s=0.1)
    client = await connect(nats_url, name="tests")
    await declare_streams(client.jetstream(timeout=2.0), settings)
    yield settings
    await client.close()


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["Whole"]:
    """The whole pipeline in this process, on the extractive engine."""
    from runtime.engines.extractive.engine import ExtractiveEngine  # both take long to load
    from tests.whole import whole

    async with whole(tmp_path_factory.mktemp("whole"), ExtractiveEngine()) as made:
        yield made
