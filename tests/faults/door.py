"""Real edges that share their keys, before a real nats-server, with callers: for the tests of access control."""

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import pytest

from bus.journal.access import Access, grant
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of
from runtime.edge.timeouts import Timeouts
from runtime.keys import KeyFile
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.runtime.edge.conftest import Bus, Pipeline, bus, bus_settings, pipeline, runs
from tests.runtime.served import open_edge

__all__ = ["World", "bus", "bus_settings", "edge", "http", "pipeline", "runs", "world"]

JSON = {"Content-Type": "application/json"}
ASK = b'{"question": "How long?"}'
APP = "https://app.example.org"
#: Headers of a request written by hand.
TO = b"Host: 127.0.0.1:<port>\r\nAuthorization: Bearer <ann>\r\nContent-Type: application/json\r\n"
TIMES = Timeouts(keepalive_s=5.0, nats_s=60.0, headers_s=1.0, body_s=1.0)


@dataclass
class World:
    """Edges of one bus with the keys of some callers, and runs of theirs. `locked`, `second` need a key, `open` needs none."""

    keys: KeyFile
    tokens: dict[str, str]
    locked: str
    second: str
    open: str
    runs: dict[str, str] = field(default_factory=dict)

    def filled(self, text: str) -> str:
        for name, run_id in self.runs.items():
            text = text.replace(f"<{name}>", run_id)
        return text.replace("<port>", self.locked.rpartition(":")[2])

    def bearer(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}

    async def ask(self, http: aiohttp.ClientSession, name: str, edge: str = "", **fields: object) -> str:
        """The id of a new run of this person, once it is over."""
        body = {"question": "How long?"} | fields
        async with http.post(f"{edge or self.locked}/v1/runs", json=body, headers=self.bearer(name)) as response:
            assert response.status == 200, await response.text()
            await response.read()
            return response.headers["X-Run-Id"]


def edge(settings: Settings, timeouts: Timeouts = TIMES) -> contextlib.AbstractAsyncContextManager[str]:
    return open_edge(settings, timeouts)


@pytest.fixture(scope="session")
async def world(
    bus: Bus, pipeline: Pipeline, runs: Runs, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    state = tmp_path_factory.mktemp("door")
    keys = KeyFile(state / "keys.json")
    now = time.time()
    tokens = {
        "ann": keys.add("ann", ("ask", "search", "read"), now=now, groups=("sales",)),
        "eve": keys.add("eve", ("ask", "search", "read"), now=now, groups=()),
        "root": keys.add("root", ("admin",), now=now),
        "reader": keys.add("reader", ("read",), now=now, groups=()),
        "searcher": keys.add("searcher", ("search",), now=now, groups=()),
        "late": keys.add("late", ("admin",), now=now, expires_at=now - 1),
        "gone": keys.add("gone", ("admin",), now=now),
    }
    keys.revoke("gone")
    tokens["wrong"] = tokens["ann"][:-1] + ("A" if tokens["ann"][-1] != "A" else "B")
    tokens["prefix"] = tokens["ann"][:-8]
    tokens["longer"] = tokens["ann"] + "A"
    tokens["digest"] = keys.read().keys[0].digest
    tokens["id of another"] = tokens["eve"].replace(keys.read().keys[1].id, keys.read().keys[0].id)
    tokens["empty"] = ""
    tokens["name"] = "ann"
    locked = Settings(
        bus=bus.settings,
        edge=EdgeSettings(port=0, origins=f"{APP}, http://localhost:3000"),
        access=AccessSettings(required=True),
        state=str(state),
    )
    unlocked = Settings(bus=bus.settings, edge=EdgeSettings(port=0), state=str(state))
    async with edge(locked) as first, edge(locked) as second, edge(unlocked) as third:
        made = World(keys, tokens, first, second, third)
        async with aiohttp.ClientSession() as http:
            for name in ("ann", "eve"):
                made.runs[name] = await made.ask(http, name)
            made.runs["nobody"] = await made.ask(http, "", third)
        for name, run_id, access in (
            ("internal", "canary-1", Access(key="canary", groups=())),
            ("orphan", "orphan", Access()),
        ):
            made.runs[name] = run_id
            await grant(bus.journal, run_id, access)
            await bus.journal.write(key_of(QuestionAsked, run_id), QuestionAsked(question="are you there"))
        yield made


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session
