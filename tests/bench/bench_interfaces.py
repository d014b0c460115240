"""Questions per second, latency and processor time over every interface, and against another version in the same minutes.

    uv run --group dev python -m tests.bench.bench_interfaces [--interfaces sse nats] [--clients 1 16] [--seconds 3] [--turns 4]
    uv run --group dev python -m tests.bench.bench_interfaces --against ba32871
    uv run --group dev python -m tests.bench.bench_interfaces --without masking gate --interfaces sse --clients 8 --turns 20

Each version is a `groundwire up` over the demo documents, without a model and without a cache of replies. The clients are closed
loops in this process: each asks again when it has the whole answer. With two versions, they take turns: a row has the medians of
each and the median of the ratios of neighbouring turns, which depends less on other load than any time does.

`--against` takes the code from a git worktree with an environment of its own, in the cache folder, and the documents and questions
of that commit. `--without` compares with a copy of this checkout in which one feature is switched off; `nothing` switches off
nothing and shows what chance alone makes.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import aiohttp
import nats
import psutil
import uvloop
from groundwire.client import Client
from nats.aio.client import Client as NATS

from runtime.mcp.server import HANDSHAKE
from runtime.processes.ports import free_port
from tests.bench.bench_start import ROOT, ready_line
from tests.bench.stacks import used_s

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "groundwire-bench"
CODE = ("actors", "bus", "index", "prompts", "runtime")
WARM_S, WARM_CLIENTS = 10.0, 8

#: How to switch a feature off: in which file which text becomes which; a test keeps the texts current.
FEATURES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "nothing": (),
    "masking": (("index/masking/text.py", "return _alone(text) if not before", "return text if not before"),),
    "packing": (("bus/journal/records.py", "_PACK_FROM = 400", "_PACK_FROM = 1 << 40"),),
    "users": (("runtime/processes/supervisor.py", "passwords=users.passwords", "passwords=None"),),
    "admission": (
        ("bus/delivery/admission.py", "if run_id in self.limit.runs:", "if True:"),
        ("bus/delivery/admission.py", "if run_id not in self.limit.runs:", "if False:"),
    ),
    "gate": (
        (
            "actors/gate/check.py",
            "    written = (sentence if written is None else written).rstrip()\n",
            "    return ()\n",
        ),
    ),
    "choosing": (("actors/selecting/chosen.py", "choice = choose_parts(", "return None\n    choice = choose_parts("),),
}


# ---------------------------------------------------------------- a version at work


@dataclass(frozen=True)
class Version:
    """Code and the Python that runs it."""

    root: Path
    python: Path


@dataclass(frozen=True)
class Stack:
    """A running stack: its addresses and its first process."""

    url: str
    nats: str
    process: psutil.Process

    def processor_s(self) -> dict[str, float]:
        """CPU seconds so far, by kind of process."""
        used: dict[str, float] = defaultdict(float)
        for each in (self.process, *self.process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                words = each.cmdline()
                role = words[words.index("serve") + 1] if "serve" in words else "supervisor"
                used["nats" if any("nats-server" in word for word in words) else role] += used_s(each)
        return used


def version_at(commit: str) -> Version:
    """The code of a commit, with an environment of its own."""
    git = ("git", "-C", str(ROOT))
    full = subprocess.run([*git, "rev-parse", commit], check=True, capture_output=True, text=True).stdout.strip()
    root = CACHE / full[:12]
    if not root.exists():
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(root), full], check=True)
    environ = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    subprocess.run(["uv", "sync", "--quiet"], cwd=root, env=environ, check=True)
    return Version(root, root / ".venv/bin/python")


def version_without(feature: str, folder: Path) -> Version:
    """A copy of this checkout with the feature switched off."""
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for name, before, after in FEATURES[feature]:
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace(before, after), encoding="utf-8")
    return Version(folder, Path(sys.executable))


@contextlib.contextmanager
def running(version: Version, demo: Path, folder: Path) -> Iterator[Stack]:
    """`groundwire up` of that version over an index of the demo's documents, with its state in `folder`."""
    environ = os.environ | {"GROUNDWIRE_STATE": str(folder / "state"), "GROUNDWIRE_INFERENCE_CACHE_ENTRIES": "0"}
    environ |= {"GROUNDWIRE_LOG": "ERROR", "COLUMNS": "500"}
    command, index = [str(version.python), "-m", "runtime"], str(folder / "index")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], cwd=version.root, env=environ, capture_output=True, text=True, check=False
        )

    # Hidden today; ba32871 knows no other name.
    run("index", "build", str(demo / "documents"), "--out", index).check_returncode()
    up = [*command, "up", "--index", index, "--port", str(port := free_port())]
    with subprocess.Popen(up, cwd=version.root, env=environ, stderr=subprocess.PIPE, text=True) as process:
        try:
            plain = ready_line(process).partition("(nats ")[2].partition(",")[0]
            address = run("nats", "url", "--index", index)  # with the password, where there are passwords
            yield Stack(f"http://127.0.0.1:{port}", address.stdout.strip() or plain, psutil.Process(process.pid))
        finally:
            process.terminate()
            process.communicate()


