"""Java's class archive: made once, by the first process, and never delaying a search."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from index.build.ingest import bring_in
from index.java import jvm
from index.search import class_archive

SEARCH = """
import sys
from pathlib import Path
from index.search.searcher import Searcher
searcher = Searcher.open(Path(sys.argv[1]))
print(searcher.search("refunds", k=1)[0].source_id)
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archived")
    (folder / "refunds.md").write_text("# Refunds\n\nRefunds are paid within 14 days of the return.\n")
    bring_in(folder / "index", [str(folder / "refunds.md")], only=True)
    return folder / "index"


@pytest.fixture(scope="module")
def cache(index: Path) -> Path:
    """The cache folder of a user after two processes made the archive at once and one was killed."""
    folder = index.parent / "cache"
    (folder / "groundwire" / "making-killed").mkdir(parents=True, mode=0o700)
    (folder / "groundwire" / "making-killed" / "made").touch()
    (folder / "groundwire" / "java-gone.begun").touch()
    os.utime(folder / "groundwire" / "java-gone.begun", (0, 0))
    (folder / "groundwire").chmod(0o700)
    environ = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    command = [sys.executable, "-m", "index.search.class_archive", str(index)]
    both = [subprocess.Popen(command, env=environ) for _ in range(2)]
    assert [each.wait(240) for each in both] == [0, 0]
    return folder / "groundwire"


def found(index: Path, cache: Path, *options: str) -> str:
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache.parent), "_JAVA_OPTIONS": " ".join(options)}
    command = [sys.executable, "-c", SEARCH, str(index)]
    return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout


def test_two_processes_make_one_archive(cache: Path) -> None:
    (archive,) = cache.iterdir()
    assert archive.suffix == ".jsa"
    assert cache.stat().st_mode & 0o077 == 0


def test_search_loads_classes_from_the_archive(index: Path, cache: Path) -> None:
    log = cache.parent / "classes.log"
    assert found(index, cache, f"-Xlog:class+load:file={log}").endswith("refunds.md\n")
    lines = log.read_text().splitlines()
    lucene = [line for line in lines if " org.apache.lucene." in line and "Lambda" not in line]
    assert len(lucene) > 300
    shared = [line for line in lucene if "shared objects file" in line]
    assert len(shared) > 0.95 * len(lucene)


def test_a_damaged_archive_is_passed_over(index: Path, cache: Path, tmp_path: Path) -> None:
    (archive,) = cache.iterdir()
    whole = bytearray(archive.read_bytes())
    middle = len(whole) // 2
    (tmp_path / "groundwire").mkdir()
    (tmp_path / "groundwire" / archive.name).write_bytes(whole[:middle] + bytes(4096) + whole[middle + 4096 :])
    assert found(index, tmp_path / "groundwire").endswith("refunds.md\n")


def test_archive_of_another_process_is_left_alone(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    others = tmp_path / "groundwire" / "making-others"
    others.mkdir(parents=True)
    archive = jvm.archive_of(jvm.found())
    assert archive is not None
    archive.with_suffix(".begun").touch()
    assert class_archive.make(index) is None
    assert {*others.parent.iterdir()} == {others, archive.with_suffix(".begun")}


def test_missing_folder_means_no_archive(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert class_archive.make(index) is None


def test_folder_writable_by_others_is_not_used(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "groundwire").mkdir()
    (tmp_path / "groundwire").chmod(0o777)
    assert class_archive.make(index) is None
    archive = jvm.archive_of(jvm.found())
    assert archive is not None
    assert not archive.exists()
