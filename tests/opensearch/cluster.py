"""A real OpenSearch of three nodes on this machine, a process each, for all the processes of a test run.

The first that asks starts it. Every process that uses it holds the other end of the nodes' standard input (a named pipe), so that
they end with the last one, however it ends.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from runtime.processes.ports import free_port
from tests.opensearch import installed

NODES = 3
_START_S, _JOIN_S, _ASK_S = 300.0, 300.0, 10.0
_FLAGS = (
    "-Xms512m", "-Xmx512m", "-XX:MaxDirectMemorySize=256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
    "-XX:-OmitStackTraceInFastThrow", "-Djna.nosys=true", "-Dio.netty.noKeySetOptimization=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0", "-Dio.netty.allocator.numDirectArenas=0", "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true", "--enable-native-access=ALL-UNNAMED",
)  # fmt: skip
_LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> "Iterator[Cluster]":
    """The one of this run, for a fixture of the session."""
    own = tmp_path_factory.getbasetemp()
    cluster = Cluster((own if worker_id == "master" else own.parent) / "opensearch")
    yield cluster
    cluster.close()


class _Running(msgspec.Struct):
    """Messages between the processes, in a file."""

    http: list[int]
    transport: list[int]
    pids: list[int]


class Cluster:
    """`kill` and `restart` are for an exclusive holder (`alone`); all others use it unchanged."""

    def __init__(self, folder: Path) -> None:
        """Start it, or find it running, in a folder that all processes of the run share. Skips where it cannot be installed."""
        self._folder = folder
        self._home = installed.home()
        folder.mkdir(parents=True, exist_ok=True)
        self._pipe = folder / "alive"
        with contextlib.suppress(FileExistsError):
            os.mkfifo(self._pipe)
        self._alive = os.open(self._pipe, os.O_RDWR)
        with self._locked("starting", fcntl.LOCK_EX):
            if not (folder / "running.json").exists():
                self._start()
        self.http = self._running().http

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.http]

    @property
    def url(self) -> str:
        """All nodes, as `index.url` names several."""
        return ",".join(self.urls)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """While others use it too: no test kills a node."""
        with self._locked("using", fcntl.LOCK_SH):
            yield

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """With exclusive use; afterwards it is complete again."""
        with self._locked("using", fcntl.LOCK_EX):
            try:
                yield
            finally:
                self.heal()

    def heal(self) -> None:
        """Start what was killed again, and wait until nothing is missing."""
        for node, pid in enumerate(self._running().pids):
            if not _lives(pid):
                self.restart(node)
        self.wait(NODES, _JOIN_S)

    def kill(self, node: int) -> None:
        """As `kill -9`."""
        os.kill(self._running().pids[node], signal.SIGKILL)

    def restart(self, node: int) -> None:
        running = self._running()
        running.pids[node] = self._launch(running, node)
        self._note(running)

    def manager(self) -> int:
        """The node that manages the cluster now."""
        (found,) = json.loads(self._get("/_cat/cluster_manager?format=json"))
        return int(str(found["node"]).removeprefix("n"))

    def wait(self, nodes: int, limit_s: float = _START_S) -> None:
        """Until that many are one cluster and no shard is missing."""
        until = time.monotonic() + limit_s
        asked = f"/_cluster/health?wait_for_nodes={nodes}&wait_for_status=green&timeout=5s"
        while True:
            with contextlib.suppress(OSError):
                health = json.loads(self._get(asked))
                if health["number_of_nodes"] == nodes and health["status"] == "green":
                    return
            if time.monotonic() > until:
                pytest.fail(f"OpenSearch was not whole after {limit_s:.0f} s: {self._last_words()}")

    def close(self) -> None:
        """Let go of it; the last process to do so ends it."""
        os.close(self._alive)

    def _start(self) -> None:
        ports = [free_port() for _ in range(2 * NODES)]
        running = _Running(ports[:NODES], ports[NODES:], [0] * NODES)
        self.http = running.http
        running.pids = [self._launch(running, node) for node in range(NODES)]
        self.wait(NODES)
        self._note(running)

    def _launch(self, running: _Running, node: int) -> int:
        folder = self._folder / f"n{node}"
        config, temporary = folder / "config", folder / "tmp"
        config.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(exist_ok=True)
        (config / "log4j2.properties").write_text(_LOGGING)
        (config / "opensearch.yml").write_text(json.dumps(self._settings(running, node)))
        command = [installed.JAVA, *_FLAGS, f"-Djava.io.tmpdir={temporary}"]
        command += ["-cp", f"{self._home / 'classes'}:{self._home / 'lib'}/*", "OpenSearchNode", self._home, config]
        env = {name: value for name, value in os.environ.items() if "JAVA" not in name}
        with (folder / "log").open("ab") as log, self._pipe.open("rb") as alive:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=alive,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**env, "OPENSEARCH_TMPDIR": str(temporary)},
                start_new_session=True,  # a Ctrl-C is for the tests, which then end it
            )
        process.returncode = 0  # it may outlive this process, which does not wait for it
        return process.pid

    def _settings(self, running: _Running, node: int) -> dict[str, object]:
        return {
            "cluster.name": "groundwire-tests",
            "node.name": f"n{node}",
            "path.data": str(self._folder / f"n{node}" / "data"),
            "path.logs": str(self._folder / f"n{node}" / "logs"),
            "network.host": "127.0.0.1",
            "http.port": running.http[node],
            "transport.port": running.transport[node],
            "discovery.seed_hosts": [f"127.0.0.1:{port}" for port in running.transport],
            "cluster.initial_cluster_manager_nodes": [f"n{each}" for each in range(NODES)],
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }

    def _get(self, path: str) -> str:
        for at, url in enumerate(self.urls, 1):
            try:
                with urllib.request.urlopen(url + path, timeout=_ASK_S) as reply:
                    return str(reply.read(), "utf-8")
            except OSError:
                if at == len(self.urls):
                    raise
        raise AssertionError("no nodes")

    def _last_words(self) -> str:
        return " | ".join((self._folder / f"n{node}" / "log").read_text()[-400:] for node in range(NODES))

    def _running(self) -> _Running:
        return msgspec.json.decode((self._folder / "running.json").read_bytes(), type=_Running)

    def _note(self, running: _Running) -> None:
        (self._folder / "running.json").write_bytes(msgspec.json.encode(running))

    @contextlib.contextmanager
    def _locked(self, name: str, how: int) -> Iterator[None]:
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, how)
            yield


def _lives(pid: int) -> bool:
    """Whether the process runs; a dead one stays a zombie while its parent runs."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
