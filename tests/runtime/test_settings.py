"""Settings: the file, the environment over it, and unknown names; one process at a time has the device."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from actors.question.profile import PROFILES, profile_of
from bus.wire.errors import Poison, Unavailable
from runtime.processes.device_lock import DeviceLock
from runtime.settings import PREFIX, Settings, SettingsError, child_environ, load, refuse_unknown_variables, variables

ROOT = Path(__file__).parents[3]
OWNER = """
import pathlib, signal, sys
from runtime.processes.device_lock import DeviceLock
lock = DeviceLock(pathlib.Path(sys.argv[1]))
print(lock.try_acquire(), flush=True)
signal.pause()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "device.lock"


def test_one_owner_at_a_time(path):
    first, second = DeviceLock(path), DeviceLock(path)
    assert first.try_acquire()
    assert first.try_acquire()
    assert not second.try_acquire()
    assert second.owner() == str(os.getpid())
    first.release()
    first.release()
    assert second.try_acquire()
    assert not first.held
    second.release()


async def test_standby_takes_over_a_dead_owner(path):
    command = [sys.executable, "-c", OWNER, str(path)]
    owner = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    try:
        assert await owner.stdout.readline() == b"True\n"
        standby, said = DeviceLock(path), asyncio.Queue()
        taking = asyncio.create_task(standby.acquire(said.put_nowait))
        assert await asyncio.wait_for(said.get(), 60) == f"standby: the device is owned by process {owner.pid}"
        assert not taking.done()
        owner.send_signal(signal.SIGKILL)
        await asyncio.wait_for(taking, 60)
        assert standby.held
        standby.release()
    finally:
        await owner.wait()


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be opened"):
        DeviceLock(tmp_path / "file" / "device.lock").try_acquire()


def test_the_environment_goes_above_the_file(tmp_path: Path) -> None:
    file = tmp_path / "g.toml"
    file.write_text('profiles = "mine"\n[edge]\nport = 1000\nhost = "::1"\n[index]\nembed_api_key = "own"\n')
    environ = {"GROUNDWIRE_EDGE_PORT": "2000", "GROUNDWIRE_LOG": "info", "OPENAI_API_KEY": "common"}
    settings = load(environ=environ | {"GROUNDWIRE_CONFIG": str(file)})
    assert (settings.edge.port, settings.edge.host, settings.profiles) == (2000, "::1", "mine")
    assert (settings.log, settings.index.embed_api_key) == ("INFO", "own")


def test_foreign_variables_are_used_as_defaults() -> None:
    environ = {"OPENAI_API_KEY": "common", "XDG_STATE_HOME": "/var", "VERIFIER_NUMERIC_PROMOTE": "1"}
    settings = load(environ=environ)
    assert (settings.index.embed_api_key, settings.state) == ("common", "/var/groundwire")
    assert settings.verifier.numeric_promote
    assert not load(environ={"VERIFIER_NUMERIC_PROMOTE": "0"}).verifier.numeric_promote
    assert load(environ={"GROUNDWIRE_VERIFIER_NUMERIC_PROMOTE": "true"}).verifier.numeric_promote
    assert load(environ={"XDG_STATE_HOME": "/var", "GROUNDWIRE_STATE": "/srv"}).state == "/srv"


@pytest.mark.parametrize(
    ("environ", "file", "words"),
    [
        (
            {"GROUNDWIRE_EDGE_PROT": "1"},
            "",
            "GROUNDWIRE_EDGE_PROT in the environment sets nothing; did you mean 'GROUNDW",
        ),
        ({"GROUNDWIRE_EDGE_API_KEY": "s"}, "", "GROUNDWIRE_EDGE_API_KEY in the environment sets nothing; one of GR"),
        ({"GROUNDWIRE_REGION": "x"}, "", "GROUNDWIRE_REGION in the environment sets nothing$"),
        (
            {"GROUNDWIRE_ANSWERS_TONE": "x"},
            "",
            "TONE in the environment sets nothing; one of GROUNDWIRE_ANSWERS_VOICE$",
        ),
        ({}, "[edge]\nregion = 1", r"edge\.region: unknown key; one of canary_s, host,"),
        (
            {},
            "[inference]\nretries = 1",
            r"inference\.retries: unknown key; one of api_key, base_url, cache_entries",
        ),
        ({"GROUNDWIRE_ANSWERS_VOICE": "loud"}, "", "a setting has a wrong value: Invalid enum value 'loud'"),
        ({"GROUNDWIRE_EDGE_PORT": "many"}, "", "a setting has a wrong value: Expected `int`"),
        (
            {"GROUNDWIRE_EDGE_PUBLIC_URL": "https://a.org/app"},
            "",
            "a setting has a wrong value: Expected `str` matching",
        ),
        ({}, "[edg]\nport = 1", "edg: unknown key; did you mean 'edge'?"),
        ({}, "[edge]\nprot = 1", r"edge\.prot: unknown key; did you mean 'port'?"),
        ({}, "edge = 1", "a setting has a wrong value: Expected `object`"),
        ({}, "=", "cannot be read"),
    ],
)
def test_unknown_setting_is_refused(environ: dict[str, str], file: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text(file)
    with pytest.raises(SettingsError, match=words) as refused:
        load(tmp_path / "g.toml", environ)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [name for name, place in variables().items() if len(place) == 2])
def test_misspelled_setting_is_corrected(name: str) -> None:
    section, _, key = name.removeprefix(PREFIX).partition("_")
    slips = {key[1] + key[0] + key[2:], key[:-1], key + key[-1], key.replace("_", "")} if len(key) > 2 else {key * 2}
    for slip in {f"{PREFIX}{section}_{slip}" for slip in slips} - {*variables()}:
        with pytest.raises(SettingsError, match=f"did you mean '{name}'"):
            refuse_unknown_variables({slip: "1"})


def test_child_gets_only_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_CONFIG", "/nowhere")
    settings = load(environ={"GROUNDWIRE_INDEX_THREADS": "7", "GROUNDWIRE_VERIFIER_NUMERIC_PROMOTE": "1"})
    environ = child_environ(settings)
    assert environ["PATH"] == os.environ["PATH"]
    assert load(environ=environ) == settings != Settings()


def test_profile_folder_reaches_the_processes(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('extends = "library"\nmax_answer_chars = 77\n')
    with pytest.raises(Poison, match="there is no profile 'mine'"):
        profile_of("mine")
    PROFILES.use(str(tmp_path))
    try:
        assert profile_of("mine").max_answer_chars == 77
    finally:
        PROFILES.use("")
    with pytest.raises(Poison):
        profile_of("mine")
