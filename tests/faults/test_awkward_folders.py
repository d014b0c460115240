"""Every command works over an index in a folder of any name, with the state in another one."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from runtime.cli import groundwire
from runtime.processes import nats_users
from runtime.processes.ports import free_port
from tests.commands import GROUNDWIRE, ROOT

NAME = "색인 \"a\" 'b' \\x41 $HOME # 😀 近视"
QUESTION = "환불은 며칠 안에 지급되나요?"

EXAMPLE = ROOT / "tests" / "examples" / "ask_over_nats.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a folder of such a name, with documents in it and the state below it."""
    made = tmp_path / NAME
    (made / "문서").mkdir(parents=True)
    text = "# 환불\n\n환불은 반품을 받은 날부터 14일 안에 지급됩니다.\n"
    (made / "문서" / "환불 규정.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(made)
    monkeypatch.setenv("XDG_STATE_HOME", str(made / "상태"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return made


def run(*arguments: str) -> str:
    """The output of one command."""
    done = CliRunner().invoke(groundwire, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_command_works_in_an_awkward_folder(place: Path) -> None:
    index = str(place / NAME)
    run("index", "build", "문서", "--index", index)
    assert "14일" in run("index", "show", "문서/환불 규정.md")
    run("index", "verify", "--index", index)
    assert "14일" in run("search", QUESTION, "--index", NAME)
    up_command = [*GROUNDWIRE, "up", "--index", index, "--port", str(free_port())]
    with subprocess.Popen(up_command, stderr=subprocess.PIPE, text=True) as up:
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
