"""`groundwire index` over a cluster: the same commands."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from runtime.commands.index import index_group
from tests.opensearch.building import place
from tests.opensearch.cluster import Cluster


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


def test_invalid_address_is_one_line(tmp_path: Path) -> None:
    refused = run("build", tmp_path, "--index", "https://me:secret@search.example.org:9200")
    assert refused.exit_code == 2
    assert "index.user" in refused.output
    assert "secret" not in refused.output.splitlines()[-1]
