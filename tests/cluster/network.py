"""Three hosts on one machine: a network namespace each, joined by a bridge; links can be cut, and all of a host be killed."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

HOSTS = ("a", "b", "c")
_COUNT = itertools.count()


class NotPermitted(Exception):
    """Namespaces cannot be made here; the message gives the reason."""


def ip(*words: str) -> None:
    """Raises NotPermitted."""
    if shutil.which("ip") is None:
        raise NotPermitted("there is no `ip` here (package iproute2)")
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotPermitted(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Network:
    """`address(host)` is reached from every host and from here. Nothing is left of it after `close`."""

    def __init__(self) -> None:
        number = next(_COUNT)  # the kernel's state of a closed one does not disturb the next
        self._tag = f"gw{os.getpid() % 10000}n{number}"
        self._net = f"10.231.{(os.getpid() + number) % 250}"
        self._processes: dict[str, dict[str, subprocess.Popen[bytes]]] = {host: {} for host in HOSTS}

    def open(self) -> None:
        """Raises NotPermitted."""
        ip("link", "add", f"{self._tag}br", "type", "bridge")
        ip("addr", "add", f"{self._net}.254/24", "dev", f"{self._tag}br")
        ip("link", "set", f"{self._tag}br", "up")
        for host in HOSTS:
            space, outer = self._space(host), f"{self._tag}{host}"
            ip("netns", "add", space)
            ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", outer, "master", f"{self._tag}br", "up")
            ip("-n", space, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", space, "link", "set", "lo", "up")

    def close(self) -> None:
        for host in HOSTS:
            self.kill(host)
            for what in (("link", "del", f"{self._tag}{host}"), ("netns", "del", self._space(host))):
                with contextlib.suppress(NotPermitted):
                    ip(*what)
        with contextlib.suppress(NotPermitted):
            ip("link", "del", f"{self._tag}br")

    def address(self, host: str) -> str:
        return f"{self._net}.{1 + HOSTS.index(host)}"

    def start(self, host: str, name: str, command: Sequence[str], log: Path, environ: Mapping[str, str]) -> None:
        """Run a process on a host."""
        with log.open("ab") as out:
            self._processes[host][name] = subprocess.Popen(
                ["ip", "netns", "exec", self._space(host), *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=dict(environ), start_new_session=True,
            )  # fmt: skip

    def dead(self) -> list[str]:
        """The processes that have ended by themselves."""
        return [
            f"{name} on {host}"
            for host, processes in self._processes.items()
            for name, process in processes.items()
            if process.poll() is not None
        ]

    def kill(self, host: str) -> None:
        """SIGKILL to all processes of a host."""
        processes, self._processes[host] = self._processes[host], {}
        for process in processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in processes.values():
            process.wait()

    def unplug(self, host: str) -> None:
        ip("link", "set", f"{self._tag}{host}", "down")

    def plug(self, host: str) -> None:
        ip("link", "set", f"{self._tag}{host}", "up")

    @contextlib.contextmanager
    def cut(self, one: str, other: str) -> Iterator[None]:
        """No packet gets from one host to the other, and none is refused: all are lost."""
        pairs = ((one, other), (other, one))
        for here, there in pairs:
            ip("-n", self._space(here), "route", "add", "blackhole", f"{self.address(there)}/32")
        try:
            yield
        finally:
            for here, there in pairs:
                ip("-n", self._space(here), "route", "del", "blackhole", f"{self.address(there)}/32")

    def _space(self, host: str) -> str:
        return f"{self._tag}{host}"


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """Raises NotPermitted."""
    made = Network()
    try:
        made.open()
        yield made
    finally:
        made.close()
