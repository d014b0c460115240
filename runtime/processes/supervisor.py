"""The supervisor: start the stack's processes, restart those that die, and stop them together.

    nats-server · search · inference · actors (one process, or several by `actors.processes`) · edge

Each child gets its settings in the environment, logs to the state folder, and ends when its parent does.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import msgspec
import psutil

from bus.journal.journal import Journal
from bus.transport.connection import connect, declare_streams, keep_trying
from bus.transport.health import health_of
from bus.transport.settings import BusSettings
from bus.transport.users import OPERATOR
from bus.wire.errors import Unavailable
from index.durable import replace_file
from runtime.processes import nats_server, nats_users, ports
from runtime.processes.nats_server import DiskErrors, has_room
from runtime.processes.private_files import open_private, private_folder
from runtime.processes.roles import CANNOT_START, Role
from runtime.processes.state_folder import Address, take
from runtime.settings import Settings, child_environ

if TYPE_CHECKING:
    from runtime.processes.role_tasks import RoleTasks

#: Most seconds before a restart: a process that keeps dying waits 0.1 s, then twice as long each time.
LONGEST_PAUSE_S = 2.0
#: Seconds of running after which the next restart waits 0.1 s again.
HEALTHY_S = 10.0
#: How often nats-server's log is read for writes that failed, in seconds.
LOOK_S = 2.0
#: Checking whether a stack runs holds the lock for a moment.
LOCK_TRIES = 10
#: What a child's own files may not be: readable by others.
PRIVATE = 0o077
#: How much the start of a process may differ from what was noted, in seconds.
START_S = 1.0
#: Runs a command so that it ends with this process, however that ends.
TETHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("tether.py")))


class StackRunning(Unavailable):
    """Another stack uses the same state folder."""


class NatsProcess(msgspec.Struct, frozen=True, kw_only=True):
    """The nats-server of a stack, as recorded in its state folder. `started` is in seconds since the machine's start."""

    pid: int
    started: float
    command: tuple[str, ...]


