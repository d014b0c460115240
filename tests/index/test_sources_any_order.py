"""For any changes of files, built and added in any order: each file is one document with its own text."""

import contextlib
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.check import verify
from index.documents.files import Finder
from index.errors import IndexProblem
from index.snapshot import snapshot
from index.snapshot.catalogue import read_catalogue
from index.snapshot.roots import plan
from index.snapshot.store import PassageStore
from tests.index.brought_in import bring_in, follow

FILES = ("a.txt", "b.txt", "one/a.txt", "one/b.txt", "one/deep/a.txt", "two/a.txt")
TEXTS = ("The gate opens at six.", "The pump hangs from the ceiling.", "Helmets are worn in the foundry.")
PATHS = (".", "one", "two", "one/deep", "**/a.txt", "one/*.txt", "a.txt", "two/a.txt", "one/b.txt")
WRITE = st.tuples(st.just("write"), st.sampled_from(FILES), st.sampled_from(TEXTS))
MOVE = st.tuples(st.just("move"), st.sampled_from(FILES), st.sampled_from(FILES))
DELETE = st.tuples(st.just("delete"), st.sampled_from(FILES), st.just(""))
EVENTS = st.lists(st.one_of(WRITE, MOVE, MOVE, DELETE), max_size=4)
BUILDS = st.tuples(
    st.sampled_from(("build", "add", "follow")), st.lists(st.sampled_from(PATHS), min_size=1, max_size=2)
)


def happen(top: Path, what: str, name: str, other: str) -> None:
    path = top / name
    if what == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(other)
    elif path.exists():
        if what == "delete":
            path.unlink()
        else:
            (top / other).parent.mkdir(parents=True, exist_ok=True)
            path.rename(top / other)


def documents(index: Path) -> dict[str, tuple[str, str]]:
    """The id of each document, with its file and its text."""
    if not snapshot.exists(index):
        return {}
    handle = snapshot.hold(index)
    try:
        store = PassageStore(handle.directory / "passages")
        found = {}
        for entry in read_catalogue(handle.directory).values():
            passage = store.get(entry.first)
            assert passage.source_id == entry.source_id
            found[entry.source_id] = (entry.origin, passage.text)
        return found
    finally:
        handle.close()


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(EVENTS, BUILDS), min_size=2, max_size=5))
def test_each_file_is_one_document(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[list[tuple[str, str, str]], tuple[str, list[str]]]]
) -> None:
    top = tmp_path_factory.mktemp("any") / "top"
    index = top.parent / "index"
    for name in FILES[:4]:
        happen(top, "write", name, TEXTS[len(name) % 3])
    for events, (how, paths) in steps:
        for event in events:
            happen(top, *event)
        before = documents(index)
        now = index / "snapshots" / snapshot.current(index) if before else index
        roots = snapshot.read_manifest(now).roots if before else ()
        try:
            if how == "follow":
                follow(index)
                expected = dict(before)
            else:
                planned = plan([str(top / path) for path in paths], roots, anew=how == "build")
                bring_in(index, *(top / path for path in paths), only=how == "build")
                expected = {} if how == "build" else dict(before)
                expected |= {found.source_id: (found.origin, "") for found in Finder(planned).find()}
        except IndexProblem:
            assert documents(index) == before
            continue
        after = documents(index)
        looked_at = {origin for origin, _ in after.values()}
        assert len(looked_at) == len(after)
        assert {name for name, (origin, _) in expected.items() if Path(origin).exists()} <= set(after)
        if how == "build":
            assert set(after) == set(expected)
        else:
            known = {origin: name for name, (origin, _) in before.items()}
            assert all(known.get(origin, name) == name for name, (origin, _) in after.items())
        for name, (origin, text) in after.items():
            if Path(origin).exists() and (how != "add" or name not in before):
                assert text == Path(origin).read_text()
    with contextlib.suppress(IndexProblem):
        assert verify(index) == []
    shutil.rmtree(top.parent)
