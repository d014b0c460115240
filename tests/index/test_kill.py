"""A build that is killed at any moment leaves the index intact, at the old or the new snapshot."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from index.check import verify
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.catalogue import read_catalogue
from index.snapshot.store import PassageStore
from tests.index.brought_in import bring_in
from tests.index.conftest import DOCUMENTS, update

_BUILD = "from runtime.commands.index import index_group; index_group()"
#: From one look at the folder to the next: looking all the time would take a core from the build.
_LOOK_S = 0.001


def kills(tmp_path: Path, count: int, seed: int) -> list[str]:
    """Let one update through and kill `count` more, each at a random moment of its work.

    Returns the snapshot that was current after each.
    """
    chance = random.Random(seed)
    index, records = tmp_path / "index", tmp_path / "changes.jsonl"
    update(index, DOCUMENTS)
    history = []
    whole = 0.0
    for number in range(count + 1):
        rows = [
            {"source_id": f"k{n}", "text": f"Version {number} of paragraph {n} says {n * number}."} for n in range(40)
        ]
        records.write_text("".join(json.dumps(row) + "\n" for row in rows))
        before = snapshot.current(index)
        process = subprocess.Popen(
            [sys.executable, "-c", _BUILD, "add", str(records), "--index", str(index)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Aimed at the work and not at the start of Python: the moment counts from when the new snapshot's folder appears.
        while process.poll() is None and not any((index / "building").iterdir()):
            time.sleep(_LOOK_S)
        began = time.monotonic()
        try:
            # The first one is let through, to learn how long the work takes on this machine just now.
            process.wait(chance.uniform(0, 1.5 * whole) if number else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        whole = max(whole, time.monotonic() - began) if number == 0 else whole
        after = snapshot.current(index)
        assert after == before or snapshot.sequence(after) > snapshot.sequence(before)
        assert verify(index) == []
        searcher = Searcher.open(index)
        assert searcher.search("환불 신청")[0].source_id == "refund"
        searcher.close()
        history.append(after)
    assert update(index, remove=["lens"]).snapshot == snapshot.current(index)
    assert [path.name for path in (index / "building").iterdir()] == []
    assert verify(index) == []
    return history


def test_killed_update_leaves_the_index_whole(tmp_path: Path) -> None:
    assert len(kills(tmp_path, 1, seed=1)) == 2


def building(folder: Path, index: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _BUILD, "build", str(folder), "--index", str(index)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def passages_of(index: Path) -> set[tuple[str, int, str, str]]:
    handle = snapshot.hold(index)
    store = PassageStore(handle.directory / "passages")
    entries = read_catalogue(handle.directory).values()
    found = {
        (entry.source_id, one.char_start, one.text, entry.digest)
        for entry in entries
        for one in map(store.get, range(entry.first, entry.first + entry.count))
    }
    handle.close()
    return found


@pytest.mark.timeout(300)
def test_killed_build_continues(tmp_path: Path) -> None:
    folder, index = tmp_path / "docs", tmp_path / "index"
    folder.mkdir()
    for number in range(60):
        lines = [f"Paragraph {line} of note {number} says {number * line}, and then some more." for line in range(30)]
        (folder / f"n{number}.md").write_text("\n\n".join(lines))
    kept = index / "readings"
    with building(folder, index) as process:
        while process.poll() is None and not (kept.exists() and kept.stat().st_size > 100_000):
            time.sleep(_LOOK_S)
        process.kill()
    assert not snapshot.exists(index)
    (folder / "n0.md").write_text("Another text altogether.")
    with kept.open("r+b") as file:  # as if the last of it had not reached the disk
        file.truncate(kept.stat().st_size - 7)
    with building(folder, index) as again:
        _, said = again.communicate()
    assert again.returncode == 0, said
    taken_over = re.search(r"not read again: (\d+) files", said)
    assert taken_over
    assert 3 < int(taken_over[1]) < 60
    assert not kept.exists()
    assert verify(index) == []
    bring_in(tmp_path / "whole", folder)
    assert passages_of(index) == passages_of(tmp_path / "whole")
    assert ("n0.md", "Another text altogether.") in {(source, text) for source, _, text, _ in passages_of(index)}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_killed_updates(tmp_path: Path) -> None:
    history = kills(tmp_path, 20, seed=2)
    assert len(set(history)) > 2  # some came through, and
    assert len(set(history)) < 21  # some did not
