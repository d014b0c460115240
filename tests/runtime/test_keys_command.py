"""`groundwire keys`: made, listed and revoked; and `up` on another address, which needs one."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runtime.cli import groundwire
from runtime.commands.keys import keys_group
from runtime.keys import KeyFile


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDWIRE_STATE", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(keys_group, arguments)


def test_key_is_made_listed_and_revoked(state: Path) -> None:
    made = run(
        "add", "ann", "--scope", "ask,read", "--group", "sales", "--group", "영업", "--expires", "90d", "--rate", "5/s"
    )
    assert made.exit_code == 0, made.output
    token = made.stdout.strip()
    assert "not shown again" in made.stderr
    key = KeyFile(state / "keys.json").read().find(token, 0)
    assert key is not None
    assert (key.scopes, key.groups, key.rate) == (("ask", "read"), ("sales", "영업"), "5/s")
    listed = run("list").output
    assert "ann" in listed
    assert token[:12] in listed
    assert token not in listed
    assert run("revoke", "ann").exit_code == 0
    assert "there are no keys" in run("list").stderr


def test_admin_sees_all_documents_without_groups(state: Path) -> None:
    for name, more in (
        ("a", ["--scope", "admin"]),
        ("b", ["--scope", "admin", "--group", "x"]),
        ("c", ["--group", "*"]),
        ("d", []),
    ):
        assert run("add", name, *more).exit_code == 0
    assert [key.groups for key in KeyFile(state / "keys.json").read().keys] == [None, ("x",), None, ()]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "a b"], "is not a valid id"),
        (["add", "canary"], "choose another name"),
        (["add", "a", "--scope", "ask,reed"], "'reed' is no scope; choose of ask, search, read, admin"),
        (["add", "a", "--scope", ","], "--scope names nothing"),
        (["add", "a", "--expires", "soon"], "write it like 90d"),
        (["add", "a", "--expires", "2020-13-01"], "month must be in 1..12"),
        (["add", "a", "--rate", "fast"], "write it like 5/s"),
        (["add", "a", "--group", "x,y"], "without commas"),
        (["revoke", "nobody"], "there is no key 'nobody'"),
    ],
)
def test_error_is_one_line(state: Path, arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.exit_code != 0
    assert says in done.output
    assert "Traceback" not in done.output


def test_public_address_without_a_key_is_refused(state: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "current").write_text("x")
    done = CliRunner().invoke(groundwire, ["up", "--index", str(tmp_path / "index"), "--host", "0.0.0.0"])
    assert done.exit_code == 2
    assert "make one with `groundwire keys add NAME`" in done.output
