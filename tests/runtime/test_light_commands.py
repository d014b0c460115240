"""`--help` and wrong arguments are answered without loading what takes long."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

#: What takes long to load, and which `groundwire --help` and a wrong argument have no use for.
HEAVY = {
    "aiohttp",
    "faststream",
    "hnswlib",
    "jnius",
    "nats",
    "numpy",
    "pydantic",
    "pyserini",
    "rich",
    "scipy",
    "asyncio",
}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0),
        (["search", "--help"], 0),
        (["ask", "--style", "long", "hi"], 2),
        (["ask", "--index", "/nowhere", "hi"], 2),
    ],
)
def test_help_and_errors_load_no_heavy_module(arguments: list[str], status: int) -> None:
    assert HEAVY & loaded_by(arguments, status) == set()


@pytest.mark.parametrize(
    ("arguments", "status"), [(["build", "--help"], 0), (["list", "--index", "/nowhere"], 1), (["push", "--help"], 0)]
)
def test_index_commands_load_no_bus(arguments: list[str], status: int) -> None:
    assert {"nats", "faststream"} & loaded_by(["index", *arguments], status) == set()


def loaded_by(arguments: list[str], status: int) -> set[str]:
    """The modules that a command loads which ends with that status."""
    code = (
        "import sys; sys.argv[0] = 'groundwire'; from runtime.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as leaving:\n    print(leaving.code, *sorted(name for name, module in sys.modules.items()"
        " if getattr(module, '__spec__', None)), file=sys.stderr)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    found = told.stderr.splitlines()[-1].split()
    assert found[0] == str(status), told.stderr
    return set(found)


def test_question_roles_load_no_more_than_they_use() -> None:
    code = (
        "import sys, runtime.processes.actors, runtime.processes.search, runtime.processes.inference\n"
        "print(*sys.modules)\n"
        "import aiohttp\n"
        "assert 'aiohttp.client' not in sys.modules\n"
        "import nats.aio.transport\n"
        "assert nats.aio.transport.aiohttp.ClientSession is aiohttp.ClientSession\n"
        "from aiohttp import web\n"
        "assert web.Application.__module__ == 'aiohttp.web_app'"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    unused = {"aiohttp.client", "dotpromptz", "email_validator.syntax", "rich", "structlog", "openai", "uvicorn.config"}
    unused |= {"faststream", "pydantic"}
    assert unused & set(loaded.split()) == set()


@pytest.mark.parametrize(
    ("module", "unused"),
    [
        ("runtime.commands.up", {"aiohttp.client", "numpy", "phonenumbers", "actors.question.profile"}),
        ("runtime.processes.edge", {"numpy", "faststream", "actors.pipeline"}),
    ],
)
def test_no_role_is_loaded(module: str, unused: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert unused & set(loaded.split()) == set()
