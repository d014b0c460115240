"""An index that follows its folders: each change is soon in a snapshot, reported in a line, and none is lost."""

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from index.build.watching import keep_up
from index.errors import IndexProblem
from index.java import jvm
from index.search.searcher import Searcher
from index.snapshot import snapshot
from tests.index.brought_in import bring_in, entries
from tests.index.test_sources import write

#: A change is reported within a second or two on an idle machine, and never by a watch that missed it.
PATIENCE_S = 120.0


class Watch:
    """A watch in a thread, and its unread lines."""

    def __init__(self, index: Path, *paths: Path) -> None:
        self.stop = threading.Event()
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.problem: IndexProblem | None = None
        self._thread = threading.Thread(target=self._run, args=(index, [str(path) for path in paths]))
        self._thread.start()

    def _run(self, index: Path, paths: list[str]) -> None:
        try:
            keep_up(index, paths, self.lines.put, self.stop)
        except IndexProblem as problem:
            self.problem = problem
        finally:
            jvm.detach()

    def says(self, line: str) -> None:
        """Waits for a line that begins so."""
        while not self.lines.get(timeout=PATIENCE_S).startswith(line):
            pass

    def ended(self) -> IndexProblem | None:
        self._thread.join(timeout=PATIENCE_S)
        assert not self._thread.is_alive()
        return self.problem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", "gate.md", "guide/install.md", "guide/remove.md")


@contextmanager
def watching(index: Path, *paths: Path) -> Iterator[Watch]:
    watch = Watch(index, *paths)
    try:
        watch.says("watching")
        yield watch
    finally:
        watch.stop.set()
        watch.ended()


def test_changes_are_served_and_reported_soon(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    bring_in(index, folder)
    with closing(Searcher.open(index)) as searcher:
        _change_files(index, folder, searcher)


def _change_files(index: Path, folder: Path, searcher: Searcher) -> None:
    def changes(what: Callable[[], object], line: str) -> None:
        what()
        watch.says(line)
        assert searcher.swap_to()

    with watching(index) as watch:
        changes(lambda: (folder / "gate.md").write_text("The gate opens at nine."), "changed gate.md: 1 passages")
        assert "nine" in searcher.search("when does the gate open")[0].text
        changes(lambda: (folder / "new.md").write_text("The canteen serves soup."), "added new.md: 1 passages")
        changes((folder / "guide/remove.md").unlink, "removed guide/remove.md")
        (folder / "setup").mkdir()
        move = (folder / "guide/install.md").rename
        changes(lambda: move(folder / "setup/install.md"), "moved guide/install.md to setup/install.md: 1 passages")
        (folder / "bad.pdf").write_bytes(b"nothing")
        watch.says("skipped bad.pdf: no readable PDF")
        (folder / "gate.md~").write_text("what an editor leaves")
        (folder / ".gate.md.swp").write_text("what an editor leaves")
        changes(lambda: (folder / ".groundwireignore").write_text("new.md"), "removed new.md")
        assert watch.lines.empty()
    assert watch.problem is None


def test_a_folder_that_vanishes_empties_nothing(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    with watching(index, folder) as watch:
        folder.rename(tmp_path / "elsewhere")
        problem = watch.ended()
        assert "docs is gone" in str(problem)
    assert len(entries(index)) == 3


def test_failed_build_is_reported_and_retried(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    with watching(index, folder) as watch:
        with snapshot.writing(index):
            (folder / "gate.md").write_text("The gate opens at nine.")
            watch.says("not updated: another process is writing")
            before = snapshot.current(index)
        watch.says("changed gate.md")
        assert snapshot.current(index) != before


def test_index_without_a_folder_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(IndexProblem, match="no index at"):
        keep_up(tmp_path / "index", [], print, threading.Event())


def test_changed_access_rule_is_obeyed_soon(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    (folder / ".groundwireignore").write_text("*.toml\n")
    with watching(index, folder) as watch, closing(Searcher.open(index)) as searcher:
        (folder / "access.toml").write_text("[groups]\n")
        watch.says("not updated: ")
        (folder / "access.toml").write_text('[groups]\n"guide/" = "staff"\n')
        watch.says("changed guide/install.md")
        assert searcher.swap_to()
        assert {hit.source_id for hit in searcher.search("The gate opens at six", groups=())} == {"gate.md"}
