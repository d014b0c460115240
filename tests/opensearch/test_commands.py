"""`groundwire index` and questions over a cluster: the same as in a folder."""

import json
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from index.documents.report import Skipped
from index.errors import IndexProblem
from index.model import Document
from index.opensearch.states import OpenSearchSnapshots
from index.search.searcher import Searcher
from runtime.commands.index import index_group
from runtime.processes.kept_index import KeptIndex
from runtime.processes.served import Served
from tests.commands import groundwire
from tests.opensearch import installed
from tests.opensearch.building import place, update
from tests.opensearch.cluster import NODES, Cluster


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(index_group, [str(each) for each in arguments])


def test_index_commands_take_a_url(cluster: Cluster, tmp_path: Path) -> None:
    url = f"{cluster.url}/{place(cluster, 'by-command').name}"
    (tmp_path / "one.md").write_text("# One\n\nThe tide clock stands in the harbour office.\n")
    (tmp_path / "two.md").write_text("# Two\n\nThe barometer hangs beside the door of the chart room.\n")
    built = run("build", tmp_path, "--index", url)
    assert built.exit_code == 0, built.output
    (tmp_path / "three.md").write_text("# Three\n\nThe sextant lies in its box.\n")
    (tmp_path / "access.toml").write_text('[groups]\n"three.md" = ["officers"]\n')
    added = run("add", tmp_path / "three.md", "--index", url)
    assert added.exit_code == 0, added.output
    removed = run("remove", "one.md", "--index", url)
    assert removed.exit_code == 0, removed.output
    listed = run("list", "--index", url)
    assert [line.split("\t")[0] for line in listed.output.splitlines()] == ["three.md", "two.md"]
    told = json.loads(run("stats", "--index", url, "--json").output)
    assert (told["documents"], told["groups"]) == (2, {"(everybody)": 1, "officers": 1})
    assert told["size_bytes"] > 0
    verified = run("verify", "--index", url)
    assert verified.exit_code == 0, verified.output
    assert f"{told['snapshot']} has no faults" in verified.output


def test_cluster_has_three_nodes_with_vectors(cluster: Cluster) -> None:
    with urllib.request.urlopen(f"{cluster.urls[0]}/_nodes/plugins", timeout=30) as reply:
        nodes = json.load(reply)["nodes"].values()
    assert len(nodes) == NODES
    assert {node["version"] for node in nodes} == {installed.VERSION}
    assert all("opensearch-knn" in {plugin["name"] for plugin in node["plugins"]} for node in nodes)


CLOCK = Document(source_id="clock.md", title="Clock", text="The tide clock stands in the harbour office.")
LAMP = Document(source_id="lamp.md", title="Lamp", text="The lamp hangs above the chart table.")


def test_a_person_asks_it(cluster: Cluster, tmp_path: Path) -> None:
    address = place(cluster, "asked")
    update(address, [CLOCK, LAMP])
    url = f"{cluster.url}/{address.name}"
    question = "Where does the tide clock stand?"
    done = groundwire(tmp_path, "ask", question, "--index", url, GROUNDWIRE_BUS_DEADLINE_S="90")
    assert done.returncode == 0, done.stderr
    assert "harbour office" in done.stdout
    assert "clock.md" in done.stdout


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
