"""How many streams one edge serves, and what a token costs it.

    uv run python tests/bench/bench_edge.py [--clients 100 200 400] [--rate 50] [--per-frame 1] [--seconds 5] [--ui]

A publisher writes `rate` tokens per second and client into EVENTS, `per-frame` of them per message and with the headers of a
run's frames, evenly spread over the time; clients read them from the edge as server-sent events. Each token holds the time it was
made, so the delay is from the publisher to the client's socket. The load, nats-server and the edge share this machine's cores;
nats-server syncs to disk occasionally, not for every message, since only the edge is measured. The clients keep what they
receive and look at it afterwards. The last columns are CPU time per token: of the edge, and of the three
other processes that it shares the cores with, which shows whether the edge was too slow. `made/s` is the rate of
the publisher. With `--ui` the clients are the AI SDK's.
"""

import argparse
import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import aiohttp
import psutil
import uvloop

from bus.journal.access import Access, grant
from bus.journal.journal import Journal
from bus.powers.events import FIRST, PHASE, TOKENS
from bus.runs.runs import Runs
from bus.transport.connection import connect, declare_streams
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import event_subject
from runtime.processes import nats_server, ports
from runtime.processes.listening import key_file
from runtime.settings import AccessSettings, EdgeSettings, Settings, child_environ

_MADE = re.compile(rb"(\d{9,}) ")
#: How often the publisher writes for some of the clients.
TURN_S = 0.002
#: The measured processes: CPU time in microseconds per token.
CPU = ("edge", "nats", "publisher", "clients")


@dataclass(frozen=True)
class Load:
    clients: int
    rate: float  # tokens per second and client
    per_frame: int
    seconds: float

    @property
    def frames(self) -> int:
        return int(self.seconds * self.rate / self.per_frame)

    @property
    def period_s(self) -> float:
        return self.per_frame / self.rate

    @property
    def turns(self) -> int:
        """In how many parts of a period the publisher writes."""
        return max(1, int(self.period_s / TURN_S))


def token_lines(first: int, count: int) -> list[bytes]:
    """Tokens with the time of their creation, in nanoseconds, as content."""
    return [
        b'{"type":"token","content":"%d ","status":"in_progress","index":%d}' % (time.monotonic_ns(), first + n)
        for n in range(count)
    ]


class Listener(asyncio.Protocol):
    """A client that sends one request and keeps what it receives."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.began = time.monotonic_ns()
        self.received: list[tuple[int, bytes]] = []
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self.request)  # uvloop's transport does not inherit from it

    def data_received(self, data: bytes) -> None:
        self.received.append((time.monotonic_ns(), data))
        if (b'"DONE"' in data or b"[DONE]" in data) and not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def times(self) -> list[tuple[int, int]]:
        """When each token was made and when it came, in nanoseconds."""
        return [(int(made), now) for now, data in self.received for made in _MADE.findall(data)]


async def listen(port: int, paths: list[str], token: str = "") -> list[Listener]:
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    loop = asyncio.get_running_loop()
    listeners = []
    for path in paths:
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{bearer}\r\n".encode()
        _, listener = await loop.create_connection(lambda request=request: Listener(request), "127.0.0.1", port)
        listeners.append(listener)
    return listeners


# ---------------------------------------------------------------- run in their own processes


async def publish(url: str, prefix: str, load: Load) -> None:
    """The publisher: one frame per client and period, spread evenly over the period, unlike the runs of a batch."""
    client = await connect(url, name="bench-publisher")
    began = time.monotonic()
    for n in range(load.frames):
        shown = str((n + 1) * load.per_frame)
        # As `Emitter` writes them, without the header that makes the server compare sequences.
        headers = {FIRST: str(n * load.per_frame + 1), TOKENS: shown, PHASE: "open"}
        for turn in range(load.turns):
            for number in range(turn, load.clients, load.turns):
                data = b"\n".join(token_lines(n * load.per_frame + 1, load.per_frame))
                await client.publish(event_subject(f"{prefix}{number}"), data, headers=headers)
            await client.flush(timeout=30)
            due = began + (n + (turn + 1) / load.turns) * load.period_s
            await asyncio.sleep(max(0.0, due - time.monotonic()))
    for number in range(load.clients):
        await client.publish(event_subject(f"{prefix}{number}"), b'{"type":"DONE"}')
    await client.close()


# ---------------------------------------------------------------- the measurement


@contextlib.contextmanager
def process(*command: str, environ: dict[str, str] | None = None) -> Iterator[psutil.Process]:
    started = subprocess.Popen(command, env={**os.environ, **(environ or {})}, stderr=subprocess.DEVNULL)
    try:
        yield psutil.Process(started.pid)
    finally:
        started.kill()
        started.wait()


async def answering(port: int, path: str) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(400):
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{port}{path}"):
                    return
            await asyncio.sleep(0.05)
    raise RuntimeError(f"nothing answers on port {port}")


@dataclass(frozen=True)
class Result:
    """`cpu_us` per token, of each process by name."""

    p50_ms: float
    p99_ms: float
    tokens_per_s: float
    cpu_us: dict[str, float]


async def measure(listeners: list[Listener], processes: dict[str, psutil.Process], load: Load) -> Result:
    before = {name: used_s(each) for name, each in processes.items()}
    finished = asyncio.gather(*(each.done for each in listeners))
    await asyncio.wait_for(finished, load.seconds * 4 + 30)
    used = {name: used_s(each) - before[name] for name, each in processes.items()}
    times = [pair for each in listeners for pair in each.times()]
    late = sorted((came - made) / 1e6 for made, came in times)
    made_s = (max(made for made, _ in times) - min(made for made, _ in times)) / 1e9
    return Result(
        p50_ms=late[len(late) // 2],
        p99_ms=late[int(len(late) * 0.99)],
        tokens_per_s=len(late) / made_s,
        cpu_us={name: each_s * 1e6 / len(late) for name, each_s in used.items()},
    )


def used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def myself(*arguments: object) -> tuple[str, ...]:
    return (sys.executable, str(Path(__file__)), *map(str, arguments))


def shape(load: Load) -> tuple[object, ...]:
    return ("--rate", load.rate, "--per-frame", load.per_frame, "--seconds", load.seconds, "--clients", load.clients)


async def through_edge(
    url: str, port: int, processes: dict[str, psutil.Process], load: Load, token: str, secret: bytes
) -> Result:
    """`secret`: the edge's, for clients of the AI SDK, which ask for their chats by name."""
    client = await connect(url, name="bench")
    runs = Runs(Journal(client), secret=secret)
    paths = "/api/chat/{}/stream" if secret else "/v1/runs/{}/events"
    prefix = f"b{time.monotonic_ns()}-"
    for number in range(load.clients):
        if token:
            await grant(runs.journal, f"{prefix}{number}", Access(key="bench"))
        await runs.submit(QuestionAsked(question="bench"), f"{prefix}{number}")
        if secret:
            access = Access(key="bench") if token else None
            await runs.add_to_chat(f"{prefix}{number}", f"{prefix}{number}", access)
    listeners = await listen(port, [paths.format(f"{prefix}{number}") for number in range(load.clients)], token)
    await asyncio.sleep(1.0)  # all of them are connected
    with process(*myself("--role", "publish", "--url", url, "--prefix", prefix, *shape(load))) as publisher:
        result = await measure(listeners, {**processes, "publisher": publisher, "clients": psutil.Process()}, load)
    await client.close()
    return result


