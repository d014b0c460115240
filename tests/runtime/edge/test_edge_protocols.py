"""A protocol is a plug-in: installed metadata that names its routes, and nothing else."""

import json
from pathlib import Path

import aiohttp
import pytest

import runtime.edge.app
from bus.wire.errors import Unavailable
from index.plugins import installed
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.served import declared_routes, edge_of


async def test_installed_protocol_is_served(
    bus: Bus, pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "plain-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n")
    entry_points = "[groundwire.protocols]\nplain = tests.examples.plain_protocol:routes\n"
    (metadata / "entry_points.txt").write_text(entry_points)
    monkeypatch.syspath_prepend(tmp_path)
    installed.cache_clear()
    async with edge_of(bus.settings, tmp_path) as address, aiohttp.ClientSession(address) as http:
        async with http.post("/plain", json={"question": "How long?"}) as response:
            events = (await response.text()).removesuffix("\n\n").split("\n\n")
        assert "".join(json.loads(event.removeprefix("data: ")) for event in events) == "How long? [1]"
        async with http.get("/openapi.json") as described:
            assert "/plain" in (await described.json())["paths"]
    installed.cache_clear()


def test_missing_metadata_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.edge.app, "installed", lambda group: {})
    with pytest.raises(Unavailable, match="no protocol is installed; run `uv sync"):
        declared_routes()
