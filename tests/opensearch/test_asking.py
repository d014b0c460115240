"""Questions over an index on OpenSearch: searched, asked and served as one in a folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from index.documents.report import Skipped
from index.errors import IndexProblem
from index.model import Document
from index.opensearch.states import OpenSearchSnapshots
from index.search.searcher import Searcher
from runtime.processes.kept_index import KeptIndex
from runtime.processes.served import Served
from tests.opensearch.building import place, update
from tests.opensearch.cluster import Cluster

CLOCK = Document(source_id="clock.md", title="Clock", text="The tide clock stands in the harbour office.")
LAMP = Document(source_id="lamp.md", title="Lamp", text="The lamp hangs above the chart table.")


def groundwire(folder: Path, *arguments: str) -> str:
    """What the command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "runtime", *arguments],
        env={**os.environ, "GROUNDWIRE_STATE": str(folder), "GROUNDWIRE_BUS_DEADLINE_S": "90"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_person_searches_and_asks_it(cluster: Cluster, tmp_path: Path) -> None:
    address = place(cluster, "asked")
    update(address, [CLOCK, LAMP])
    url = f"{cluster.url}/{address.name}"
    assert "tide clock" in groundwire(tmp_path, "search", "Where does the tide clock stand?", "--index", url)
    answer = groundwire(tmp_path, "ask", "Where does the tide clock stand?", "--index", url)
    assert "harbour office" in answer
    assert "clock.md" in answer


def test_new_snapshots_serve_new_questions_only(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenSearchSnapshots, "look_s", 0.0)
    address = place(cluster, "served")
    snapshots = OpenSearchSnapshots(address)
    served = KeptIndex(snapshots, lambda name: Searcher.open(snapshots, name, earlier=2))
    try:
        assert not served.look()
        with pytest.raises(IndexProblem, match="no index at"):
            served.searcher()
        first = update(address, [CLOCK])
        assert served.look()
        assert (served.snapshot, served.problem) == (first.snapshot, "")
        update(address, [LAMP])
        assert served.look()
        assert len(served.searcher().entries()) == 2
        with served.searcher().pinned(first.snapshot) as earlier:
            assert [entry.source_id for entry in earlier.entries()] == ["clock.md"]
        told = Served(served.searcher, Skipped, served.snapshot).say()
        assert (told.snapshot, told.documents, sum(told.formats.values())) == (served.snapshot, 2, 2)
    finally:
        served.close()
        snapshots.close()
