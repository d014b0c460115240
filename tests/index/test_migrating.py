"""An index of format 4 answers after `migrate` as its documents built again do; an impossible migration is refused."""

import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from index.check import verify
from index.embedders.embedder import CallableEmbedder, EmbedderSpec
from index.errors import IndexProblem
from index.migrating import migrate
from index.model import FORMAT, Hit
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.catalogue import FOLDER, read_catalogue
from index.snapshot.store import PassageStore
from runtime.cli import groundwire
from tests.index.conftest import DOCUMENTS

QUESTIONS = ("reading room opens", "helmet foundry ISO-9001", *(document.title for document in DOCUMENTS[:6]))


@pytest.fixture
def old(built: Path, tmp_path: Path) -> Path:
    """The shared index as format 4 kept it, without what `migrate` makes again."""
    index = Path(shutil.copytree(built, tmp_path / "index"))
    directory = index / "snapshots" / snapshot.current(index)
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    entries = list(read_catalogue(directory).values())
    store = PassageStore(directory / "passages")
    passages = [store.get(n) for one in entries for n in range(one.first, one.first + one.count)]
    passages.sort(key=lambda one: one.number)
    shutil.rmtree(directory / FOLDER)
    shutil.rmtree(directory / "passages")
    (directory / "passages").mkdir()
    (directory / "documents.msgpack").write_bytes(msgspec.msgpack.encode(entries))
    records = [msgspec.msgpack.encode(one) for one in passages]
    segment = directory / "passages" / f"{passages[0].number:012d}.bin"
    segment.write_bytes(b"".join(records))
    numbers, starts = [one.number for one in passages], np.cumsum([0, *map(len, records)])
    np.savez(segment.with_suffix(".npz"), numbers=np.array(numbers), starts=starts)
    kept = [path for path in directory.rglob("*") if path.is_file() and path.name not in ("manifest.json", "readers")]
    files = {
        path.relative_to(directory).as_posix(): (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in kept
    }
    (directory / "manifest.json").write_text(json.dumps({**manifest, "format": 4, "files": files}), encoding="utf-8")
    return index


def found(index: Path) -> list[list[Hit]]:
    searcher = Searcher.open(index)
    try:
        hits = [searcher.search(question) for question in QUESTIONS]
        return [[msgspec.structs.replace(hit, snapshot="") for hit in each] for each in hits]
    finally:
        searcher.close()


def test_format_4_is_migrated_with_equal_results(old: Path, built: Path) -> None:
    with pytest.raises(IndexProblem, match="groundwire index migrate"):
        Searcher.open(old)
    told = CliRunner().invoke(groundwire, ["index", "migrate", "--index", str(old)])
    assert told.exit_code == 0, told.output
    assert verify(old) == []
    handle = snapshot.hold(old)
    assert handle.manifest.format == FORMAT
    handle.close()
    assert found(old) == found(built)
    assert migrate(old) is None


def test_impossible_migration_is_refused_and_harmless(old: Path) -> None:
    before = snapshot.current(old)
    directory = old / "snapshots" / before
    other = CallableEmbedder(EmbedderSpec("other", "m", 8), lambda texts: np.ones((len(texts), 8), np.float32))
    with pytest.raises(IndexProblem, match="lsa"):
        migrate(old, other)
    raw = (directory / "manifest.json").read_text(encoding="utf-8")
    (directory / "manifest.json").write_text(raw.replace('"format": 4', '"format": 3'), encoding="utf-8")
    with pytest.raises(IndexProblem, match=r"format 3 .* too old to be brought forward"):
        migrate(old)
    (directory / "manifest.json").write_text(raw, encoding="utf-8")
    catalogue = directory / "documents.msgpack"
    catalogue.write_bytes(catalogue.read_bytes()[:-1] + b"\x00")
    with pytest.raises(IndexProblem, match=r"documents\.msgpack has changed"):
        migrate(old)
    assert snapshot.current(old) == before
    assert snapshot.names(old) == [before]
