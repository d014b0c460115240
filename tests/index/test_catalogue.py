"""The catalogue through many updates: it behaves like a plain mapping, and writes little."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.errors import IndexProblem
from index.model import Entry
from index.snapshot.catalogue import FOLDER, Catalogue, read_catalogue, write_catalogue

ids = st.sampled_from(["a", "a/b", "b.md", "é", "문서", "zz", "A", "b"])
steps = st.lists(st.dictionaries(ids, st.integers(0, 3), max_size=4), min_size=1, max_size=8)


def entry(source_id: str, first: int = 0) -> Entry:
    return Entry(source_id, "", "", "", "", "", first, 1, 10)


def written(root: Path, place: int, now: dict[str, Entry], before: dict[str, Entry]) -> Path:
    folder = root / str(place)
    folder.mkdir()
    write_catalogue(folder, now, root / str(place - 1) if place else None, before, os.link)
    return folder


@settings(max_examples=60)
@given(steps)
def test_catalogue_behaves_like_a_mapping(changes: list[dict[str, int]]) -> None:
    """A change of 0 removes the document."""
    with TemporaryDirectory() as scratch:
        before: dict[str, Entry] = {}
        for place, change in enumerate(changes):
            now = {name: one for name, one in before.items() if change.get(name) != 0}
            now |= {name: entry(name, number) for name, number in change.items() if number}
            folder = written(Path(scratch), place, now, before)
            catalogue = Catalogue(folder / FOLDER)
            assert dict(catalogue) == now == read_catalogue(folder)
            assert [*catalogue] == sorted(now) == [one.source_id for one in catalogue.values()]
            assert len(catalogue) == len(now) == len(catalogue.values())
            assert all((name in catalogue) == (name in now) for name in ("a", "b", "nowhere", ""))
            for name in ("", "a", "b.", "문서"):
                assert [one.source_id for one in catalogue.after(name)] == [each for each in sorted(now) if each > name]
            before = now


def test_update_writes_changes_into_few_files(tmp_path: Path) -> None:
    before = {f"{n:05d}": entry(f"{n:05d}", n) for n in range(2000)}
    whole = sum(path.stat().st_size for path in (written(tmp_path, 0, before, {}) / FOLDER).iterdir())
    fresh = 0
    for place in range(1, 60):
        now = before | {f"new{place}-{n}": entry(f"new{place}-{n}") for n in range(10)}
        del now[f"{place:05d}"]
        files = [*(written(tmp_path, place, now, before) / FOLDER).iterdir()]
        assert len(files) <= 9
        fresh += sum(path.stat().st_size for path in files if path.stat().st_nlink == 1)
        before = now
    assert fresh < 2 * whole  # 59 times as much, were it written whole
    assert read_catalogue(tmp_path / "59") == before


@pytest.mark.parametrize("harm", [b"", b"?", b"document" + bytes(40)])
def test_a_damaged_one_is_named(tmp_path: Path, harm: bytes) -> None:
    folder = written(tmp_path, 0, {"a": entry("a")}, {})
    (folder / FOLDER / "000000.msgpack").write_bytes(harm)
    with pytest.raises(IndexProblem, match="documents cannot be read"):
        Catalogue(folder / FOLDER)
    (folder / FOLDER / "000000.msgpack").unlink()
    with pytest.raises(IndexProblem, match="build the index again"):
        read_catalogue(folder)


def test_undecodable_entry_is_a_damaged_index(tmp_path: Path) -> None:
    folder = written(tmp_path, 0, {"a": entry("a")}, {})
    path = folder / FOLDER / "000000.msgpack"
    path.write_bytes(path.read_bytes().replace(msgspec.msgpack.encode(entry("a"))[:3], b"\xc1\xc1\xc1"))
    with pytest.raises(IndexProblem):
        read_catalogue(folder)
