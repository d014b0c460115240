"""Vectors of a tiny random embedding model: by a command, over the bus, and rejected where they do not fit."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from bus.powers.searching import SearchClient, SearchRequest
from bus.transport.connection import connect
from bus.wire.messages import Passage
from runtime.processes.nats_server import free_port
from runtime.processes.supervisor import Stack
from runtime.settings import EdgeSettings, IndexSettings, Settings
from tests.runtime.engines.tiny import build

ROOT = Path(__file__).parent.parent.parent


def groundwire(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "runtime", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, check=False)


async def test_mlx_model_embeds_passages_and_queries(tmp_path: Path) -> None:
    model = await asyncio.to_thread(build, tmp_path / "model")
    documents = tmp_path / "documents.jsonl"
    texts = {"refund": "Refunds are paid within 14 days.", "ladder": "Ladders are checked every six months."}
    documents.write_text(
        "\n".join(json.dumps({"source_id": name, "title": name, "text": text}) for name, text in texts.items())
    )
    index = tmp_path / "index"
    environ = {"GROUNDWIRE_INDEX_EMBEDDER": "mlx", "GROUNDWIRE_INDEX_EMBED_MODEL": str(model)}
    done = await asyncio.to_thread(groundwire, environ, "index", "build", str(documents), "--index", str(index))
    assert done.returncode == 0, done.stderr
    found = await asyncio.to_thread(
        groundwire, environ, "search", "--index", str(index), "--json", "Refunds are paid within 14 days."
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[0])["source_id"] == "refund"
    other = await asyncio.to_thread(groundwire, {}, "search", "--index", str(index), "refund")
    assert other.returncode == 1
    assert "was built with embedder mlx" in other.stderr
    hits = await over_the_bus(tmp_path, index, model)
    assert hits[0].source_id == "refund"


async def over_the_bus(tmp_path: Path, index: Path, model: Path) -> tuple[Passage, ...]:
    """What the search process finds when the inference process embeds its query."""
    settings = Settings(
        index=IndexSettings(dir=str(index), embedder="mlx", embed_model=str(model)),
        edge=EdgeSettings(port=free_port()),
    )
    stack = Stack(settings, tmp_path / "state", ("search", "inference"), sync_always=False)
    await stack.start()
    try:
        await stack.ready()
        client = await connect(stack.settings.bus, name="test")
        search = SearchClient(client, asyncio.get_running_loop().time() + 1e12)
        reply, _ = await search(SearchRequest(query="Refunds are paid within 14 days.", language="en", k=2))
        await client.close()
        return reply.passages
    finally:
        await stack.stop()
