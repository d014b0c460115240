"""The real clients, each installed separately: a virtual environment or a folder of npm packages, with every version pinned.

`tests/clients/python/NAME.txt` lists the packages of a Python client, `tests/clients/node/NAME/` holds `package.json`,
`package-lock.json` and the scripts of a Node one, `tests/clients/go/NAME/` a program in Go. They are installed once into the user's
cache, under the digest of their pins. Node itself comes as a wheel (`python/node.txt`). A client that cannot be installed
is skipped with a note on a machine without a network, and fails where CI says so (`CI` is set).
"""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.one_at_a_time import APT, CACHE, one_at_a_time

HERE = Path(__file__).parent
CLIENTS = CACHE / "clients"
#: The largest take half a minute on busy cores; a slow disk may take ten times as long.
INSTALL_S = 600
_DONE = "installed"


def python_of(name: str) -> Path:
    """The Python of the environment that holds this client's packages."""
    pins = HERE / "python" / f"{name}.txt"
    folder = _folder(f"python-{name}", pins.read_bytes())
    python = folder / "bin" / "python"
    _once(
        folder,
        [_uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
        [
            _uv(),
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--compile-bytecode",
            "--python",
            str(python),
            "-r",
            str(pins),
        ],
        cwd=CLIENTS,  # outside the project, which has other pins
    )
    return python


def node_in(name: str) -> tuple[Path, Path]:
    """Node, and the folder that holds this client's packages and its scripts."""
    bin_folder = python_of("node").parent
    source = HERE / "node" / name
    pinned = source / "package-lock.json"
    folder = _folder(f"node-{name}", pinned.read_bytes())
    npm = [str(bin_folder / "npm"), "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    _once(folder, npm, cwd=folder, path=bin_folder, files=(source / "package.json", pinned))
    for script in (*source.glob("*.mjs"), HERE / "node" / "steps.mjs"):
        temporary = folder / f"{script.name}.{os.getpid()}"
        shutil.copy(script, temporary)
        temporary.replace(folder / script.name)
    return bin_folder / "node", folder


def go_program(name: str) -> Path:
    """The program of this folder, built. Skips where the machine has no Go."""
    go, source = shutil.which("go"), HERE / "go" / name
    if go is None:
        pytest.skip("Go is not installed")
    files = sorted(each for each in source.iterdir() if each.suffix in (".go", ".mod", ".sum"))
    folder = _folder(f"go-{name}", b"".join(each.read_bytes() for each in files))
    _once(folder, [go, "build", "-o", "program", "."], cwd=folder, files=files)
    return folder / "program"


def debian_program(package: str, name: str) -> Path:
    """A program of the machine's, or out of a package of Debian, unpacked into the cache. Skips where it cannot be had."""
    found, folder = shutil.which(name), CLIENTS / f"debian-{package}"
    if found is None and not (folder / _DONE).exists():
        if not (shutil.which("apt-get") and os.geteuid() == 0):
            pytest.skip(f"{name} is not installed; in Debian it is in the package {package}")
        folder.mkdir(parents=True, exist_ok=True)
        get = f"apt-get update -q && apt-get download -q {package} && dpkg-deb -x {package}_*.deb ."
        with one_at_a_time(APT):
            _once(folder, ["sh", "-c", get], cwd=folder)
    return Path(found) if found else folder / "usr" / "bin" / name


async def output_of(
    *command: str | Path, stdin: str = "", timeout_s: float = 60.0, folder: Path | None = None, **env: str
) -> str:
    """What a command prints, run in this folder. Raises AssertionError with all of it when the command fails."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
        cwd=folder,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), timeout_s)
    except TimeoutError:
        process.kill()
        out, err = await process.communicate()
        raise AssertionError(f"{command[1:]} did not end: {out.decode()}\n{err.decode()}") from None
    assert process.returncode == 0, f"{command[1:]}: {out.decode()}\n{err.decode()}"
    return out.decode()


def _folder(name: str, pinned: bytes) -> Path:
    return CLIENTS / f"{name}-{hashlib.sha256(pinned).hexdigest()[:12]}"


def _uv() -> str:
    return os.environ.get("UV") or shutil.which("uv") or "uv"


def _once(
    folder: Path, *commands: list[str], cwd: Path | None = None, path: Path | None = None, files: Sequence[Path] = ()
) -> None:
    """Run the commands unless they have been; two test processes wait for one another."""
    CLIENTS.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(f"clients/{folder.name}"):
        if (folder / _DONE).exists():
            return
        for each in files:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(each, folder)
        env = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"} if path else dict(os.environ)
        for command in commands:
            if said := _failed(command, cwd, env):
                if os.environ.get("CI"):
                    pytest.fail(f"{folder.name} could not be installed: {said}")
                pytest.skip(f"{folder.name} could not be installed: {said}")
        (folder / _DONE).touch()


def _failed(command: list[str], cwd: Path | None, env: dict[str, str]) -> str:
    """Run it; why that failed, empty if it did not."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {INSTALL_S} s"
    return ((done.stderr or done.stdout).strip()[-400:] or f"status {done.returncode}") if done.returncode else ""
