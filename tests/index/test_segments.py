"""The catalogue and the segments of passages through many snapshots: nothing is lost, little is written, few files stay."""

import os
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.errors import IndexProblem
from index.model import Document, Entry, indexed_text
from index.snapshot.catalogue import FOLDER, Catalogue, read_catalogue, write_catalogue
from index.snapshot.prepared import hashes
from index.snapshot.segment import Segment, write_segment
from index.snapshot.store import PassageStore, complete, open_segments, read_counts
from index.text.passages import cut

WORDS = ("gate", "harbour", "lantern", "orchard", "ferry", "meadow", "étang", "문서", "用户")


def add(folder: Path, first: int, dice: random.Random) -> int:
    """A document of one to three passages, numbered from `first`, in a segment of its own; how many passages."""
    folder.mkdir(exist_ok=True)
    text = "\n\n".join(" ".join(dice.choices(WORDS, k=180)) + "." for _ in range(dice.randint(1, 3)))
    language = dice.choice(("en", "fr", "und"))
    found = cut(Document(source_id=f"d{first}", title="T", text=text), first, language)
    return write_segment(folder / f"{first:012d}.bin", found, hashes(found))


def test_a_store_stays_whole_through_updates(tmp_path: Path) -> None:
    dice = random.Random(7)
    live: list[tuple[int, int]] = []
    number, written = 0, 0
    expected: dict[int, object] = {}
    parent: Path | None = None
    for place in range(40):
        target = tmp_path / str(place)
        count = add(target, number, dice)
        alone = PassageStore(target)
        for each in range(number, number + count):
            expected[each] = _all_of(alone, each)
        live.append((number, count))
        number += count
        if place % 4 == 3:
            live.remove(gone := dice.choice(live[:-1]))
            for each in range(gone[0], gone[0] + gone[1]):
                del expected[each]
        complete(target, parent, sorted(live), os.link)
        for codes in target.glob("*.codes"):
            codes.unlink()
        written += sum(path.stat().st_size for path in target.glob("*.bin") if path.stat().st_nlink == 1)
        parent = target
        store = PassageStore(target)
        assert len(store.segments) <= 8
        assert {each: _all_of(store, each) for each in expected} == expected
        held = np.concatenate([segment.numbers for segment in store.segments])
        assert (np.diff(held) > 0).all()
        assert np.array_equal(read_counts(target), sum(segment.counts() for segment in store.segments))
    whole = sum(segment.path.stat().st_size for segment in store.segments)
    assert written < 8 * whole
    numbers = np.array(sorted(expected))
    assert sum(store.languages(numbers).values()) == len(numbers)
    in_french = [each for each in expected if store.get(each).language == "fr"]
    assert store.within(numbers, "fr").tolist() == sorted(in_french)
    assert store.within(numbers[:5], "xx").tolist() == []


def _all_of(store: PassageStore, number: int) -> object:
    held = store.held(number)
    assert held.passage == store.get(number)
    arrays = (held.grams, held.phrases, held.lead, held.sketch)
    return held.passage, [one.tolist() for one in arrays], held.begins


@pytest.mark.parametrize(("begin", "end"), [(2, 4), (0, 1), (0, 5), (1, 6), (0, 6)])
def test_rarity_of_a_subset_matches_its_own_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: int, end: int
) -> None:
    """And no more sets are read than of half of the passages: those seen, or those not seen."""
    dice = random.Random(3)
    firsts = [0]
    for _ in range(6):
        firsts.append(firsts[-1] + add(tmp_path / "all", firsts[-1], dice))
    some = np.arange(firsts[begin], firsts[end])
    alone = tmp_path / "some"
    alone.mkdir()
    for first in firsts[begin:end]:
        os.link(tmp_path / "all" / f"{first:012d}.bin", alone / f"{first:012d}.bin")
    for folder in (alone, tmp_path / "all"):
        complete(folder, None, [], os.link)
    read: list[int] = []
    really = Segment.counts

    def counts(segment: Segment, places: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        read.append(len(segment) if places is None else len(places))
        return really(segment, places)

    monkeypatch.setattr(Segment, "counts", counts)
    found = PassageStore(tmp_path / "all").rarities_among(some)
    assert 2 * sum(read) <= firsts[-1]
    assert np.array_equal(found, PassageStore(alone).rarities)


@pytest.mark.parametrize("length", [0, 7, 30, -1])
def test_truncated_segment_is_named(tmp_path: Path, length: int) -> None:
    add(tmp_path, 0, random.Random(1))
    path = tmp_path / "000000000000.bin"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(IndexProblem, match="000000000000"):
        Segment(path)
    with pytest.raises(IndexProblem, match="build the index again"):
        open_segments(tmp_path)


def test_texts_match_and_missing_is_named(tmp_path: Path) -> None:
    dice = random.Random(5)
    firsts = [0]
    for _ in range(4):
        firsts.append(firsts[-1] + add(tmp_path, firsts[-1], dice))
    store = PassageStore(tmp_path)
    some = np.array([0, firsts[2], firsts[-1] - 1])
    assert list(store.texts(some)) == [indexed_text(store.get(number)) for number in some.tolist()]
    with pytest.raises(IndexProblem, match="missing"):
        list(store.texts(np.array([0, firsts[-1]])))


def test_counts_that_are_gone_are_named(tmp_path: Path) -> None:
    add(tmp_path, 0, random.Random(1))
    with pytest.raises(IndexProblem, match=r"counts\.npy"):
        _ = PassageStore(tmp_path).rarities


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
