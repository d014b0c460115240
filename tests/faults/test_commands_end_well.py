"""Commands that are ended from outside, or cannot print or write, leave nothing behind and say one line."""

import asyncio
import signal
from pathlib import Path

import pytest

from index.build.ingest import bring_in
from tests.chaos.house import left_behind
from tests.commands import begun, environ_of
from tests.polling import until


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ended")
    (folder / "docs").mkdir()
    (folder / "docs" / "gate.md").write_text("# 정문\n\n정문은 아침 여섯 시에 열립니다.\n")
    bring_in(folder / "index", [str(folder / "docs")], only=True)
    return folder / "index"


async def start(index: Path, state: Path, **environ: str) -> asyncio.subprocess.Process:
    question = "정문은 언제 열립니까?"
    return await begun(
        state, "ask", "--index", index, question, env=environ_of(state, **environ), start_new_session=True
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
async def test_ended_ask_leaves_no_process(index: Path, tmp_path: Path, number: signal.Signals) -> None:
    ask = await start(index, tmp_path)
    await until(lambda: len(left_behind(tmp_path)) >= 3, what="the stack")  # itself, and nats-server with its watcher
    ask.send_signal(number)
    _, said = await ask.communicate()
    if number != signal.SIGKILL:
        assert (ask.returncode, said.decode().strip().splitlines()[-1]) == (1, "stopped")
    await until(lambda: not left_behind(tmp_path), what="the end of the stack")


async def test_non_utf8_output_gets_escapes_and_a_line(index: Path, tmp_path: Path) -> None:
    ask = await start(index, tmp_path, PYTHONIOENCODING="ascii")
    told, said = await ask.communicate()
    assert ask.returncode == 0, said.decode()
    assert "정문은 아침 여섯 시에 열립니다" in told.decode().encode().decode("unicode_escape")
    assert said.decode().splitlines()[0].startswith("the output is ascii")
    assert b"Traceback" not in said


@pytest.mark.parametrize("state", ["file", "file/below", "/proc/1/none"])
async def test_unusable_state_folder_is_one_line(index: Path, tmp_path: Path, state: str) -> None:
    (tmp_path / "file").touch()
    ask = await start(index, tmp_path / state)
    told, said = await ask.communicate()
    assert (ask.returncode, told) == (1, b"")
    (line,) = [line for line in said.decode().splitlines() if line.startswith("error: the state folder")]
    assert line.endswith("set another as GROUNDWIRE_STATE")
    assert b"Traceback" not in said
