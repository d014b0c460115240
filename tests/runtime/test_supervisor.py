"""A stack waits for processes that are still starting, and distinguishes another stack from the remains of a killed one."""

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from bus.transport.connection import connect, keep_trying
from bus.transport.health import answer_health
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from runtime.commands import up
from runtime.processes import nats_server, ports, state_folder
from runtime.processes.state_folder import running
from runtime.processes.supervisor import NatsProcess, Stack, StackRunning
from runtime.settings import Settings
from tests.bus.wires import Server, wired
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


async def test_slow_model_start_is_awaited(nats_url: str, stack: Stack, said: list[str]) -> None:
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


async def test_process_is_heard_through_a_new_nats_server(server: Server, stack: Stack, said: list[str]) -> None:
    stack.settings = msgspec.structs.replace(stack.settings, bus=BusSettings(url=server.url))
    client = await connect(server.url, name="played")
    keep_trying(client)
    state = {"ready": False, "detail": "loading a large model"}
    await answer_health(client, "inference", lambda: state)
    await client.flush()
    waiting = asyncio.create_task(stack.ready(patience_s=10.0))
    await until(lambda: said)
    server.kill()
    server.start()
    state["ready"] = True
    await waiting
    await client.close()


async def test_up_can_be_stopped_while_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(_: Stack) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr(Stack, "ready", interrupted)
    monkeypatch.setattr(up, "roles_over", lambda settings: ())
    try:
        assert await asyncio.wait_for(up._up(Settings(state=str(tmp_path)), watches=False), 30.0) == 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(number)


async def test_silent_process_is_given_up(stack: Stack) -> None:
    with pytest.raises(Unavailable, match=r"inference has reported nothing for 0 s; see .*inference.log"):
        await stack.ready(patience_s=0.1)


async def test_running_stack_is_detected_and_exclusive(tmp_path: Path) -> None:
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


async def port_of(folder: Path, bus: BusSettings | None = None) -> int:
    """The port of a stack that starts and stops."""
    stack = Stack(Settings(bus=bus or BusSettings()), folder, (), sync_always=False)
    try:
        await stack.start()
        return int(stack.settings.bus.url.rpartition(":")[2])
    finally:
        await stack.stop()


async def test_nats_keeps_its_port(tmp_path: Path) -> None:
    port = await port_of(tmp_path)
    assert await port_of(tmp_path) == port
    fixed = BusSettings(port=ports.free_port())
    assert await port_of(tmp_path, fixed) == fixed.port
    with socket.create_server(("127.0.0.1", fixed.port)):
        with pytest.raises(Unavailable, match=f"port {fixed.port} is in use; set another as bus.port"):
            await port_of(tmp_path, fixed)
        assert await port_of(tmp_path) != fixed.port


async def test_address_of_a_killed_stack_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "stack.json").write_bytes(STALE)
    assert running(tmp_path) is None


@pytest.mark.parametrize("differs", ["", "started", "command"])
async def test_only_the_recorded_nats_server_is_killed(tmp_path: Path, differs: str) -> None:
    port = ports.free_port()
    config = nats_server.write_config(tmp_path, port=port, sync_always=False)
    command = nats_server.command(config)
    orphan = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    seen = psutil.Process(orphan.pid)
    await until(lambda: seen.cmdline() == command)
    # It has read its configuration, which the stack writes again.
    with socket.socket() as probe:
        await until(lambda: probe.connect_ex(("127.0.0.1", port)) == 0)
    noted = NatsProcess(
        pid=orphan.pid,
        started=seen.create_time() - psutil.boot_time() - (60 if differs == "started" else 0),
        command=(*command, "-D") if differs == "command" else tuple(command),
    )
    (tmp_path / "nats.pid").write_bytes(msgspec.json.encode(noted))
    assert await port_of(tmp_path)
    if differs:
        assert orphan.returncode is None
        orphan.kill()
    assert await asyncio.wait_for(orphan.wait(), 10) != 0


@pytest.mark.parametrize("written", [b"", b"1", b"not a number", b'{"pid":-5,"started":0,"command":[]}'])
async def test_pid_file_of_another_program_is_ignored(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "nats.pid").write_bytes(written)
    assert await port_of(tmp_path)


async def test_state_folder_is_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        stack = Stack(Settings(), tmp_path / "state", (), sync_always=False)
        await stack.start()
        async with wired(stack.settings.bus):
            pass
        await stack.stop()
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o077 for path in [tmp_path / "state", *(tmp_path / "state").rglob("*")]}
    assert len(modes) > 6
    assert {path: mode for path, mode in modes.items() if mode and path.parent == tmp_path / "state"} == {}
    assert {path: mode for path, mode in modes.items() if mode} == {}


def test_no_home_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda uid: {}[uid])
    with pytest.raises(Unavailable, match=r"there is no home folder for the state .*; set GROUNDWIRE_STATE"):
        state_folder.state_home(Settings())


async def test_nats_server_ends_with_its_parent(tmp_path: Path) -> None:
    """Also when that is killed, so that nothing of it is left behind."""
    starts = (
        "import asyncio, sys; from pathlib import Path; from runtime.processes.supervisor import Stack;"
        "from runtime.settings import Settings\n"
        "async def main():\n"
        "    stack = Stack(Settings(), Path(sys.argv[1]), (), sync_always=False); await stack.start()\n"
        "    print(stack.processes['nats'].pid, flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", starts, str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    nats = psutil.Process(int(await parent.stdout.readline()))
    assert "nats-server" in nats.name()
    (watcher,) = nats.children()
    parent.kill()
    await parent.wait()
    for process in (nats, watcher):
        await until(lambda process=process: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)  # type: ignore[misc]
