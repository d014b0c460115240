"""Snapshots: published whole, swapped without losing a query, kept while read, refused when broken."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from index.build.build import Build
from index.build.local_sink import LocalSink
from index.check import verify
from index.embedders.embedder import EmbedderSpec, Vectors, unit
from index.errors import IndexProblem
from index.java import jvm
from index.model import Document
from index.reading.readings import FILE, Readings
from index.search.searcher import Searcher
from index.sink import SinkOptions
from index.snapshot import snapshot
from index.snapshot.prepared import prepare
from tests.index.brought_in import bring_in
from tests.index.conftest import DOCUMENTS, update


@pytest.fixture
def index(built: Path, tmp_path: Path) -> Path:
    """A copy that the test may change."""
    return Path(shutil.copytree(built, tmp_path / "index"))


def test_open_snapshot_outlives_pruning(index: Path) -> None:
    first = snapshot.current(index)
    reader = Searcher.open(index, first)
    for number in range(4):
        update(index, put=[Document(source_id="n", title="", text=f"Number {number} of the series.")])
    assert first in snapshot.names(index)
    assert reader.search("helmet")[0].source_id == "helmet"
    reader.close()
    snapshot.prune(index)
    assert first not in snapshot.names(index)
    assert len(snapshot.names(index)) == snapshot.KEEP
    with pytest.raises(IndexProblem, match="no snapshot"):
        Searcher.open(index, first)


def test_queries_go_on_while_snapshots_change(index: Path) -> None:
    searcher = Searcher.open(index)
    stop = threading.Event()
    failures: list[str] = []
    answered = [0]

    def ask() -> None:
        while not stop.is_set():
            known = searcher.snapshot
            hits = searcher.search("Number of the series, helmet", k=5)
            if not hits or (hits[0].snapshot < known):
                failures.append(f"{known}: {hits}")
            answered[0] += 1
        jvm.detach()

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(3):
        manifest = update(index, put=[Document(source_id="n", title="", text=f"Number {number} of the series.")])
        assert searcher.swap_to()
        texts = {hit.text for hit in searcher.search("Number of the series")}
        assert f"Number {number} of the series." in texts
        assert not any(f"Number {old} of the series." in texts for old in range(number))
        assert searcher.snapshot == manifest.snapshot
    stop.set()
    for thread in threads:
        thread.join()
    searcher.close()
    assert failures == []
    assert answered[0] > 50


def file_of(index: Path, name: str) -> Path:
    """A file of the current snapshot."""
    return index / "snapshots" / snapshot.current(index) / name


def made_newer(index: Path) -> None:
    path = file_of(index, "manifest.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (shutil.rmtree, "no index at"),
        (lambda index: (index / "current").unlink(), "no finished index"),
        (made_newer, "made by a newer version"),
        (lambda index: file_of(index, "manifest.json").write_text("{"), "cannot be read"),
        (lambda index: file_of(index, "vectors/segments.msgpack").write_bytes(b"short"), "has 5 bytes"),
        (lambda index: file_of(index, "documents/000000.msgpack").unlink(), "is missing"),
        (lambda index: (index / "current").write_text("../../etc"), "does not name a snapshot"),
        (lambda index: (index / "current").write_text("s000099-00000000"), "no snapshot s000099"),
    ],
)
def test_broken_index_is_refused_with_the_remedy(index: Path, harm: Callable[[Path], object], says: str) -> None:
    harm(index)
    with pytest.raises(IndexProblem, match=says) as caught:
        Searcher.open(index)
    assert "\n" not in str(caught.value)
    assert "build" in str(caught.value) or "name one" in str(caught.value)
    (index.parent / "note.txt").write_text("The gate opens at six.")
    assert bring_in(index, index.parent / "note.txt").documents == 1
    assert verify(index) == []


def test_verify_names_a_changed_file(index: Path) -> None:
    path = next((index / "snapshots" / snapshot.current(index) / "passages").glob("*.bin"))
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))
    assert verify(index) == [f"passages/{path.name} has changed"]


class Letters:
    """A tiny embedder: how often each letter comes."""

    def __init__(self, version: str) -> None:
        self.spec = EmbedderSpec("letters", version, 26, 0.2)

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        return unit(
            np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float32)
        )


def test_other_embedder_is_named_and_not_mixed(tmp_path: Path) -> None:
    letters = Letters("1")
    index = tmp_path / "index"
    with snapshot.writing(index):
        build = Build(LocalSink(index, SinkOptions(letters)))
        build.put(prepare(Document(source_id="a", title="", text="zzz zebra puzzle")))
        build.put(prepare(Document(source_id="b", title="", text="mummy hummus")))
        manifest = build.publish()
    assert manifest.embedder == letters.spec
    searcher = Searcher.open(index, embedder=letters)
    assert searcher.search("zz", bm25_k=0)[0].source_id == "a"
    searcher.close()
    with pytest.raises(IndexProblem, match="configure it"):
        Searcher.open(index)
    newer = Letters("2")
    with pytest.raises(IndexProblem, match=r"letters 1 .* not with letters 2"):
        Searcher.open(index, embedder=newer)
    with pytest.raises(IndexProblem, match="not with pieces"), snapshot.writing(index):
        Build(LocalSink(index))
    with snapshot.writing(index):
        build = Build(LocalSink(index, SinkOptions(letters)))
        build.put(prepare(Document(source_id="c", title="", text="banana")))
        build.publish()
    with snapshot.writing(index):
        build = Build(LocalSink(index, SinkOptions(foreign_vectors=True)))
        assert build.remove("a")
        assert build.publish().documents == 2
    searcher = Searcher.open(index, embedder=letters)
    assert searcher.search("naan", bm25_k=0)[0].source_id == "c"
    assert all(hit.source_id != "a" for hit in searcher.search("zebra", threshold=-1))
    searcher.close()
    assert verify(index) == []


@pytest.mark.parametrize(
    "places",
    [
        ("Downloads/old.zip/gate.md", "Downloads/gate.md", "Work/gate copy.md", "Work/gate.md", "Work/gate (1).md"),
        ("Archive/gate-2027.md", "Work/gate-2021.md", "Work/gate-draft-2028.md", "Work/gate.md", "Archive/gate.md"),
    ],
)
def test_copies_count_once_and_the_plain_file_is_named(tmp_path: Path, places: tuple[str, ...]) -> None:
    rule = "Visitors register at the gate and carry the badge that they are given, until they leave the site again."
    others = [f"The gate number {at} has a badge of its own for visitors." for at in range(8)]
    update(
        tmp_path / "index",
        [
            *(Document(source_id=place, title="Gate", text=rule) for place in places),
            *(Document(source_id=f"n{at}", title="Other", text=text) for at, text in enumerate(others)),
        ],
    )
    searcher = Searcher.open(tmp_path / "index")
    hits = searcher.search("the badge of visitors at the gate", k=10, bm25_k=4, vector_k=1)
    searcher.close()
    (hit,) = (hit for hit in hits if "gate" in hit.source_id)
    assert (hit.source_id, {*hit.also_in}) == ("Work/gate.md", {*places} - {"Work/gate.md"})
    assert len(hits) >= 4


def test_removed_documents_leave_the_disk_after_half(index: Path) -> None:
    def held() -> bytes:
        folder = index / "snapshots" / snapshot.current(index)
        return b"".join(path.read_bytes() for path in sorted((folder / "passages").glob("*.bin")))

    some, others = DOCUMENTS[:4], DOCUMENTS[4:7]
    update(index, remove=[document.source_id for document in some])
    assert some[0].text.encode() in held()
    update(index, put=[Document(source_id="new", title="Parking", text="The garage closes at midnight.")])
    update(index, remove=[document.source_id for document in others])
    assert not [one for one in (*some, *others) if one.text.encode() in held()]
    assert verify(index) == []
    opened = Searcher.open(index)
    assert opened.search("garage midnight")[0].source_id == "new"
    assert opened.search("المادة 15")[0].source_id == "exam-ar"
    opened.close()
    update(
        index,
        remove=[document.source_id for document in (*DOCUMENTS[7:], Document(source_id="new", title="", text=""))],
    )
    assert held() == b""
    assert verify(index) == []
    opened = Searcher.open(index)
    assert opened.search("garage midnight") == []
    opened.close()


def test_new_index_is_private_and_existing_stays_shared(tmp_path: Path) -> None:
    shared, new = tmp_path / "shared", tmp_path / "deep" / "new"
    shared.mkdir()
    shared.chmod(0o755)
    before = os.umask(0o022)
    try:
        for index in (shared, new):
            with snapshot.writing(index), Readings(index) as readings:
                assert readings.taken_over == 0
                assert (index / FILE).stat().st_mode & 0o777 == 0o600
            assert (index / "building").stat().st_mode & 0o777 == 0o700
            assert (index / "snapshots").stat().st_mode & 0o777 == 0o755
    finally:
        os.umask(before)
    assert [index.stat().st_mode & 0o777 for index in (shared, new, new.parent)] == [0o755, 0o700, 0o755]
