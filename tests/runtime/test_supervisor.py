"""What a stack finds in its state folder: another stack at work, or what a killed one left behind."""

import asyncio
import sys
from pathlib import Path
from shutil import which

import pytest

from runtime import nats_server, supervisor
from runtime.settings import Settings
from runtime.supervisor import Busy, Stack, running

STALE = b'{"nats_url":"nats://127.0.0.1:9","edge_port":null}'


async def test_a_stack_at_work_is_found_and_keeps_others_out(tmp_path: Path) -> None:
    stack = Stack(Settings(), tmp_path, (), sync_always=False)
    await stack.start()
    try:
        there = running(tmp_path)
        assert there is not None
        assert there.nats_url == stack.settings.bus.url
        with pytest.raises(Busy, match="already; use it"):
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
