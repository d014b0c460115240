"""The commands on a trace file: their output, and one line with exit code 2 for each error."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runtime.cli import groundwire
from runtime.replay.trace import Trace, write


@pytest.fixture
def folder(traces: dict[str, Trace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "run.jsonl", traces["simple"])
    changed = (tmp_path / "run.jsonl").read_text().replace('"confidence":"high"', '"confidence":"low"', 1)
    (tmp_path / "changed.jsonl").write_text(changed)
    lines = (tmp_path / "run.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "broken.jsonl").write_text("".join(lines[:3] + lines[4:]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def groundwire_on(*arguments: str) -> Result:
    return CliRunner().invoke(groundwire, list(arguments))


def test_replay_prints_identical(folder: Path) -> None:
    done = groundwire_on("replay", "--trace", "run.jsonl")
    assert (done.exit_code, done.output[:19]) == (0, "identical: 8 stages")
    assert json.loads(groundwire_on("replay", "run.jsonl", "--json").output)["divergence"] is None


def test_replay_prints_the_first_difference(folder: Path) -> None:
    done = groundwire_on("replay", "changed.jsonl")
    assert done.exit_code == 1
    first, at, recorded, now = done.output.splitlines()[:4]
    assert first.startswith("diverged at ")
    assert at.split()[-1].endswith("confidence")
    assert (recorded.split()[-1], now.split()[-1]) == ('"low"', '"high"')


def test_a_fork_is_written_and_compared(folder: Path) -> None:
    made = groundwire_on(
        "replay", "run.jsonl", "--from", "select_evidence", "--profile", "library", "--out", "fork.jsonl"
    )
    assert made.exit_code == 0, made.output
    assert groundwire_on("replay", "fork.jsonl").output.endswith("3 stages inherited from its parent not compared\n")
    done = groundwire_on("diff", "run.jsonl", "fork.jsonl")
    assert done.exit_code == 1
    assert "the runs differ at select_evidence" in done.output
    assert "profile: general -> library" in done.output
    assert groundwire_on("diff", "run.jsonl", "run.jsonl").exit_code == 0


def test_play_prints_the_recorded_events(folder: Path, traces: dict[str, Trace]) -> None:
    done = groundwire_on("play", "run.jsonl", "--instant")
    assert done.output.encode().splitlines() == traces["simple"].lines


def test_trace_show_names_every_stage(folder: Path) -> None:
    done = groundwire_on("trace", "show", "run.jsonl")
    assert done.exit_code == 0
    for stage in ("classify_intent", "retrieve", "answer_simple", "settle_answer"):
        assert stage in done.output


def test_closest_passages_are_in_trace_and_diff(folder: Path, traces: dict[str, Trace]) -> None:
    write(folder / "near.jsonl", traces["closest"])
    assert groundwire_on("replay", "near.jsonl").output.startswith("identical")
    assert "1. doc1 0-132: La bibliothèque est" in groundwire_on("trace", "show", "near.jsonl").output
    differ = groundwire_on("diff", "run.jsonl", "near.jsonl").output
    assert "outcome: answered -> closest" in differ
    assert "+ doc1 0-132: La bibliothèque est" in differ


WRONG = [
    (("replay",), "give a run id"),
    (("replay", "broken.jsonl"), "broken.jsonl, line 4: record "),
    (("replay", "--trace", "missing.jsonl"), "missing.jsonl: cannot be read"),
    (("replay", "run.jsonl", "--from", "select_evidnce"), "did you mean 'select_evidence'?"),
    (("replay", "run.jsonl", "--from", "answer_hint"), "never reached answer_hint"),
    (("replay", "run.jsonl", "--profile", "library"), "--profile applies to a fork only"),
    (("replay", "run.jsonl", "--from", "retrieve", "--profile", "nobody"), "there is no profile 'nobody'"),
    (("replay", "some-run", "--index", "nowhere"), "nowhere does not exist"),
    (("play", "broken.jsonl"), "broken.jsonl, line 4"),
    (("diff", "run.jsonl", "missing.jsonl"), "missing.jsonl: cannot be read"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_error_is_one_line(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    done = groundwire_on(*arguments)
    assert done.exit_code == 2
    assert says in done.output.splitlines()[-1]