class Stack:
    """The processes of one stack. `say` gets progress, one line at a time; `on_broken` is called when the stack cannot go on."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        roles: Sequence[Role],
        *,
        say: Callable[[str], None] = lambda line: None,
        on_broken: Callable[[], None] = lambda: None,
        sync_always: bool = True,
        alone: bool = False,
    ) -> None:
        """`alone`: for one question; roles that can share this process do."""
        self.folder = folder
        self.roles = tuple(roles)
        #: Each process but nats-server, by name, with its `serve` arguments.
        self.commands: dict[str, tuple[str, ...]] = {}
        for role in self.roles:
            if role == "actors":
                self.commands |= dict.fromkeys(settings.actor_names[: 1 if alone else None], (role,))
            else:
                self.commands[role] = (role,)
        self.say = say
        self.sync_always = sync_always
        self._alone = alone
        self._tasks: RoleTasks | None = None
        self._nats_begun = asyncio.Event()
        self.settings = settings  #: for the operator, once it has started
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.failed = ""  #: why the stack cannot go on, once it cannot
        self._lock: IO[bytes] | None = None
        self._keepers: list[asyncio.Task[None]] = []
        self._stopping = False
        self._on_broken = on_broken

    async def start(self) -> None:
        """Start everything. Raises StackRunning, NoServer, Unavailable."""
        try:
            private_folder(self.folder)
            self._lock = open_private(self.folder / "lock")
        except OSError as error:
            raise Unavailable(
                f"the state folder {self.folder} cannot be used ({error.strerror}); set another as GROUNDWIRE_STATE"
            ) from None
        for _ in range(LOCK_TRIES):
            if take(self._lock, fcntl.LOCK_EX):
                break
            await asyncio.sleep(0.02)
        else:
            self._lock.close()
            raise StackRunning(f"a stack runs over {self.folder} already; use it, or stop it first")
        with contextlib.suppress(OSError):
            (self.folder / "stack.json").unlink()
        self._end_orphan()
        port = self._port()
        users = nats_users.make(self.folder, f"nats://127.0.0.1:{port}")
        self.settings = _with_bus(self.settings, users.bus(self.settings.bus, OPERATOR.name))
        config = nats_server.write_config(
            self.folder, port=port, sync_always=self.sync_always, passwords=users.passwords
        )
        # Half of the cores: on two, the server's threads would mostly wake each other, and the other processes need them.
        environ = {"GOMAXPROCS": str(max(1, (os.cpu_count() or 1) // 2)), **child_environ(self.settings)}
        self._keepers.append(asyncio.create_task(self._keep("nats", [*TETHER, *nats_server.command(config)], environ)))
        self._keepers.append(asyncio.create_task(self._mend_nats()))
        here = await self._share_process() if self._alone else set[Role]()
        for name, told in self.commands.items():
            if told[0] in here:
                continue
            command = [sys.executable, "-P", "-m", "runtime", "serve", *told, "--name", name, "--end-with-stdin"]
            environ = child_environ(_with_bus(self.settings, users.bus(self.settings.bus, told[0])))
            self._keepers.append(asyncio.create_task(self._keep(name, command, environ)))
        client = await connect(self.settings.bus, name="groundwire-supervisor")
        if self.roles:
            await declare_streams(client.jetstream(timeout=2.0), self.settings.bus)
            if lost := await Journal(client).lost_bytes():  # it goes on with the records that it could read
                self.say(
                    f"the journal in {self.folder} was damaged: nats-server dropped {lost} bytes of records, and runs that lost"
                    " theirs have failed; `groundwire restore` brings back a backup, and a cluster with bus.replicas keeps"
                    " more copies"
                )
        await client.close()
        if self._tasks is not None:
            for role in here:
                self._tasks.start(role, _with_bus(self.settings, users.bus(self.settings.bus, role)))
        edge_port = self.settings.edge.port if "edge" in self.roles else None
        address = Address(nats_url=self.settings.bus.url, edge_port=edge_port, brief=self._alone)
        replace_file(self.folder / "stack.json", msgspec.json.encode(address), mode=0o600, durable=False)

    async def ready(self, *, patience_s: float = 120.0) -> None:
        """Wait until every process reports ready, however long a model takes to load.

        Raises Unavailable with the reason when one cannot start, or reports nothing for `patience_s`.
        """
        client = await connect(self.settings.bus, name="groundwire-supervisor")
        keep_trying(client)
        try:
            for name in self.commands:
                heard_at, said = time.monotonic(), ""
                while not ((health := await health_of(client, name)) and health.ready):
                    if self.failed:
                        raise Unavailable(self.failed)
                    if health is not None:
                        if health.problem:
                            raise Unavailable(health.problem)
                        heard_at = time.monotonic()
                        if health.detail != said:
                            said = health.detail
                            self.say(f"{name}: {said}…")
                    elif time.monotonic() - heard_at > patience_s:
                        raise Unavailable(f"{name} has reported nothing for {patience_s:.0f} s; see {self.log(name)}")
                    await asyncio.sleep(0.03)
        finally:
            await client.close()

    async def stop(self) -> None:
        """Stop every process; nats-server last, so that work in flight can still be written."""
        self._stopping = True
        with contextlib.suppress(OSError):
            (self.folder / "stack.json").unlink()
        for name, process in self.processes.items():
            if name != "nats":
                _signal(process, signal.SIGTERM)
        if self._tasks is not None:
            await self._tasks.stop()
        await self._gone([p for name, p in self.processes.items() if name != "nats"])
        if "nats" in self.processes:
            _signal(self.processes["nats"], signal.SIGTERM)
            await self._gone([self.processes["nats"]])
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for process in self.processes.values():  # while there is a loop: later it is an error on the terminal
            if process.stdin is not None:
                process.stdin.close()
                with contextlib.suppress(OSError):
                    await process.stdin.wait_closed()
        if self._lock is not None:
            self._lock.close()

    def _port(self) -> int:
        """Where nats-server will listen: at the last start's port if it is free. Raises Unavailable when a fixed port is not."""
        fixed, last = self.settings.bus.port, nats_users.read(self.folder)
        port = fixed or (last and urlsplit(last.url).port) or 0
        if port and not ports.taken(("127.0.0.1",), port):
            return port
        if fixed:
            raise Unavailable(f"port {fixed} is in use; set another as bus.port, or 0 for any")
        return ports.free_port()

    async def _share_process(self) -> set[Role]:
        """The roles that run in this process, ready to be started; nats-server starts while their modules are loaded."""
        with anyio.move_on_after(5.0):  # asyncio never comes back from a Ctrl-C while it starts a process
            await self._nats_begun.wait()
        from runtime.processes import role_tasks

        here = {role for role in self.roles if role_tasks.fits(self.settings, role)}
        self._tasks = role_tasks.RoleTasks(sorted(here), self.settings, self.log("roles"), self._fail)
        return here

    def _fail(self, why: str) -> None:
        self.failed = why
        self._on_broken()

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    async def _keep(self, name: str, command: list[str], environ: dict[str, str]) -> None:
        """Keep one process running: restart it each time it dies."""
        pause = 0.1
        while not self._stopping:
            began = time.monotonic()
            try:
                with open_private(self.log(name), append=True) as log:
                    process = await asyncio.create_subprocess_exec(
                        *command,
                        env=environ,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                        umask=PRIVATE,
                    )
            except OSError as error:  # no process or file to be had now, or the folder is away
                pause = min(pause * 2, LONGEST_PAUSE_S)
                self.say(f"{name} cannot be started ({error}); trying again in {pause:.1f} s")
                await asyncio.sleep(pause)
                continue
            self.processes[name] = process
            if name == "nats":
                self._nats_begun.set()
                self._note_nats(process.pid, command[len(TETHER) :])
            status = await process.wait()
            if self._stopping:
                return
            if status == CANNOT_START:
                self._fail(self._last_line(name))
                return
            pause = 0.1 if time.monotonic() - began > HEALTHY_S else min(pause * 2, LONGEST_PAUSE_S)
            self.say(f"{name} exited with status {status}; restarting it in {pause:.1f} s (log: {self.log(name)})")
            await asyncio.sleep(pause)

    async def _mend_nats(self) -> None:
        """Start nats-server again when writes have failed and there is room: until then it stores nothing more."""
        errors = DiskErrors(self.log("nats"))
        while not self._stopping:
            await asyncio.sleep(LOOK_S)
            if not await asyncio.to_thread(errors.look):
                continue
            if await asyncio.to_thread(has_room, self.folder) and not self._stopping:
                self.say("nats-server could not write to its disk, which has room again; starting it anew")
                _signal(self.processes["nats"], signal.SIGTERM)
                await self._gone([self.processes["nats"]])
                errors.forget()

    def _last_line(self, name: str) -> str:
        lines = self.log(name).read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"{name} cannot start; see {self.log(name)}"

    def _note_nats(self, pid: int, command: Sequence[str]) -> None:
        """Write down which process nats-server is, for the stack after this one."""
        with contextlib.suppress(psutil.Error, OSError):  # it died at once, or it cannot be written down
            noted = NatsProcess(pid=pid, started=_started(psutil.Process(pid)), command=tuple(command))
            replace_file(self.folder / "nats.pid", msgspec.json.encode(noted), mode=0o600, durable=False)

    def _end_orphan(self) -> None:
        """Stop a nats-server that a killed supervisor left behind; we hold the lock, so no other stack uses it.

        A process is taken for it only if its id, its start and its command agree: ids are used again.
        """
        with contextlib.suppress(OSError, ValueError, msgspec.DecodeError, psutil.Error):
            noted = msgspec.json.decode((self.folder / "nats.pid").read_bytes(), type=NatsProcess)
            process = psutil.Process(noted.pid)
            same_start = abs(_started(process) - noted.started) < START_S
            if same_start and tuple(process.cmdline()) == noted.command:
                process.kill()
                process.wait(timeout=5.0)
        with contextlib.suppress(OSError):
            (self.folder / "nats.pid").unlink()

    @staticmethod
    async def _gone(processes: list[asyncio.subprocess.Process]) -> None:
        with anyio.move_on_after(8.0):
            for process in processes:
                await process.wait()
            return
        for process in processes:
            _signal(process, signal.SIGKILL)


def _with_bus(settings: Settings, bus: BusSettings) -> Settings:
    return msgspec.structs.replace(settings, bus=bus)


def _started(process: psutil.Process) -> float:
    """When a process started, in seconds since the machine did: the clock may have been set since."""
    return float(process.create_time() - psutil.boot_time())


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
