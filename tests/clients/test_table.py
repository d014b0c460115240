"""docs/clients.md agrees with the clients' tests, and Node comes with the suite."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.clients.installed import output_of, python_of
from tests.clients.table import PAGE, made, make, version


async def test_the_tables_are_current(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    with contextlib.suppress(pytest.UsageError):
        if made(request.session.items) == page:
            return
    again = tmp_path / "clients.md"  # as when only some tests were collected here
    done = await asyncio.to_thread(make, again, "--collect-only")
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    assert again.read_text(encoding="utf-8") == page, "write them again: uv run python -m tests.clients.table"


def test_unpinned_package_has_no_version() -> None:
    with pytest.raises(KeyError, match="left-pad is not pinned"):
        version("left-pad", "python/websocket.txt")


async def test_node_comes_as_a_wheel() -> None:
    node = python_of("node").parent / "node"
    assert (await output_of(node, "-p", "6 * 7")).strip() == "42"
