"""The file of the keys: its content, its permissions, and that writers do not undo each other."""

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bus.wire.subjects import BadId
from runtime.keys import PREFIX, KeyFile, KeysProblem, check_group, duration_s, expiry, rate_of

NOW = 1_800_000_000.0


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "state" / "keys.json")


def test_key_is_printed_once_and_stored_hashed(file: KeyFile) -> None:
    token = file.add("ann", ("ask", "read"), now=NOW, groups=("sales",), expires_at=NOW + 90)
    text = file.path.read_text()
    secret = token.removeprefix(PREFIX).partition("_")[2]
    assert len(secret) == 43
    assert secret not in text
    key = file.read().find(token, NOW)
    assert key is not None
    assert (key.name, key.scopes, key.groups) == ("ann", ("ask", "read"), ("sales",))
    assert key.digest in text


def test_keys_file_is_private_and_leaves_no_rest(file: KeyFile) -> None:
    file.add("ann", ("ask",), now=NOW)
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in file.path.parent.iterdir()}
    assert modes == {"keys.json": 0o600, "keys.json.lock": 0o600}
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


def test_invalid_key_is_not_accepted(file: KeyFile, tmp_path: Path) -> None:
    token = file.add("ann", ("ask",), now=NOW, expires_at=NOW + 90)
    other = KeyFile(tmp_path / "other.json").add("ann", ("ask",), now=NOW)
    keys = file.read()
    wrong = [
        "",
        "ann",
        PREFIX,
        token[:-1],
        token + "A",
        token.upper(),
        f" {token}",
        other,
        token.replace("_", "-"),
        "a" * 9999,
    ]
    assert [keys.find(each, NOW) for each in wrong] == [None] * len(wrong)
    assert keys.find(token, NOW + 89) is not None
    assert keys.find(token, NOW + 90) is None


def test_revoked_key_frees_its_name(file: KeyFile) -> None:
    first = file.add("ann", ("ask",), now=NOW)
    with pytest.raises(KeysProblem, match="there is a key 'ann' already"):
        file.add("ann", ("admin",), now=NOW)
    secret = file.read().secret
    file.revoke("ann")
    with pytest.raises(KeysProblem, match="there is no key 'ann'"):
        file.revoke("ann")
    second = file.add("ann", ("ask",), now=NOW)
    assert file.read().find(first, NOW) is None
    assert file.read().find(second, NOW) is not None
    assert file.read().secret == secret  # ids of runs stay what they were


def test_writers_do_not_undo_each_other(file: KeyFile) -> None:
    add = "KeyFile(Path(sys.argv[1])).add(f'{sys.argv[2]}{n}', ('ask',), now=0)"
    code = f"import sys\nfrom pathlib import Path\nfrom runtime.keys import KeyFile\nfor n in range(10): {add}"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(file.path), name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert {key.name for key in file.read().keys} == {f"{name}{n}" for name in "abc" for n in range(10)}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"secret": "00"}', '{"secret": "zz"}', '{"keys": []}', "\x00", "[" * 90_000]
)
def test_broken_file_is_one_line(file: KeyFile, text: str) -> None:
    file.read()
    file.path.write_text(text)
    for act in (file.read, lambda: file.revoke("ann")):
        with pytest.raises(KeysProblem, match=r"repair the file, or name another as access\.keys") as raised:
            act()
        assert "\n" not in str(raised.value)


def test_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(KeysProblem, match="cannot be used"):
        KeyFile(tmp_path / "state" / "keys.json").read()


def test_durations_days_and_rates() -> None:
    assert [duration_s(each) for each in ("90d", "12h", "30m", "45s")] == [7_776_000, 43_200, 1800, 45]
    assert expiry("90d", NOW) == NOW + 7_776_000
    assert expiry("2100-01-31", NOW) == 4_105_123_200
    assert [rate_of(each) for each in ("5/s", "100/m", "7/h")] == [(5, 1), (100, 60), (7, 3600)]
    for wrong in ("", "0d", "90", "d", "-1d", "1w", "9999999d", "٣d"):
        with pytest.raises(ValueError, match="duration"):
            duration_s(wrong)
    for wrong in ("", "5", "0/s", "5/w", "-1/s", "5/ s"):
        with pytest.raises(ValueError, match="rate"):
            rate_of(wrong)
    with pytest.raises(ValueError, match="is over"):
        expiry("2020-01-01", time.time())
    with pytest.raises(ValueError, match="too far"):
        expiry("9999-12-31", time.time())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": "the other's"}, "same id"),
        ({"name": "ann"}, "same name"),
        ({"digest": "é" * 64}, "digest"),
        ({"rate": "often"}, "no rate"),
        ({"concurrency": -1}, "limits"),
        ({"expires_at": 10**18}, "limits"),
    ],
)
def test_ambiguous_file_is_refused(tmp_path: Path, changed: dict[str, object], why: str) -> None:
    file = KeyFile(tmp_path / "keys.json")
    for name in ("ann", "eve"):
        file.add(name, ("ask",), now=time.time())
    raw = json.loads(file.path.read_bytes())
    raw["keys"][1] |= changed if "id" not in changed else {"id": raw["keys"][0]["id"]}
    file.path.write_text(json.dumps(raw))
    with pytest.raises(KeysProblem, match=why):
        file.read()


def test_pipe_instead_of_the_file_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "keys.json")
    with pytest.raises(KeysProblem, match="no file"):
        KeyFile(tmp_path / "keys.json").read()


@pytest.mark.parametrize("name", ["", " ", "a,b", "a\x1b[0m", "a\u202eb"])
def test_invalid_group_name_is_refused(name: str) -> None:
    with pytest.raises(BadId):
        check_group(name)
