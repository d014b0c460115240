"""/v1/responses against the Open Responses standard: its published document, and a suite of tests made of it."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from tests.clients.installed import HERE, output_of, python_of
from tests.clients.table import Checker
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import KINDS

CHECKERS = (
    Checker(
        name="Open Responses",
        package="openresponses-types",
        pins="python/openresponses.txt",
        checks="every event and answer of `/v1/responses`, compared with the published document; the suite of `llm-comply`",
    ),
)

#: Tests of the suite for features that are refused by name here, or not served: functions, pictures, compaction.
NOT_DONE = {"tool-calling", "image-input", "compact-response", "compact-missing-model"}


@pytest.fixture(autouse=True)
def kinds(pipeline: Pipeline) -> None:
    pipeline.scripts |= KINDS


async def sent(http: aiohttp.ClientSession, asked: str, **fields: object) -> list[str]:
    """The events of a response of a kind, each as JSON, and the response as it is read again."""
    body = {"model": "general", "input": asked, "stream": True, "metadata": {"a": "b"}, "background": True} | fields
    async with http.post("/v1/responses", json=body) as response:
        assert response.ok, await response.text()
        name = f"resp_{response.headers['X-Run-Id']}"
        lines = []
        async for line in response.content:
            if line.startswith(b"data: {"):
                lines.append(line.decode().removeprefix("data: ").strip())
            if asked == "hang" and b"output_text.delta" in line:
                async with http.post(f"/v1/responses/{name}/cancel") as cancelled:
                    lines.append(await cancelled.text())
    async with http.get(f"/v1/responses/{name}") as response:
        return [*lines, await response.text()]


async def test_every_answer_fits_the_published_document(http: aiohttp.ClientSession) -> None:
    kinds = ("환불은 며칠", "cite", "cut", "refuse", "near", "withdraw", "fail", "hang")
    lines = [line for kind in kinds for line in await sent(http, kind)]
    lines += await sent(
        http,
        "cite",
        instructions="Be brief.",
        max_output_tokens=16,
        temperature=0,
        truncation="disabled",
        tool_choice="none",
    )
    statuses = {value["status"] for line in lines if "status" in (value := json.loads(line))}
    assert statuses == {"completed", "incomplete", "failed", "cancelled"}
    script = HERE / "python" / "open_responses.py"
    said = await output_of(python_of("openresponses"), script, stdin="\n".join(lines))
    assert json.loads(said) == []


async def test_what_does_not_fit_is_found(http: aiohttp.ClientSession) -> None:
    lines = [line.replace('"truncation":"auto"', '"truncation":"later"') for line in await sent(http, "cite")]
    script = HERE / "python" / "open_responses.py"
    said = json.loads(await output_of(python_of("openresponses"), script, stdin="\n".join(lines)))
    assert any("truncation" in problem for problem in said)


async def test_the_suite_passes(edge: str) -> None:
    python = python_of("openresponses")
    process = await asyncio.create_subprocess_exec(
        python, "-m", "llm_comply.cli", "--base-url", f"{edge}/v1", "--api-key", "none", "--model", "general", "--json",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    results: list[dict[str, Any]] = json.loads(out)["results"]
    failed = {each["id"] for each in results if each["status"] == "failed"}
    passed = {each["id"] for each in results if each["status"] == "passed"}
    assert failed <= NOT_DONE, results
    assert passed >= {"basic-response", "streaming-response", "streaming-usage", "system-prompt", "multi-turn"}
