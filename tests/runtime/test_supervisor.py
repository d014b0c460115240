"""A stack waits for processes that are still starting, and tells another stack from the remains of a killed one."""

import asyncio
import sys
import time
from pathlib import Path
from shutil import which

import msgspec
import pytest

from bus.connection import connect
from bus.errors import Unavailable
from bus.health import answer_health
from runtime.processes import nats_server, supervisor
from runtime.processes.supervisor import Stack, StackRunning, running
from runtime.settings import Settings
from tests.polling import until

PATIENCE_S = 2.0
STALE = b'{"nats_url":"nats://127.0.0.1:9","edge_port":null}'


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def stack(nats_url: str, tmp_path: Path, said: list[str]) -> Stack:
    """A stack of one process that the test plays itself."""
    made = Stack(Settings(), tmp_path, ("inference",), say=said.append)
    bus = msgspec.structs.replace(made.settings.bus, url=nats_url)
    made.settings = msgspec.structs.replace(made.settings, bus=bus)
    return made


async def test_a_process_that_loads_a_model_is_waited_for(nats_url: str, stack: Stack, said: list[str]) -> None:
    client = await connect(nats_url, name="played")
    state = {"ready": False, "detail": "loading a large model"}
    await answer_health(client, "inference", lambda: state)
    await client.flush()
    waiting = asyncio.create_task(stack.ready(patience_s=PATIENCE_S))
    began = time.monotonic()
    await until(lambda: time.monotonic() - began > 1.5 * PATIENCE_S)
    assert not waiting.done()
    state["ready"] = True
    await waiting
    assert said == ["inference: loading a large model…"]
    await client.close()


async def test_a_process_that_says_nothing_is_given_up(stack: Stack) -> None:
    with pytest.raises(Unavailable, match=r"inference has reported nothing for 0 s; see .*inference.log"):
        await stack.ready(patience_s=0.1)


async def test_a_stack_at_work_is_found_and_keeps_others_out(tmp_path: Path) -> None:
    stack = Stack(Settings(), tmp_path, (), sync_always=False)
    await stack.start()
    try:
        there = running(tmp_path)
        assert there is not None
        assert there.nats_url == stack.settings.bus.url
        with pytest.raises(StackRunning, match="already; use it"):
            await Stack(Settings(), tmp_path, (), sync_always=False).start()
    finally:
        await stack.stop()
    assert running(tmp_path) is None


async def test_the_address_of_a_killed_stack_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "stack.json").write_bytes(STALE)
    assert running(tmp_path) is None


@pytest.mark.parametrize(
    "told_by",
    [supervisor.PROC, pytest.param(Path("/no such folder"), marks=pytest.mark.skipif(not which("ps"), reason="no ps"))],
)
async def test_only_a_nats_server_is_killed_as_an_orphan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told_by: Path
) -> None:
    monkeypatch.setattr(supervisor, "PROC", told_by)
    config = nats_server.write_config(tmp_path, port=nats_server.free_port(), sync_always=False)
    orphan = await asyncio.create_subprocess_exec(*nats_server.command(config), stderr=asyncio.subprocess.DEVNULL)
    stranger = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    for pid in (stranger.pid, orphan.pid):
        (tmp_path / "nats.pid").write_text(str(pid))
        stack = Stack(Settings(), tmp_path, (), sync_always=False)
        await stack.start()
        await stack.stop()
    assert await asyncio.wait_for(orphan.wait(), 10) != 0
    assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()
