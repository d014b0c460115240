import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from bus.wire.errors import Unavailable
from runtime.processes.device_lock import DeviceLock

ROOT = Path(__file__).parents[3]
OWNER = """
import pathlib, signal, sys
from runtime.processes.device_lock import DeviceLock
lock = DeviceLock(pathlib.Path(sys.argv[1]))
print(lock.try_acquire(), flush=True)
signal.pause()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "device.lock"


def test_one_owner_at_a_time(path):
    first, second = DeviceLock(path), DeviceLock(path)
    assert first.try_acquire()
    assert first.try_acquire()
    assert not second.try_acquire()
    assert second.owner() == str(os.getpid())
    first.release()
    first.release()
    assert second.try_acquire()
    assert not first.held
    second.release()


async def test_standby_takes_over_a_dead_owner(path):
    command = [sys.executable, "-c", OWNER, str(path)]
    owner = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    try:
        assert await owner.stdout.readline() == b"True\n"
        standby, said = DeviceLock(path), asyncio.Queue()
        taking = asyncio.create_task(standby.acquire(said.put_nowait))
        assert await asyncio.wait_for(said.get(), 60) == f"standby: the device is owned by process {owner.pid}"
        assert not taking.done()
        owner.send_signal(signal.SIGKILL)
        await asyncio.wait_for(taking, 60)
        assert standby.held
        standby.release()
    finally:
        await owner.wait()


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be opened"):
        DeviceLock(tmp_path / "file" / "device.lock").try_acquire()
