"""The examples of docs/clients.md run unchanged, except for the address."""

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.engines.extractive.engine import ExtractiveEngine
from tests.clients.installed import node_in, output_of, python_of
from tests.clients.table import PAGE
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import KINDS
from tests.whole import whole

SHOWN = re.findall(r"<!-- runs in: (\S+) -->\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def command(place: str, code: str) -> tuple[tuple[str | Path, ...], Path | None]:
    """What runs it, and where."""
    if place == "sh":
        return ("sh", "-ec", code), None
    kind, _, name = place.partition("/")
    if kind == "node":
        node, folder = node_in(name)
        return (node, "--input-type=module", "-e", code), folder
    python = Path(sys.executable) if place == "project" else python_of(name.removesuffix(".txt"))
    return (python, "-c", code), None


@pytest.fixture
def cited(pipeline: Pipeline) -> Iterator[None]:
    pipeline.scripts["How"] = KINDS["cite"]
    yield
    del pipeline.scripts["How"]


async def said(place: str, code: str) -> str:
    words, folder = await asyncio.to_thread(command, place, code)
    return await output_of(*words, folder=folder)


@pytest.mark.slow
@pytest.mark.usefixtures("cited")
@pytest.mark.parametrize(("place", "code"), SHOWN, ids=[place for place, _ in SHOWN])
async def test_it_runs_and_cites(edge: str, place: str, code: str, tmp_path: Path) -> None:
    if place != "node/nats":
        assert "example.org/handbook" in await said(place, code.replace("127.0.0.1:8080", edge.removeprefix("http://")))
        return
    async with whole(tmp_path, ExtractiveEngine()) as run:
        question = code.replace("How long is a loan?", "How many days until refunds are paid?")
        url = run.users.url_of("integration")
        assert '"references"' in await said(place, question.replace('URL("URL")', f'URL("{url}")'))
