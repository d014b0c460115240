"""Documents put, changed, removed, moved and regrouped, and what a search sees of it, when."""

from contextlib import closing
from itertools import pairwise

import pytest

from index.build.build import Build
from index.build.opening import Index
from index.documents.report import Skip, Skipped
from index.errors import IndexProblem
from index.model import Document, Metadata
from index.search.searcher import Searcher
from index.snapshot.prepared import prepare
from tests.index.conftest import DOCUMENTS, update
from tests.index.contract.conftest import ids


def page(name: str, text: str, *groups: str, url: str = "") -> Document:
    return Document(source_id=name, title="", text=text, language="en", url=url, metadata=Metadata(groups=groups))


def test_index_without_a_snapshot_is_not_opened(index: Index) -> None:
    assert not index.exists()
    assert index.names() == []
    with pytest.raises(IndexProblem, match="index build"):
        Searcher.open(index)


def test_empty_build_is_a_snapshot_without_hits(index: Index) -> None:
    manifest = update(index)
    assert (manifest.documents, manifest.passages) == (0, 0)
    with closing(Searcher.open(index)) as searcher:
        assert searcher.search("anything") == []
        assert searcher.sources("", 5) == ([], 0, manifest.snapshot)
    update(index, [page("a", "an apple fell")])
    with closing(Searcher.open(index)) as searcher:
        assert ids(searcher, "apple") == ["a"]


def test_changes_are_in_the_next_snapshot(index: Index) -> None:
    first = update(index, [*DOCUMENTS, page("guide", "The kettle is red.")])
    assert (first.parent, first.documents) == ("", len(DOCUMENTS) + 1)
    second = update(index, [page("guide", "The kettle is violet."), page("new", "A new trumpet.")], remove=["ship"])
    assert (second.parent, second.documents) == (first.snapshot, len(DOCUMENTS) + 1)
    with closing(Searcher.open(index)) as searcher:
        assert searcher.snapshot == second.snapshot == index.newest()
        assert "violet" in searcher.search("which colour is the kettle")[0].text
        assert all("red." not in hit.text for hit in searcher.search("red kettle", k=20))
        assert ids(searcher, "trumpet")[0] == "new"
        assert "ship" not in ids(searcher, "배송은 평일")
        assert searcher.languages() == {name: n for name, n in second.languages.items() if n}


def test_document_added_and_removed_at_once_never_appears(index: Index) -> None:
    update(index, [page("a", "An apple fell.")])
    with index.writing(), closing(Build(index.sink())) as build:
        build.put(prepare(page("brief", "A brief comet.")))
        build.put(prepare(page("brief", "A brief comet, again.")))
        assert build.remove("brief")
        build.put(prepare(page("stays", "A lasting comet.")))
        assert build.publish().documents == 2
    with closing(Searcher.open(index)) as searcher:
        assert "brief" not in ids(searcher, "comet")


def test_moved_documents_keep_passages_and_old_ids(index: Index) -> None:
    url = "https://example.org/"
    update(index, [page("a", "An apple fell."), page("b", "A bell rang."), page("c", "A cat slept.", url=f"{url}old")])
    update(index, [page("c", "A cat slept.", url=f"{url}new")])
    update(index, move={"a": "b", "b": "a", "c": "deep/c"})
    with closing(Searcher.open(index)) as searcher:
        assert [ids(searcher, word)[0] for word in ("apple", "bell", "cat")] == ["b", "a", "deep/c"]
        assert searcher.search("cat")[0].url == f"{url}new"
        moved = searcher.source("c")
        assert moved is not None
        assert (moved.source_id, moved.formerly) == ("deep/c", ("c",))
        found = searcher.stretch("deep/c", 0, 100)
        assert found is not None
        assert found[1].text == "A cat slept."
        assert [entry.source_id for entry in searcher.sources("", 9)[0]] == ["a", "b", "deep/c"]


def test_changed_groups_need_no_new_reading(index: Index) -> None:
    update(index, [page("a", "An apple fell."), page("b", "A bell rang.", "staff")])
    before = update(index, access={"a": ("board",)})
    with closing(Searcher.open(index)) as searcher:
        assert (ids(searcher, "apple", ()), ids(searcher, "apple", ("board",))) == ([], ["a"])
        assert [entry.source_id for entry in searcher.entries(("staff",))] == ["b"]
        update(index, access={"a": None, "b": ("board",)})
        assert searcher.swap_to()
        assert searcher.access != before.access
        assert ids(searcher, "apple", ()) == ["a"]
        assert [entry.source_id for entry in searcher.entries(("staff", "board"))] == ["a"]
        assert len(searcher.entries()) == 2


def test_search_keeps_its_snapshot_until_reload(index: Index) -> None:
    first = update(index, [page("a", "An apple fell."), page("b", "A bell rang.")])
    with closing(Searcher.open(index)) as searcher, closing(Searcher.open(index, first.snapshot)) as pinned:
        assert not searcher.swap_to()
        second = update(index, [page("c", "A crimson apple.")], remove=["a"])
        assert index.names() == [first.snapshot, second.snapshot]
        for one in (searcher, pinned):
            assert (one.snapshot, ids(one, "apple")) == (first.snapshot, ["a"])
        assert searcher.swap_to()
        assert (searcher.snapshot, ids(searcher, "apple")) == (second.snapshot, ["c"])
        assert ids(pinned, "apple") == ["a"]
        searcher.swap_to(first.snapshot)
        assert ids(searcher, "apple") == ["a"]


def test_unpublished_build_is_invisible(index: Index) -> None:
    first = update(index, [page("a", "An apple fell."), page("b", "A bell rang.")])
    with closing(Searcher.open(index)) as searcher:
        with index.writing(), closing(Build(index.sink())) as build:
            build.remove("a")
            build.put(prepare(page("c", "A crimson apple.")))
            assert (index.newest(), ids(searcher, "apple")) == (first.snapshot, ["a"])
        assert index.names() == [first.snapshot]
        assert not searcher.swap_to()
        assert ids(searcher, "apple") == ["a"]
    assert update(index, [page("d", "A dove.")]).documents == 3


def test_only_one_writes(index: Index) -> None:
    with index.writing(), pytest.raises(IndexProblem, match="another"), index.writing():
        pass


def test_unchanged_index_stays(index: Index) -> None:
    first = update(index, DOCUMENTS)
    assert update(index, DOCUMENTS).snapshot == first.snapshot
    assert index.names() == [first.snapshot]


def test_numbers_are_never_used_twice(index: Index) -> None:
    update(index, [page("a", "An apple fell."), page("b", "A bell rang.")])
    seen: list[set[int]] = []
    for text in ("An apple rose.", "An apple stayed."):
        manifest = update(index, [page("a", text)])
        with closing(Searcher.open(index)) as searcher:
            entries = searcher.entries()
        seen.append({entry.first for entry in entries})
        assert max(seen[-1]) < manifest.next_number
    assert all(max(before) < max(after) for before, after in pairwise(seen))


def test_unread_files_are_recorded_with_the_index(index: Index) -> None:
    update(index, [page("a", "An apple fell.")])
    assert index.skipped() == Skipped()
    kept = Skipped(read_at="2026-01-01T00:00:00+00:00", count=1, files=[Skip("bad.pdf", "is damaged", failed=True)])
    index.keep_skipped(kept)
    assert index.skipped() == kept
