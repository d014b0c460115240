"""A build that is killed at any moment leaves the index intact, at the old or the new snapshot."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from index import snapshot
from index.check import verify
from index.searcher import Searcher
from tests.index.conftest import DOCUMENTS, update

_BUILD = "from runtime.commands.index import index_group; index_group()"


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
            pass
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


def test_a_killed_update_leaves_the_index_whole(tmp_path: Path) -> None:
    assert len(kills(tmp_path, 1, seed=1)) == 2


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_killed_updates(tmp_path: Path) -> None:
    history = kills(tmp_path, 20, seed=2)
    assert len(set(history)) > 2  # some came through, and
    assert len(set(history)) < 21  # some did not
