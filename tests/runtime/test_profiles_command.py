"""`groundwire profiles`: its output and exit codes."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prompts.profiles import load, names
from runtime.commands.profiles import profiles_group, to_toml


def run(*arguments: str) -> Result:
    return CliRunner().invoke(profiles_group, arguments)


def test_list_has_a_row_for_each() -> None:
    result = run("list")
    assert result.exit_code == 0
    rows = result.stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == list(names())
    assert "400 characters with [n]" in result.stdout


@pytest.mark.parametrize("name", names())
def test_show_output_reads_back_unchanged(name: str, tmp_path: Path) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    assert tomllib.loads(result.stdout)["default_language"] == load(name).default_language
    (tmp_path / f"{name}.toml").write_text(result.stdout, encoding="utf-8")
    assert load(name, tmp_path) == load(name)
    assert result.stdout == to_toml(load(name))


def test_unknown_name_suggests_the_nearest() -> None:
    result = run("show", "tutr")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean 'tutor'?" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_check_prints_one_line_a_problem(tmp_path: Path) -> None:
    assert run("check").exit_code == 0
    (tmp_path / "mine.toml").write_text('extends = "general"\nrelase = "draft"\nverfy = true\n', encoding="utf-8")
    result = run("check", str(tmp_path / "mine.toml"), "tutor")
    assert (result.exit_code, result.stdout) == (2, "tutor: good\n")
    assert result.stderr.splitlines() == [
        f"{tmp_path}/mine.toml: relase: unknown key; did you mean 'release'?",
        f"{tmp_path}/mine.toml: verfy: unknown key; did you mean 'verify'?",
    ]
    assert run("check", "--folder", str(tmp_path)).exit_code == 2
    assert run("list", "--folder", str(tmp_path)).exit_code == 2