# ---------------------------------------------------------------- the interfaces

#: Asks a question and waits for the whole answer; whether it was answered.
type Ask = Callable[[str], Awaitable[bool]]

#: Interfaces of one request: path, body, headers, and what the reply to an answered question contains.
REQUESTS: dict[str, tuple[str, Callable[[str], dict[str, Any]], dict[str, str], bytes]] = {
    "sse": ("/v1/runs", lambda text: {"question": text}, {}, b'"DONE"'),
    "json": ("/v1/runs", lambda text: {"question": text}, {"Accept": "application/json"}, b'"outcome"'),
    "chat": (
        "/v1/chat/completions",
        lambda text: {"model": "general", "messages": [{"role": "user", "content": text}], "stream": True},
        {},
        b"[DONE]",
    ),
    "responses": (
        "/v1/responses",
        lambda text: {"model": "general", "input": text, "stream": True},
        {},
        b"response.completed",
    ),
    "mcp": (
        "/mcp",
        lambda text: {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "ask", "arguments": {"question": text}},
        },
        {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": HANDSHAKE},
        b'"outcome"',
    ),
}
INTERFACES = ("sse", "json", "websocket", "chat", "responses", "client", "mcp", "nats")


@asynccontextmanager
async def client(interface: str, stack: Stack, session: aiohttp.ClientSession) -> AsyncIterator[Ask]:
    """One client of the interface."""
    if interface == "client":
        library = Client(stack.url, session=session)
        yield lambda question: _with_library(library, question)
    elif interface == "websocket":
        async with session.ws_connect(f"{stack.url}/v1/ws") as socket:
            yield lambda question: _over_websocket(socket, question)
    elif interface == "nats":
        connection = await nats.connect(stack.nats)
        yield lambda question: _over_nats(connection, question)
        await connection.close()
    else:
        yield lambda question: _by_request(session, stack.url, interface, question)


async def _by_request(session: aiohttp.ClientSession, url: str, interface: str, question: str) -> bool:
    path, body, headers, sign = REQUESTS[interface]
    async with session.post(url + path, json=body(question), headers=headers) as response:
        reply = await response.read()
    return response.status == 200 and sign in reply and b'"type":"error"' not in reply


async def _with_library(library: Client, question: str) -> bool:
    return (await library.ask(question)).outcome != "failed"


async def _over_websocket(socket: aiohttp.ClientWebSocketResponse, question: str) -> bool:
    await socket.send_json({"question": question})
    return await _until_done(socket.receive_str)


async def _over_nats(connection: NATS, question: str) -> bool:
    run_id = secrets.token_hex(12)
    events = await connection.subscribe(f"gw.event.{run_id}")
    await connection.jetstream().publish(f"gw.question_asked.{run_id}", json.dumps({"question": question}).encode())

    async def next_event() -> str:
        return str((await events.next_msg(timeout=60)).data, "utf-8")

    answered = await _until_done(next_event)
    await events.unsubscribe()
    return answered


async def _until_done(next_event: Callable[[], Awaitable[str]]) -> bool:
    """Read events to the last; whether none of them is an error."""
    read = [await next_event()]
    while '"DONE"' not in read[-1]:
        read.append(await next_event())
    return not any('"type":"error"' in each for each in read)


# ---------------------------------------------------------------- the measurement


@dataclass(frozen=True)
class Turn:
    """`by_kind_ms`: processor time of a question, by kind of process."""

    per_s: float
    p50_ms: float
    by_kind_ms: dict[str, float]
    failed: int

    @property
    def cpu_ms(self) -> float:
        return sum(self.by_kind_ms.values())


