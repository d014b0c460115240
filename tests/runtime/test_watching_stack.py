"""`groundwire up --watch`: a changed file is searched automatically, and `/v1/index` reports the served snapshot."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import aiohttp

from index.build.ingest import bring_in
from runtime.processes.ports import free_port
from tests.commands import begun
from tests.polling import until


async def test_changed_file_is_served(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "gate.md").write_text("# Gate\n\nThe gate opens at six in the morning.\n")
    (docs / "scan.pdf").write_bytes(b"nothing")
    bring_in(tmp_path / "index", [str(docs)], only=True)
    port = free_port()
    up = await begun(tmp_path / "state", "up", "--index", tmp_path / "index", "--watch", "--port", port)
    assert up.stderr is not None
    said = up.stderr
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as http:

            async def get(path: str) -> dict[str, Any]:
                try:
                    async with http.get(path) as response:
                        return dict(await response.json()) if response.status == 200 else {}
                except aiohttp.ClientError:
                    return {}

            async def found() -> bool:
                async with http.post("/v1/search", json={"query": "when does the gate open"}) as response:
                    return "nine" in (await response.json())["hits"][0]["text"]

            await until(lambda: get("/readyz"), what="the stack")
            before = await get("/v1/index")
            assert (before["documents"], before["formats"]) == (1, {"Markdown": 1})
            assert [skip["name"] for skip in before["skipped"]] == ["scan.pdf"]
            await said.readuntil(b"watching")
            (docs / "gate.md").write_text("# Gate\n\nThe gate opens at nine in the morning.\n")
            await until(found)
            after = await get("/v1/index")
            assert after["snapshot"] > before["snapshot"]
            assert after["served_since"] > before["served_since"]
            assert after["skipped"] == before["skipped"]
        up.send_signal(signal.SIGINT)
        assert b"changed gate.md: 1 passages" in await said.read()
        assert await up.wait() == 0
    finally:
        if up.returncode is None:
            up.kill()
            await up.wait()


async def test_interrupted_watch_ends_cleanly(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gate.md").write_text("The gate opens at six.")
    watch = await begun(tmp_path / "state", "index", "watch", tmp_path / "docs", "--index", tmp_path / "index")
    assert watch.stdout is not None
    assert (await watch.stdout.readline()).startswith(b"watching")
    watch.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(watch.communicate(), 30) == (b"", b"")
    assert watch.returncode == 0
