"""The command `groundwire` in a process of its own, with its state in a folder of the test."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GROUNDWIRE = (sys.executable, "-m", "runtime")


def environ_of(state: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "GROUNDWIRE_STATE": str(state), "COLUMNS": "200", **more}


def groundwire(state: Path, *arguments: object, **environ: str) -> subprocess.CompletedProcess[str]:
    """A command that has ended."""
    return subprocess.run(
        [*GROUNDWIRE, *map(str, arguments)],
        cwd=ROOT,
        env=environ_of(state, **environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


async def begun(state: Path, *arguments: object, **options: Any) -> asyncio.subprocess.Process:
    """A command that has begun; `options` of the process, in place of those here."""
    pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    chosen = {"cwd": ROOT, "env": environ_of(state), **pipes, **options}
    return await asyncio.create_subprocess_exec(*GROUNDWIRE, *map(str, arguments), **chosen)
