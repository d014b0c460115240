"""A client in a separate process that follows a test line by line, so that the test can act between two steps."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any


class Client:
    """Reads one JSON object a line, `{"do": …}`, and answers each with one line: `{"ok": …}` or `{"failed": …}`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def do(self, name: str, **fields: object) -> Any:
        """What the step gave. Raises AssertionError when it failed, or did not end in time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": name, **fields}).encode() + b"\n")
        async with asyncio.timeout(60.0):
            line = await self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            raise AssertionError(f"the client died of {name}: {(await self._process.stderr.read()).decode()}")
        answer = json.loads(line)
        assert "ok" in answer, f"{name}: {answer.get('failed')}"
        return answer["ok"]


@contextlib.asynccontextmanager
async def client(*command: str | Path) -> AsyncIterator[Client]:
    """The process, ended with the block."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdin=pipe, stdout=pipe, stderr=pipe, limit=16 * 1024 * 1024
    )
    try:
        yield Client(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()
