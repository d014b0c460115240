"""The Model Context Protocol's own conformance suite against /mcp, at both versions.

Every scenario of the suite is in one of the tables here. A scenario in PASSED must pass; a scenario in NEEDS_FIXTURE must fail, for
the given reason; a new scenario fails the test until it is in a table.
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
        checks="`/mcp`, at both versions of the protocol",
    ),
)

VERSIONS = ("2025-11-25", "2026-07-28")

#: Scenarios that pass at every version they are for.
PASSED = {
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
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

_TOOL = "needs a tool of the suite's own"
_INPUT = "needs a tool of the suite's own that asks the client back"
#: Scenarios of what is not offered, and scenarios that need something of the suite's own.
NEEDS_FIXTURE = {
    "completion-complete": "completions are not offered",
    "elicitation-sep1034-defaults": _INPUT,
    "elicitation-sep1330-enums": _INPUT,
    "http-custom-header-server-validation": "needs a tool with x-mcp-header",
    "input-required-result-basic-elicitation": _INPUT,
    "input-required-result-basic-list-roots": _INPUT,
    "input-required-result-basic-sampling": _INPUT,
    "input-required-result-capability-check": _INPUT,
    "input-required-result-multi-round": _INPUT,
    "input-required-result-multiple-input-requests": _INPUT,
    "input-required-result-non-tool-request": "needs a prompt of the suite's own that asks the client back",
    "input-required-result-request-state": _INPUT,
    "input-required-result-result-type": _INPUT,
    "input-required-result-tampered-state": _INPUT,
    "json-schema-2020-12": _TOOL,
    "logging-set-level": "log levels are not offered",
    "prompts-get-embedded-resource": "needs a prompt of the suite's own",
    "prompts-get-simple": "needs a prompt of the suite's own",
    "prompts-get-with-args": "needs a prompt of the suite's own",
    "prompts-get-with-image": "needs a prompt of the suite's own",
    "resources-read-binary": "needs a resource of the suite's own",
    "resources-read-text": "needs a resource of the suite's own",
    "resources-subscribe": "subscriptions are not offered",
    "resources-templates-read": "needs a resource of the suite's own",
    "resources-unsubscribe": "subscriptions are not offered",
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
#: Checks inside passing scenarios that the suite calls untestable.
UNTESTABLE = {
    "sep-2575-http-server-no-independent-requests-on-stream": _INPUT,
    "sep-2575-missing-capability-http-400": _INPUT,
    "sep-2575-server-no-log-without-loglevel": _TOOL,
    "sep-2575-server-rejects-undeclared-capability": _INPUT,
}
#: Scenarios of extensions of the protocol, which are not offered.
EXTENSIONS = re.compile(r"tasks-.*|sep-2640-skills-.*")


async def command() -> tuple[Path, Path]:
    node, folder = await asyncio.to_thread(node_in, "mcp-conformance")
    return node, folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


async def test_every_scenario_is_listed() -> None:
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
    assert "dns-rebinding-protection" in found


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
