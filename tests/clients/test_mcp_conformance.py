"""The Model Context Protocol's own conformance suite against /mcp, at each version that it knows how to test.

Every scenario of the suite is in one of the tables here. A passing scenario must continue to pass. A failing one is listed with the
reason, and fails the test once it passes. A new scenario fails the test until it is listed.
"""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.clients.installed import node_in, output_of
from tests.clients.mcp_sources import sources
from tests.clients.table import Checker

__all__ = ["sources"]  # a fixture

CHECKERS = (
    Checker(
        name="MCP conformance",
        package="@modelcontextprotocol/conformance",
        pins="node/mcp-conformance",
        checks="`/mcp`, at three versions of the protocol",
    ),
)

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")

#: Which pass, at every version that they are for.
PASSED = {
    "caching",
    "completion-complete",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "server-stateless",
    "tools-list",
}

_TOOL = "asks a tool of its own of the server"
_INPUT = "asks a tool of its own of the server, which asks the client back; we ask a client nothing"
#: Which need something that is there for the suite alone, and what.
NEEDS_FIXTURE = {
    "elicitation-sep1034-defaults": _INPUT,
    "elicitation-sep1330-enums": _INPUT,
    "http-custom-header-server-validation": "asks a tool with x-mcp-header of the server; a question is nothing for a header",
    "input-required-result-basic-elicitation": _INPUT,
    "input-required-result-basic-list-roots": _INPUT,
    "input-required-result-basic-sampling": _INPUT,
    "input-required-result-capability-check": _INPUT,
    "input-required-result-multi-round": _INPUT,
    "input-required-result-multiple-input-requests": _INPUT,
    "input-required-result-non-tool-request": "asks a prompt of its own of the server, which asks the client back",
    "input-required-result-request-state": _INPUT,
    "input-required-result-result-type": _INPUT,
    "input-required-result-tampered-state": _INPUT,
    "json-schema-2020-12": _TOOL,
    "prompts-get-embedded-resource": "asks a prompt of its own of the server",
    "prompts-get-simple": "asks a prompt of its own of the server",
    "prompts-get-with-args": "asks a prompt of its own of the server",
    "prompts-get-with-image": "asks a prompt of its own of the server",
    "resources-read-binary": "asks a resource of its own of the server",
    "resources-read-text": "asks a resource of its own of the server",
    "resources-subscribe": "subscribes to a resource of its own; sources change with the index, and are not announced",
    "resources-templates-read": "asks a resource of its own of the server",
    "resources-unsubscribe": "subscribes to a resource of its own; sources change with the index, and are not announced",
    "tools-call-audio": _TOOL,
    "tools-call-elicitation": _INPUT,
    "tools-call-embedded-resource": _TOOL,
    "tools-call-error": _TOOL,
    "tools-call-image": _TOOL,
    "tools-call-mixed-content": _TOOL,
    "tools-call-sampling": _INPUT,
    "tools-call-simple-text": _TOOL,
    "tools-call-with-logging": _TOOL,
    "tools-call-with-progress": _TOOL,
}
#: Checks inside scenarios that pass otherwise; the suite calls them untestable.
UNTESTABLE = {
    "sep-2575-http-server-no-independent-requests-on-stream": _INPUT,
    "sep-2575-missing-capability-http-400": _INPUT,
    "sep-2575-server-no-log-without-loglevel": _TOOL,
    "sep-2575-server-rejects-undeclared-capability": _INPUT,
}
#: Of extensions of the protocol, which we do not offer: tasks, as a run is cancelled and taken up again as it is; skills.
EXTENSIONS = re.compile(r"tasks-.*|sep-2640-skills-.*")


async def command() -> tuple[Path, Path]:
    node, folder = await asyncio.to_thread(node_in, "mcp-conformance")
    return node, folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


async def test_every_conformance_scenario_is_in_a_table() -> None:
    listed = await output_of(*await command(), "list", "--server")
    scenarios = set(re.findall(r"^ +- ([\w-]+)", listed, re.MULTILINE))
    assert {each for each in scenarios if not EXTENSIONS.fullmatch(each)} == PASSED | NEEDS_FIXTURE.keys()


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize("version", VERSIONS)
async def test_conformance(edge: str, tmp_path: Path, version: str) -> None:
    found = await scenarios(f"{edge}/mcp", version, tmp_path)
    failed = {
        name: {check["id"]: check.get("errorMessage") for check in checks if _failed(check)}
        for name, checks in found.items()
    }
    assert {name: why for name, why in failed.items() if why and name not in NEEDS_FIXTURE} == {}
    assert {name for name, why in failed.items() if not why} <= PASSED
    assert "tools-list" in found
    assert "dns-rebinding-protection" in found or version == "2025-06-18"


async def scenarios(url: str, version: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The checks of each scenario for this version."""
    process = await asyncio.create_subprocess_exec(
        *(*map(str, await command()), "server", "--url", url, "--suite", "all", "--spec-version", version),
        *("--output-dir", str(folder)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()  # it exits with 1 when any scenario fails
    found = written(folder)
    assert found, said.decode()
    return found


def written(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", each.parent.name): json.loads(each.read_text())
        for each in folder.glob("*/checks.json")
    }


def _failed(check: dict[str, Any]) -> bool:
    return check["status"] == "FAILURE" and check["id"] not in UNTESTABLE
