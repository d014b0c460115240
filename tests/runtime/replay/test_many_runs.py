"""Many runs: rows and filters, ids by their beginning, verdicts, unusual runs, statistics, Parquet files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from actors.pipeline import pipeline
from bus.journal.journal import Journal
from bus.journal.verdicts import MOST, Verdict, add_verdict, verdict_in
from bus.runs.runs import NoSuchRun
from bus.wire.errors import Invalid
from runtime.cli import groundwire
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.journal_traces import all_runs, full_id, latest_runs, read_run
from runtime.replay.replayer import replay
from runtime.replay.run_rows import Wanted, row_of, wanted_row
from runtime.replay.run_statistics import odd_runs, stage_stats, write_frame
from runtime.replay.trace import Trace, dump, load, read
from tests.runtime.replay.conftest import QUESTIONS, Recorder

GUIDE = {path.stem: read(path) for path in sorted(Path(__file__).with_name("guide").glob("*.jsonl"))}
FILES = [str(Path(__file__).with_name("guide") / f"{name}.jsonl") for name in GUIDE]

FILTERS = [
    ({}, {"down", "founder", "libros", "lied", "refunds"}),
    ({"outcome": "answered"}, {"libros", "lied", "refunds"}),
    ({"reason": "no_evidence"}, {"founder"}),
    ({"flag": "fabricated_number"}, {"lied"}),
    ({"source": "biblioteca.md"}, {"libros"}),
    ({"source": "opening.md"}, {"founder"}),
    ({"language": "es"}, {"libros"}),
    ({"profile": "library"}, set()),
    ({"key": "anna"}, set()),
    ({"confidence": "low"}, {"lied"}),
    ({"verdict": "wrong"}, {"lied"}),
    ({"verdict": "right"}, set()),
    ({"verdict": "any"}, {"lied"}),
    ({"text": "FOUNDED the"}, {"founder"}),
    ({"text": "opened software"}, {"lied", "refunds"}),
    ({"slower": 0.2}, {"libros"}),
    ({"faster": 0.03}, {"down"}),
    ({"since": 4e9}, set()),
    ({"until": 1.0}, set()),
    ({"outcome": "answered", "text": "refunds", "confidence": "high"}, {"refunds"}),
]


@pytest.mark.parametrize(("fields", "found"), FILTERS, ids=[" ".join(map(str, row[0].items())) for row in FILTERS])
def test_filters_keep_what_fits(fields: dict[str, object], found: set[str]) -> None:
    wanted = Wanted(**fields)  # type: ignore[arg-type]
    assert {name for name, trace in GUIDE.items() if wanted_row(trace.records, wanted)} == found


def listed(*arguments: str) -> list[dict[str, object]]:
    done = CliRunner().invoke(groundwire, ["trace", "list", *FILES, "--json", *arguments])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines()]


def test_list_is_filtered_and_sorted() -> None:
    times = [run["took_s"] for run in listed("--sort", "took_s")]
    assert times == sorted(times, reverse=True)
    (lied,) = listed("--flag", "fabricated_number", "--outcome", "answered", "--verdict", "wrong")
    assert lied["note"] == "the deadline is missing"
    assert lied["flags"] == ["fabricated_number"]
    assert listed("--since", "1m") == []
    assert len(listed("--until", "1m", "-n", "3")) == 3


async def test_journal_lists_and_keeps_verdicts(recorder: Recorder) -> None:
    async with recorder(ExtractiveEngine()) as record:
        trace = await record.traced(QUESTIONS["simple"], "abcd1234-many")
        await record.traced(QUESTIONS["refused"], "abcd9999-many")
        for number, verdict in enumerate(("right", "wrong"), 1):
            assert await add_verdict(record.journal, trace.run_id, Verdict(verdict=verdict, note="n")) == number  # type: ignore[arg-type]
        (row,) = await latest_runs(record.journal, 5, Wanted(verdict="wrong", text="refunds are paid"))
        assert (row.run_id, row.outcome, row.sources) == (trace.run_id, "answered", ("doc1",))
        assert await full_id(record.journal, "abcd12") == trace.run_id
        with pytest.raises(NoSuchRun, match="there is no run nobody"):
            await full_id(record.journal, "nobody")
        with pytest.raises(NoSuchRun, match="2 runs begin with abcd: abcd1234-many, abcd9999-many"):
            await full_id(record.journal, "abcd")
        kept = await read_run(record.journal, trace.run_id)
        again = load(list(dump(kept)), name="file")
        assert verdict_in(again.records) == Verdict(verdict="wrong", note="n")
        assert (await replay(again, pipeline())).divergence is None
        assert trace.run_id in {each.run_id for each in await all_runs(record.journal)}


async def test_verdicts_are_bounded(recorder: Recorder, journal: Journal) -> None:
    for _ in range(MOST):
        await add_verdict(journal, "judged-often", Verdict(verdict="right"))
    with pytest.raises(Invalid, match="takes no more"):
        await add_verdict(journal, "judged-often", Verdict(verdict="right"))


def test_odd_runs_come_first() -> None:
    many: list[Trace] = [GUIDE["refunds"]] * 20 + [GUIDE["lied"], GUIDE["founder"]]
    found = odd_runs(many)
    assert [odd.run_id for odd in found] == [GUIDE["founder"].run_id, GUIDE["lied"].run_id]
    assert "flag fabricated_number (1 of 22)" in found[1].why
    assert "ended closest (no_evidence) (1 of 22)" in found[0].why


def test_stages_are_summed_up() -> None:
    stages = {each.stage: each for each in stage_stats([*GUIDE.values()])}
    assert (stages["retrieve"].calls, stages["answer_simple"].fallbacks) == (5, 1)
    assert all(each.median_s <= each.p95_s for each in stages.values())


def test_frame_has_runs_and_sentences(tmp_path: Path) -> None:
    written = write_frame([*GUIDE.values()], tmp_path / "runs.parquet")
    runs, sentences = (parquet.read_table(path).to_pylist() for path in written)
    assert [len(runs), len(sentences)] == [*written.values()]
    lied = next(row for row in runs if row["run_id"] == GUIDE["lied"].run_id)
    assert (lied["verdict"], lied["flags"], lied["outcome"]) == ("wrong", ["fabricated_number"], "answered")
    assert lied["retrieve_s"] > 0
    false = next(row for row in sentences if row["standing"] == "withheld")
    assert (false["run_id"], false["flags"]) == (lied["run_id"], ["fabricated_number"])


def test_row_needs_no_stages() -> None:
    trace = GUIDE["lied"]
    few = [r for r in trace.records if r.key.type in ("question_asked", "run_finished", "verdict", "access")]
    assert row_of(few) == row_of(trace.records)
