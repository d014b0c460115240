"""Where an index may be over OpenSearch a URL is taken, and elsewhere refused: it never becomes a folder of that name."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from runtime.cli import groundwire
from runtime.commands.options import over_index
from runtime.processes import nats_users
from runtime.processes.state_folder import state_folder
from runtime.settings import Settings

URL = "http://127.0.0.1:9/handbook"
QUESTIONS = "questions.jsonl"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_STATE", str(tmp_path / "state"))
    (tmp_path / QUESTIONS).write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "watch", ".", "--index", URL),
        ("restore", ".", "--index", URL),
        ("eval", "answers", "--questions", QUESTIONS, "--passages", QUESTIONS, "--index", URL),
        ("eval", "retrieval", QUESTIONS, "--index", URL),
        ("eval", "rewriting", "--file", QUESTIONS, "--index", URL),
    ],
    ids=" ".join,
)
def test_url_instead_of_a_folder_is_refused(here: Path, arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(groundwire, arguments)
    assert done.exit_code == 2, done.output
    assert f"{URL} is no folder, which this command needs" in " ".join(done.output.split())
    assert sorted(path.name for path in here.iterdir()) == [QUESTIONS]


def test_stack_over_a_url_reports_its_bus(here: Path) -> None:
    folder = state_folder(over_index(Settings(state=str(here / "state")), URL))
    folder.mkdir(parents=True)
    made = nats_users.make(folder, "nats://127.0.0.1:4567")
    done = CliRunner().invoke(groundwire, ["nats", "url", "--index", URL])
    assert done.output.strip() == made.url_of("integration")
    watched = CliRunner().invoke(groundwire, ["top", "--once", "--index", URL])
    assert f"no stack runs over {URL}" in " ".join(watched.output.split())
