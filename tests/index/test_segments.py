"""Segments of passages from one snapshot to the next: nothing is lost, little is written, and few files stay."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.errors import IndexProblem
from index.model import Document, indexed_text
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
    grams, phrases = PassageStore(tmp_path / "all").rarities_among(some)
    assert 2 * sum(read) <= firsts[-1]
    assert np.array_equal(grams, PassageStore(alone).rarity)
    assert np.array_equal(phrases, PassageStore(alone).phrase_rarity)


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
        _ = PassageStore(tmp_path).rarity