@contextlib.asynccontextmanager
async def edge(*, keys: bool) -> AsyncIterator[tuple[str, int, dict[str, psutil.Process], str, bytes]]:
    """A nats-server with an edge process in front, which asks for the key that is given, or for none; and the edge's secret."""
    port = ports.free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = nats_server.write_config(Path(folder), port=(nats_port := ports.free_port()), sync_always=False)
        url = f"nats://127.0.0.1:{nats_port}"
        settings = Settings(edge=EdgeSettings(port=port), access=AccessSettings(required=keys), state=folder)
        token = key_file(settings).add("bench", ("read",), now=time.time()) if keys else ""
        environ = child_environ(settings) | {"GROUNDWIRE_BUS_URL": url}
        with process(*nats_server.command(config)) as nats:
            client = await connect(url, name="bench-declare")
            await declare_streams(client.jetstream(timeout=5.0), settings.bus)
            await client.close()
            with process(sys.executable, "-m", "runtime", "serve", "edge", environ=environ) as server:
                await answering(port, "/healthz")
                secret = bytes.fromhex(key_file(settings).read().secret)
                yield url, port, {"edge": server, "nats": nats}, token, secret


async def main(arguments: argparse.Namespace) -> None:
    print(
        f"{os.cpu_count()} cores, {arguments.rate:g} tokens/s a client, {arguments.per_frame} a frame, {arguments.seconds:g} s"
    )
    columns = ("clients", "made/s", "p50 ms", "p99 ms", *CPU)
    print(" ".join(f"{column:>9}" for column in columns))
    async with edge(keys=arguments.keys) as (url, port, processes, token, secret):
        for clients in arguments.clients:
            load = Load(clients, arguments.rate, arguments.per_frame, arguments.seconds)
            found = await through_edge(url, port, processes, load, token, secret if arguments.ui else b"")
            shown = (found.p50_ms, found.p99_ms, *(found.cpu_us[name] for name in CPU))
            print(f"{clients:9} {found.tokens_per_s:9.0f} " + " ".join(f"{each:9.1f}" for each in shown), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, nargs="+", default=[100, 200, 400])
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--per-frame", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--keys", action="store_true", help="every client sends a key")
    parser.add_argument("--ui", action="store_true", help="the clients are the AI SDK's")
    parser.add_argument("--role", choices=["measure", "publish"], default="measure", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--prefix", help=argparse.SUPPRESS)
    given = parser.parse_args()
    wanted = Load(given.clients[0], given.rate, given.per_frame, given.seconds)
    if given.role == "publish":
        uvloop.run(publish(given.url, given.prefix, wanted))
    else:
        uvloop.run(main(given))
