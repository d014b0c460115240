"""Every command works over an index in a folder of any name, with the state in another one."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from runtime.processes import nats_users
from runtime.processes.ports import free_port

NAME = "색인 \"a\" 'b' \\x41 $HOME # 😀 近视"
QUESTION = "환불은 며칠 안에 지급되나요?"

EXAMPLE = Path(__file__).parents[1] / "examples" / "ask_over_nats.py"

type Run = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of such a name, with documents in it."""
    made = tmp_path_factory.mktemp("any") / NAME
    (made / "문서").mkdir(parents=True)
    text = "# 환불\n\n환불은 반품을 받은 날부터 14일 안에 지급됩니다.\n"
    (made / "문서" / "환불 규정.md").write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def command(place: Path) -> list[str]:
    return [sys.executable, "-m", "runtime"]


@pytest.fixture(scope="module")
def environ(place: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(place / "상태"), "PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.fixture(scope="module")
def run(place: Path, command: list[str], environ: dict[str, str]) -> Run:
    """Runs one command in that folder; its output."""

    def one(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], cwd=place, env=environ, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return one


def test_every_command_works_in_an_awkward_folder(
    place: Path, command: list[str], environ: dict[str, str], run: Run
) -> None:
    index = str(place / NAME)
    run("index", "build", "문서", "--index", index)
    assert "14일" in run("index", "show", "문서/환불 규정.md")
    run("index", "verify", "--index", index)
    assert "14일" in run("search", QUESTION, "--index", NAME)
    port = free_port()
    with subprocess.Popen(
        [*command, "up", "--index", index, "--port", str(port)],
        cwd=place,
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    ) as up:
        assert up.stderr is not None
        try:
            assert any("ready: " in line for line in up.stderr)
            assert "14일" in run("ask", "--index", NAME, QUESTION)
            assert QUESTION[:6] in run("trace", "list", "--index", index)
            url = run("nats", "url", "--index", index).strip()
            example = [sys.executable, str(EXAMPLE), url, QUESTION]
            assert b"14\xec\x9d\xbc" in subprocess.run(example, capture_output=True, check=True).stdout
            _no_password_is_shown(place, psutil.Process(up.pid))
        finally:
            up.terminate()
            up.communicate(timeout=30)


def _no_password_is_shown(place: Path, up: psutil.Process) -> None:
    """Not in an argument of a process, and not in a log."""
    (kept,) = (place / "상태").rglob(nats_users.FILE)
    made = nats_users.read(kept.parent)
    assert made is not None
    told = [" ".join(process.cmdline()) for process in up.children(recursive=True)]
    told += [log.read_text(encoding="utf-8", errors="replace") for log in kept.parent.glob("*.log")]
    assert len(told) > 8
    assert not [password for password in made.passwords.values() if password in "".join(told)]
