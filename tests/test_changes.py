"""Each change of tests/changes.py works in a copy of the code with no other file edited."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.changes import CHANGES, Change

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("code")
    for name in ("actors", "bus", "prompts", "index", "runtime"):
        shutil.copytree(ROOT / name, folder / name, copy_function=os.link, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_change_needs_only_its_files(copy: Path, tmp_path: Path, change: Change) -> None:
    shutil.copytree(copy, tmp_path, copy_function=os.link, dirs_exist_ok=True)
    if change.copies[0]:
        shutil.copytree(tmp_path / change.copies[1], tmp_path / change.copies[0])
    for path, text in change.adds:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    before = run(tmp_path, change)
    assert change.adds or before != 0, "the check holds without the change"
    for path, old, new in change.edits:
        text = (tmp_path / path).read_text(encoding="utf-8")
        assert old in text, f"{path} no longer has {old!r}"
        (tmp_path / path).unlink()  # a link to the original
        (tmp_path / path).write_text(text.replace(old, new), encoding="utf-8")
    assert run(tmp_path, change) == 0


def run(folder: Path, change: Change) -> int:
    path = os.pathsep.join((str(folder), str(folder / "plugin")))
    environ = os.environ | {"PYTHONPATH": path} | ({change.environ[0]: change.environ[1]} if change.environ[0] else {})
    return subprocess.run([sys.executable, "-c", change.check], cwd=folder, env=environ, check=False).returncode