async def turn(stack: Stack, interface: str, clients: int, seconds: float, questions: Sequence[str]) -> Turn:
    """Let that many clients ask for so long, each question after the other's answer."""
    left, took, failed = itertools.cycle(questions), list[float](), 0
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, AsyncExitStack() as opened:
        asks = [await opened.enter_async_context(client(interface, stack, session)) for _ in range(clients)]
        before, began = stack.processor_s(), time.perf_counter()

        async def loop(ask: Ask) -> None:
            nonlocal failed
            while (asked := time.perf_counter()) < began + seconds:
                if await ask(next(left)):
                    took.append(time.perf_counter() - asked)
                else:
                    failed += 1

        await asyncio.gather(*map(loop, asks))
        lasted_s, after = time.perf_counter() - began, stack.processor_s()
    done = max(1, len(took))
    used_ms = {kind: (used_s - before[kind]) / done * 1000 for kind, used_s in after.items()}
    return Turn(len(took) / lasted_s, statistics.median(took or [0.0]) * 1000, used_ms, failed)


async def turns(
    stacks: Sequence[Stack], interface: str, clients: int, questions: Sequence[str], given: argparse.Namespace
) -> list[list[Turn]]:
    """The turns of each stack. The stacks alternate, and each is first as often as the other."""
    done: list[list[Turn]] = [[] for _ in stacks]
    for number in range(given.turns):
        order = random.Random(number).sample(questions, len(questions))
        for at in sorted(range(len(stacks)), reverse=number % 2 == 1):
            done[at].append(await turn(stacks[at], interface, clients, given.seconds, order))
    return done


def print_rows(name: str, done: Sequence[Sequence[Turn]]) -> None:
    """The medians of each stack; of two the medians of the first one's turns over those of the second.

    At the end the difference of their processor times with its quartiles, and a row for each stack by kind of process.
    """
    shown = f"{name:24}"
    for value in map(attrgetter, ("per_s", "p50_ms", "cpu_ms")):
        shown += " |" + "".join(f"{statistics.median(map(value, each)):8.1f}" for each in done)
        if len(done) == 2:
            ratios = [value(new) / value(old) for new, old in zip(*done, strict=True) if value(old)]
            shown += f" {statistics.median(ratios or [0.0]):6.2f}"
    shown += f" | {' '.join(str(sum(turn.failed for turn in each)) for each in done)}"
    if len(done) == 2 and len(done[0]) > 1:
        more = [new.cpu_ms - old.cpu_ms for new, old in zip(*done, strict=True)]
        low, middle, high = statistics.quantiles(more, n=4, method="inclusive")
        shown += f" | {middle:+.2f} ({low:+.2f} to {high:+.2f})"
    print(shown, flush=True)
    for each in done:
        kinds = {kind: statistics.median(turn.by_kind_ms[kind] for turn in each) for kind in each[0].by_kind_ms}
        print(" " * 26 + ", ".join(f"{kind} {ms:.1f}" for kind, ms in sorted(kinds.items())), flush=True)


async def measure(name: str, versions: Sequence[Version], given: argparse.Namespace, folder: Path) -> None:
    """Measure every interface that a version has; `name` begins each row."""
    demo = versions[-1].root / "runtime/demo"
    questions = [each["text"] for each in tomllib.loads((demo / "questions.toml").read_text("utf-8"))["question"]]
    with contextlib.ExitStack() as opened:
        stacks = [opened.enter_context(running(each, demo, folder / str(n))) for n, each in enumerate(versions)]
        for stack in stacks:
            await turn(stack, "sse", WARM_CLIENTS, WARM_S, questions)
        for interface in given.interfaces:
            there = [stack for stack in stacks if not (await turn(stack, interface, 1, 0.1, questions)).failed]
            for clients in given.clients if there else ():
                done = await turns(there, interface, clients, questions, given)
                print_rows(f"{name} {interface} {clients}".lstrip(), done)


async def main(given: argparse.Namespace) -> None:
    here = Version(ROOT, Path(sys.executable))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("questions/s | p50 ms | processor ms a question | failed | difference of the processor ms", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for feature in given.without:
            versions = [here, version_without(feature, folder / feature / "code")]
            await measure(feature, versions, given, folder / feature)
        if not given.without:
            await measure("", [here, *([version_at(given.against)] if given.against else [])], given, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--without", nargs="+", choices=FEATURES, default=(), help="a feature")
    parser.add_argument("--interfaces", nargs="+", choices=INTERFACES, default=INTERFACES)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 16, 32])
    parser.add_argument("--seconds", type=float, default=3.0, help="of a turn")
    parser.add_argument("--turns", type=int, default=4, help="of each stack")
    uvloop.run(main(parser.parse_args()))
