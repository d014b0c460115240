"""docs/clients.md says of each client what its tests say."""

import asyncio
from pathlib import Path

import pytest

from tests.clients.table import PAGE, make, version


async def test_the_tables_are_current(tmp_path: Path) -> None:
    made = tmp_path / "clients.md"
    done = await asyncio.to_thread(make, made, "--collect-only")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert made.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), (
        "write them anew: uv run python -m tests.clients.table"
    )


def test_what_is_not_pinned_has_no_version() -> None:
    with pytest.raises(KeyError, match="left-pad is not pinned in node/ws"):
        version("left-pad", "python/websocket.txt")
