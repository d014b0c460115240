"""Our measures against ir-measures', and the command that prints them."""

import json
import random
from pathlib import Path

import ir_measures
import pytest
from click.testing import CliRunner
from ir_measures import RR, R, nDCG

from runtime.commands.eval_retrieval import eval_retrieval_command
from runtime.commands.index import index_group
from runtime.commands.search import search_command
from runtime.measure import rankings
from runtime.measure.lines import BadLine
from runtime.measure.question_figures import interval


@pytest.mark.parametrize("seed", range(5))
def test_measures_agree_with_ir_measures(seed: int) -> None:
    chance = random.Random(seed)
    relevant = {f"q{n}": frozenset(chance.sample("abcdefghij", chance.randint(1, 4))) for n in range(20)}
    runs = {f"q{n}": [(source, 1 - rank / 50) for rank, source in enumerate(chance.sample("abcdefghijklmnop", 12))]
            for n in range(18)}  # fmt: skip
    judged = [ir_measures.Qrel(question, source, 1) for question, wanted in relevant.items() for source in wanted]
    scored = [
        ir_measures.ScoredDoc(question, source, score) for question, found in runs.items() for source, score in found
    ]
    theirs = ir_measures.calc_aggregate([RR @ 10, nDCG @ 10, R @ 10], judged, scored)
    ours = rankings.measure({q: [source for source, _ in found] for q, found in runs.items()}, relevant, 10)
    means = {name: interval(values) for name, values in ours.items()}
    assert means["MRR@10"].mean == pytest.approx(theirs[RR @ 10])
    assert means["nDCG@10"].mean == pytest.approx(theirs[nDCG @ 10])
    assert means["R@10"].mean == pytest.approx(theirs[R @ 10])
    assert all(one.low <= one.mean <= one.high for one in means.values())


def test_trec_run_measures_the_same_when_reread() -> None:
    runs = {"q 1": [("a", 0.5), ("b b", 0.5), ("c", 0.5)]}
    lines = list(rankings.trec_lines(runs, "tag"))
    assert lines[1].split() == ["q_1", "Q0", "b_b", "2", "0.4999998", "tag"]
    read = list(ir_measures.read_trec_run("\n".join(lines)))
    assert [doc.doc_id for doc in sorted(read, key=lambda doc: -doc.score)] == ["a", "b_b", "c"]


def test_command_prints_and_writes_the_measures(built: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    rows = [("q1", "helmet in the foundry", ["helmet"]), ("q2", "환불 기간", ["refund"]), ("q3", "unanswerable", [])]
    questions.write_text(
        "\n".join(json.dumps({"id": i, "question": q, "source_ids": s, "answers": []}) for i, q, s in rows)
    )
    out, run = tmp_path / "out.json", tmp_path / "run"
    result = CliRunner().invoke(
        eval_retrieval_command,
        ["--index", str(built), "--questions", str(questions), "--json", str(out), "--save-run", str(run)],
    )
    assert result.exit_code == 0, result.output
    written = json.loads(out.read_text())
    assert written["systems"].keys() == {"bm25", "vectors", "fusion"}
    assert written["systems"]["fusion"] == {"MRR@10": 1.0, "nDCG@10": 1.0, "R@10": 1.0}
    assert written["questions"] == 2
    assert (tmp_path / "run.fusion").read_text().startswith("q1 Q0 helmet 1 ")


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "has no lines"), ("{}", "line 1"), ('{"id":"a","question":"b"}', "no question with source_ids")],
)
def test_file_without_questions_is_one_error(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(text)
    with pytest.raises(BadLine, match=says):
        rankings.read_questions(path)


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
