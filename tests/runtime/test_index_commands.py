"""`groundwire index`: its output, its remembered options, progress without a bar, and where an address may be an index."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from index.snapshot import snapshot
from runtime.cli import groundwire
from runtime.commands.index import index_group
from runtime.commands.options import over_index
from runtime.commands.progress import lines
from runtime.commands.search import search_command
from runtime.processes import nats_users
from runtime.processes.state_folder import state_folder
from runtime.settings import Settings


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(groundwire, ["index", *map(str, arguments)], env={"COLUMNS": "60"})


PAGE = """# Pumps

Check these before you start:

- The valve is open.
- The tank is full, which takes some minutes when it was emptied the evening before.

```bash
pump --start
  pump --check
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "pumps.md"
    path.write_text(PAGE)
    return path


def test_earlier_name_of_the_index_option_works_unseen(page: Path, tmp_path: Path) -> None:
    for name in ("--index", "--out"):
        assert run("build", page.parent, name, tmp_path / "i" / name).exit_code == 0
    assert "--out" not in run("build", "--help").output


def test_show_prints_block_by_block(page: Path) -> None:
    lines = run("show", page).output.splitlines()
    assert lines[:2] == ["pumps.md", "  title: Pumps"]
    item = next(at for at, line in enumerate(lines) if "The valve" in line)
    assert " · list_item · " in lines[item - 2]
    assert lines[item - 1] == "    after: Check these before you start:"
    assert any(" · code" in line for line in lines)
    assert lines[-2:] == ["    pump --start", "      pump --check"]
    assert max(map(len, lines)) == 60


def test_show_prints_passages(page: Path) -> None:
    output = run("show", "--passages", page).output
    assert " · passage 1 · en" in output
    assert "    list_item: - The valve is open." in output


def test_show_prints_json_with_sliced_blocks(page: Path) -> None:
    shown = json.loads(run("show", "--json", "--passages", page).output)
    assert "pump --start\n  pump --check" in [shown["text"][block[0] : block[1]] for block in shown["blocks"]][-1]
    assert shown["passages"][0][1] == "pumps.md"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("film.mp4", b"MP4", "unsupported file type .mp4; read are "),
        ("talk.key", b"KEY", "Apple Keynote; export it as .pptx"),
        ("docs.tar.gz", b"TAR", "holds files; "),
        ("broken.pdf", b"nothing", "no readable PDF"),
        ("missing.md", None, "No such file"),
        ("empty.txt", b"", "no text in it"),
    ],
)
def test_show_explains_an_unread_file_in_one_line(tmp_path: Path, name: str, data: bytes | None, says: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = run("show", tmp_path / name)
    assert done.exit_code == 1
    assert says in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_options_of_a_folder_are_remembered(tmp_path: Path) -> None:
    docs, index = tmp_path / "docs", tmp_path / "index"
    (docs / "drafts").mkdir(parents=True)
    for name in ("gate.md", "drafts/pumps.md", "notes.txt"):
        (docs / name).write_text(PAGE)

    def listed() -> dict[str, str]:
        lines = run("list", "--index", index, "--json").output.splitlines()
        return {entry["source_id"]: entry["url"] for entry in map(json.loads, lines)}

    options = ("--exclude", "drafts/", "--include", "*.md", "--base-url", "https://example.org/docs")
    assert run("build", docs, "--index", index, *options).exit_code == 0
    assert listed() == {"gate.md": "https://example.org/docs/gate"}
    (docs / "drafts" / "more.md").write_text("More of it.")
    assert run("add", docs, "--index", index).exit_code == 0
    assert listed() == {"gate.md": "https://example.org/docs/gate"}
    run("build", docs, "--index", index, "--exclude", "", "--include", "", "--base-url", "")
    assert listed() == {"gate.md": "", "notes.txt": "", "drafts/pumps.md": "", "drafts/more.md": ""}


def test_a_wrong_option_is_one_line(tmp_path: Path, page: Path) -> None:
    done = run("build", page, "--index", tmp_path / "index", "--base-url", "example.org")
    assert (done.exit_code, "write the whole address" in done.output) == (2, True)
    done = run("build", page, "--index", tmp_path / "index", "--exclude", "!")
    assert (done.exit_code, "rules are written as in a .gitignore" in done.output) == (1, True)


def test_older_index_names_the_command_to_run(tmp_path: Path, page: Path) -> None:
    index = tmp_path / "index"
    run("build", page, "--index", index)
    manifest = index / "snapshots" / snapshot.current(index) / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 2}))
    remedy = f"groundwire index build PATH --index {index}"
    for command in (("list", "--index"), ("stats", "--index"), ("watch", "--index"), ("add", page, "--index")):
        done = run(*command, index)
        assert (done.exit_code, remedy in done.output) == (1, True)
    done = run("build", page, "--index", index)
    assert (done.exit_code, "format 2 is of an older version; everything is read again" in done.output) == (0, True)


def test_commands_show_the_groups(tmp_path: Path) -> None:
    docs, index = tmp_path / "docs", tmp_path / "index"
    (docs / "pay").mkdir(parents=True)
    (docs / "gate.md").write_text("# Gate\n\nThe gate opens at six.\n")
    (docs / "pay" / "raise.md").write_text("---\ngroups: [hr, board]\n---\nThe gate keeper's raise is four percent.\n")
    (docs / "access.toml").write_text('[groups]\n"pay/" = ["hr", "finance"]\n"payy/" = "hr"\n')
    built = run("build", docs, "--index", index)
    assert "documents by group: (everybody) 1, hr 1" in built.output
    assert '"payy/" matches no document' in built.stderr
    assert "pay/raise.md\t1\traise\thr\n" in run("list", "--index", index).output
    assert [json.loads(line)["groups"] for line in run("list", "--index", index, "--json").output.splitlines()] == [
        None,
        ["hr"],
    ]
    assert "(everybody) 1, hr 1" in run("stats", "--index", index).output
    assert "documents by group: (everybody) 1, hr 1" in run("verify", "--index", index).output
    assert "  groups: hr\n" in run("show", docs / "pay" / "raise.md").output
    assert json.loads(run("show", "--json", docs / "pay" / "raise.md").output)["groups"] == ["hr"]

    def found(*groups: str) -> list[str]:
        options = [option for group in groups for option in ("--group", group)]
        command = ["search", "gate raise", "--index", str(index), "--json", *options]
        lines = CliRunner().invoke(groundwire, command).stdout.splitlines()
        return sorted(json.loads(line)["source_id"] for line in lines)

    assert found() == found("hr") == found("sales", "hr") == ["gate.md", "pay/raise.md"]
    assert found("") == found("board") == ["gate.md"]

    (docs / "access.toml").write_text("[groups]\n")
    refused = run("build", docs, "--index", index)
    assert refused.exit_code == 1
    assert refused.stderr.strip().splitlines() == [
        f"Error: {docs / 'access.toml'}: groups: names no rule; delete the file if everybody may see everything;"
        " nothing is indexed before it is known who may see it"
    ]


def told(*steps: tuple[float, str, int, int]) -> list[str]:
    """What is said of a build's steps, each at its second."""
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    for second, *step in steps:
        now = second
        tell(*step)
    return said


def test_long_build_reports_progress_and_estimate() -> None:
    said = told(*((second, "read", second * 400, 120_000) for second in range(301)))
    assert said[0] == "read 4,000 of 120,000 documents, 5 min left"
    assert said[26] == "read 108,000 of 120,000 documents, less than a minute left"
    assert len(said) == 30
    assert said[-1] == "read 120,000 of 120,000 documents"


def test_estimate_follows_recent_speed() -> None:
    begun = (0, "read", 0, 1_000_000)  # most was read by a build that was stopped
    said = told(begun, *((second, "read", 900_000 + 10 * second, 1_000_000) for second in range(10, 200)))
    assert said[0].endswith("less than a minute left")
    assert said[-1] == "read 901,900 of 1,000,000 documents, 2 h 44 min left"


def test_a_file_that_takes_long_is_named() -> None:
    said = told(*((second, "reading Logs/big.log", second, 60) for second in range(31)))
    assert said[0] == "reading Logs/big.log: 10 s; stopped at 60 s"
    assert len(said) == 3


def test_short_or_stalled_build_is_silent() -> None:
    short = [(step / 11, "read", step, 100) for step in range(100)]
    assert told(*short) == []
    stalled = [(step, "bm25", 3 if step > 10 else 1, 100) for step in range(10, 60)]
    assert told(*short, *stalled) == ["indexed 3 of 100 passages for BM25, 1 min left"]


URL = "http://127.0.0.1:9/handbook"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_STATE", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "watch", ".", "--index", URL),
        ("restore", ".", "--index", URL),
    ],
    ids=" ".join,
)
def test_url_instead_of_a_folder_is_refused(here: Path, arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(groundwire, arguments)
    assert done.exit_code == 2, done.output
    assert f"{URL} is no folder, which this command needs" in " ".join(done.output.split())
    assert not [*here.iterdir()]


def test_stack_over_a_url_reports_its_bus(here: Path) -> None:
    folder = state_folder(over_index(Settings(state=str(here / "state")), URL))
    folder.mkdir(parents=True)
    made = nats_users.make(folder, "nats://127.0.0.1:4567")
    done = CliRunner().invoke(groundwire, ["nats", "url", "--index", URL])
    assert done.output.strip() == made.url_of("integration")


def test_index_commands_from_end_to_end(tmp_path: Path) -> None:
    folder, index = tmp_path / "documents", str(tmp_path / "index")
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe gate opens at six in the morning.\n")
    (folder / "bad.pdf").write_bytes(b"%PDF-")
    runner = CliRunner()
    for name in ("a.xyz", "b.xyz", "~$c.md"):
        (folder / name).write_text("?")
    result = runner.invoke(index_group, ["build", str(folder), "--index", index])
    assert result.exit_code == 0
    assert "1 documents (1 added" in result.output
    assert "skipped bad.pdf: no readable PDF" in result.output
    assert "skipped 2 files, such as a.xyz: unsupported file type .xyz\nskipped.json in the index" in result.output
    assert "left out: 1 hidden or temporary\n" in result.output
    assert f'groundwire ask --index {index} "…"' in result.output
    (folder / "bad.pdf").unlink()
    result = runner.invoke(index_group, ["build", str(folder), "--index", index, "--json"])
    assert result.exit_code == 0
    assert json.loads(result.output)["unchanged_files"] == 1
    assert runner.invoke(index_group, ["list", "--index", index]).output == "gate.md\t1\tGate\n"
    assert json.loads(runner.invoke(index_group, ["stats", "--index", index, "--json"]).output)["passages"] == 1
    assert runner.invoke(index_group, ["verify", "--index", index]).exit_code == 0
    hit = json.loads(runner.invoke(search_command, ["--index", index, "--json", "-k", "1", "gate opens"]).output)
    assert (hit["source_id"], hit["score_type"]) == ("gate.md", "fusion")
    assert {"title", "url", "text", "char_start", "char_end", "language", "snapshot", "page"} <= hit.keys()
    assert "1. Gate (gate.md)" in runner.invoke(search_command, ["--index", index, "gate opens"]).output
    for arguments in (
        ["search", "--index", str(tmp_path / "no"), "x"],
        ["search", "--index", index, "--snapshot", "s9", "x"],
    ):
        result = runner.invoke(search_command, arguments[1:])
        assert result.exit_code == 1
        assert result.output.startswith("Error: no ")
        assert result.output.count("\n") == 1
    assert runner.invoke(search_command, ["--index", index, "x" * 4001]).exit_code == 2
    assert runner.invoke(index_group, ["remove", "--index", index, "nothing"]).exit_code == 1
