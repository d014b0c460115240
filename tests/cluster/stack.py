"""Groundwire on three hosts: a cluster of nats-servers, search on two that hold no index, actors on two, edges on two."""

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bus.journal.bucket import Bucket
from bus.transport.connection import Client, connect, keep_trying
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from runtime.bucket.push import push
from runtime.processes import nats_server
from runtime.processes.nats_config import shared_config
from tests.cluster.network import HOSTS, Network

ROLES = {
    "a": ("search", "inference", "edge"),
    "b": ("search", "inference", "actors"),
    "c": ("inference", "actors", "edge"),
}
EDGES = [host for host, roles in ROLES.items() if "edge" in roles]
USERS = ("operator", "actors", "search", "inference", "edge", "integration")
PASSWORD = "only-here"
BUCKET = "shelf"
#: How long the cluster may take to be ready, or to be whole again, in seconds.
PATIENCE_S = 120.0

NATS = """server_name: {host}
listen: "0.0.0.0:4222"
http: "0.0.0.0:8222"
ping_interval: "1s"
ping_max: 2
jetstream {{ store_dir: "{folder}/nats" }}
cluster {{
  name: groundwire
  listen: "{address}:6222"
  routes: [{routes}]
  no_advertise: true
  ping_interval: "1s"
}}
include "groundwire.conf"
"""

SETTINGS = """state = "{folder}/state"
[bus]
url = "{urls}"
replicas = 3
runs_max_bytes = 268435456
events_max_bytes = 67108864
[index]
bucket = "{bucket}"
[inference]
cache_entries = 0
lock = "{folder}/device.lock"
[access]
keys = "{folder}/keys.json"
[edge]
host = "{address}"
canary_s = 0
"""


class Cluster:
    """Each host's folder holds its `nats.conf`, `settings.toml`, state and logs."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network = network
        self.folder = folder
        self.client: Client

    def urls(self, first: str = "") -> str:
        """All servers, that host's own first."""
        ordered = sorted(HOSTS, key=lambda host: host != first)
        return ",".join(f"nats://{self.network.address(host)}:4222" for host in ordered)

    def edge(self, host: str) -> str:
        return f"http://{self.network.address(host)}:8080"

    def lay_out(self, keys: bytes) -> None:
        """Write the files of every host."""
        for host in HOSTS:
            folder = self.folder / host
            folder.mkdir(parents=True)
            (folder / "groundwire.conf").write_text(shared_config())
            others = ", ".join(f'"nats://{self.network.address(each)}:6222"' for each in HOSTS if each != host)
            address = self.network.address(host)
            (folder / "nats.conf").write_text(NATS.format(host=host, folder=folder, address=address, routes=others))
            said = SETTINGS.format(folder=folder, urls=self.urls(host), bucket=BUCKET, address=address)
            (folder / "settings.toml").write_text(said)
            (folder / "keys.json").write_bytes(keys)
            (folder / "keys.json").chmod(0o600)

    def start_nats(self, host: str) -> None:
        passwords = {f"GROUNDWIRE_NATS_{user.upper()}": PASSWORD for user in USERS}
        self._start(host, "nats", nats_server.command(self.folder / host / "nats.conf"), passwords)

    def start_roles(self, host: str) -> None:
        for role in ROLES[host]:
            command = [
                sys.executable,
                "-m",
                "runtime",
                "serve",
                role,
                "--config",
                str(self.folder / host / "settings.toml"),
            ]
            self._start(host, role, command, {"GROUNDWIRE_BUS_USER": role, "GROUNDWIRE_BUS_PASSWORD": PASSWORD})

    def _start(self, host: str, name: str, command: list[str], more: Mapping[str, str]) -> None:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("GROUNDWIRE_")}
        self.network.start(host, name, command, self.folder / host / f"{name}.log", environ | more)

    async def connect(self) -> Client:
        """As the operator. Raises Unavailable."""
        client = await connect(
            BusSettings(url=self.urls(), user="operator", password=PASSWORD), name="test", patience_s=PATIENCE_S
        )
        keep_trying(client)
        return client

    async def push(self, index: Path) -> None:
        """Send the index, once the cluster has a leader. Raises Unavailable."""
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                await push(Bucket(self.client, BUCKET), index, lambda task, done, total: None, keep=3, replicas=3)
                return
            except Unavailable:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(0.5)

    async def leaders(self) -> dict[str, str]:
        """The leading host of each stream; None for a stream without a leader."""
        found = {}
        for name in ("RUNS", "EVENTS", f"OBJ_{BUCKET}"):
            info = await self.client.jetstream(timeout=5.0)._api_request(f"$JS.API.STREAM.INFO.{name}", timeout=5.0)
            found[name] = info["cluster"].get("leader", "")
        return found
