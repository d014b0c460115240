"""curl against /v1/runs, as a shell script has it."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.halves import WORDS, Halves, halves
from tests.clients.table import Row
from tests.polling import ended

__all__ = ["halves"]  # a fixture

ROWS = (Row(name="curl", over="/v1/runs"),)


class Curl:
    """A request under way; what curl writes is read as it comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""

    async def until(self, text: str) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(30):
            while text not in self.said:
                line = await self.process.stdout.readline()
                assert line, self.said
                self.said += line.decode()
        return self.said


@contextlib.asynccontextmanager
async def curl(*words: str) -> AsyncIterator[Curl]:
    program = shutil.which("curl") or pytest.skip("curl is not installed")
    process = await asyncio.create_subprocess_exec(program, "-sSN", *words, stdout=asyncio.subprocess.PIPE)
    try:
        yield Curl(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


def asking(edge: str, question: str, **more: str) -> tuple[str, ...]:
    body = json.dumps({"question": question} | more)
    return ("-i", f"{edge}/v1/runs", "-H", "Content-Type: application/json", "-d", body)


def events_of(said: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in said.splitlines() if line.startswith("data: ")]


def ids_of(said: str) -> list[int]:
    return [int(line[4:]) for line in said.splitlines() if line.startswith("id: ")]


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["type"] == "token")


def run_of(said: str) -> str:
    return next(line.split()[1] for line in said.splitlines() if line.lower().startswith("x-run-id:"))


async def test_ask(edge: str) -> None:
    """`--json` asks for JSON, too: the answer comes when it is whole."""
    async with curl("--json", '{"question": "환불은 며칠"}', f"{edge}/v1/runs") as asked:
        answer = json.loads(await asked.until('"answer"'))
    assert answer["answer"] == "환불은 며칠 [1]"


async def test_stream(edge: str, halves: Halves) -> None:
    async with curl(*asking(edge, "halves")) as asked:
        assert text_of(events_of(await asked.until('"one"'))) == "one"
        halves.go_on.set()
        assert text_of(events_of(await asked.until("DONE"))) == WORDS


async def test_cite(edge: str) -> None:
    async with curl(*asking(edge, "환불은 며칠")) as asked:
        references = events_of(await asked.until("DONE"))[-2]
    assert [(item["source_id"], item["title"]) for item in references["items"]] == [("refunds", "환불 규정")]


async def test_cancel(edge: str, halves: Halves) -> None:
    async with curl(*asking(edge, "halves")) as asked:
        run_id = run_of(await asked.until('"one"'))
        async with curl("-X", "POST", f"{edge}/v1/runs/{run_id}/cancel") as cancelling:
            await cancelling.until('"cancelled":true')
        ended = events_of(await asked.until("DONE"))[-2:]
    assert [(event["type"], event.get("code")) for event in ended] == [("error", "cancelled"), ("DONE", None)]


async def test_cancel_by_leaving(edge: str, halves: Halves, runs: Runs) -> None:
    async with curl(*asking(edge, "halves", on_disconnect="cancel")) as asked:
        run_id = run_of(await asked.until('"one"'))

    assert (await ended(runs, run_id)).outcome == "cancelled"


async def test_resume(edge: str, halves: Halves) -> None:
    async with curl(*asking(edge, "halves")) as asked:
        first = await asked.until('"one"')
    halves.go_on.set()
    last = ids_of(first)[-1]
    async with curl("-H", f"Last-Event-ID: {last}", f"{edge}/v1/runs/{run_of(first)}/events") as again:
        rest = await again.until("DONE")
    assert text_of(events_of(first) + events_of(rest)) == WORDS
    assert ids_of(first + rest) == list(range(1, last + len(ids_of(rest)) + 1)), "nothing twice, nothing left out"


async def test_error(edge: str) -> None:
    async with curl(*asking(edge, " ")) as asked:
        said = await asked.until('"detail"')
    assert said.startswith("HTTP/1.1 422 ")
    assert "is empty" in json.loads(said.splitlines()[-1])["detail"]
