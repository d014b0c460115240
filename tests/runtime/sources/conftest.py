"""A folder of documents for several groups, a real index of it, the process that answers for it, and edges in front."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from index.build.ingest import bring_in
from runtime.edge.timeouts import Timeouts
from runtime.keys import KeyFile
from runtime.settings import AccessSettings, EdgeSettings, IndexSettings, Settings
from tests.browser import chromium
from tests.polling import until
from tests.runtime.served import declared_bus, open_edge, open_search
from tests.runtime.sources.documents import write_documents

__all__ = ["chromium"]

TIMES = Timeouts(search_s=200.0, nats_s=60.0)


@dataclass
class World:
    """`open` needs no key and sees everything, `locked` needs one. `root` are the documents."""

    open: str
    locked: str
    root: Path
    state: Path
    settings: Settings
    tokens: dict[str, str]

    def bearer(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}


@pytest.fixture(scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder = tmp_path_factory.mktemp("sources")
    root = folder / "documents"
    write_documents(root)
    await asyncio.to_thread(bring_in, folder / "index", [str(root)], only=True, processes=1)
    state = folder / "state"
    keys = KeyFile(state / "keys.json")
    tokens = {
        "ann": keys.add("ann", ("ask", "search"), now=time.time(), groups=("board",)),
        "bob": keys.add("bob", ("ask", "search"), now=time.time(), groups=()),
        "asker": keys.add("asker", ("ask", "read"), now=time.time()),
    }
    async with declared_bus(tmp_path_factory.mktemp("sources-nats")) as bus:
        settings = Settings(
            bus=bus,
            index=IndexSettings(dir=str(folder / "index"), threads=2),
            edge=EdgeSettings(port=0, hosts="127.0.0.1"),
            state=str(state),
        )
        required = Settings(bus=bus, edge=settings.edge, state=str(state), access=AccessSettings(required=True))
        async with (
            open_search(settings),
            open_edge(settings, TIMES) as opened,
            open_edge(required, TIMES) as locked,
            aiohttp.ClientSession() as http,
        ):

            async def answered() -> bool:
                async with http.get(f"{opened}/v1/sources") as response:
                    return response.status == 200

            await until(answered, within_s=60.0, what="a search process")
            yield World(opened, locked, root, state, settings, tokens)


@pytest.fixture
async def http(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(world.open) as session:
        yield session


@pytest.fixture
async def locked(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(world.locked) as session:
        yield session
