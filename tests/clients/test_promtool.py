"""promtool, the checker of Prometheus, over /metrics."""

import asyncio

import aiohttp

from tests.clients.installed import debian_program
from tests.clients.table import Checker

CHECKERS = (Checker(name="promtool", checks="the form of `/metrics`, its names and units"),)


async def checked(text: str) -> tuple[int | None, str]:
    """How promtool ends, and what it complains of."""
    promtool = await asyncio.to_thread(debian_program, "prometheus", "promtool")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(promtool, "check", "metrics", stdin=pipe, stdout=pipe, stderr=pipe)
    out, err = await process.communicate(text.encode())
    return process.returncode, (out + err).decode()


async def test_it_finds_nothing(http: aiohttp.ClientSession) -> None:
    for body in ({"question": "how long"}, {"question": "near"}, {"question": " "}):
        async with http.post("/v1/runs", json=body) as response:
            await response.read()
    async with http.post("/v1/chat/completions", json={"model": "general", "messages": "hi"}) as response:
        await response.read()
    async with http.get("/metrics") as response:
        text = await response.text()
    assert "groundwire_" in text
    assert await checked(text) == (0, "")


async def test_it_would_find_something() -> None:
    code, complaints = await checked("runs_total 1\n")
    assert (code, "no help text" in complaints) == (3, True)
