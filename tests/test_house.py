"""The four tools: format and lint, types, layers. The fourth is pytest itself."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HERE = Path(sys.executable).parent

TOOLS = {
    "ruff check": [HERE / "ruff", "check", "."],
    "ruff format": [HERE / "ruff", "format", "--check", "."],
    "mypy": [HERE / "mypy"],
    "import-linter": [HERE / "lint-imports", "--no-cache"],
}


@pytest.mark.timeout(280)
@pytest.mark.parametrize("name", TOOLS)
def test_tool_is_content(name: str) -> None:
    done = subprocess.run([str(part) for part in TOOLS[name]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
