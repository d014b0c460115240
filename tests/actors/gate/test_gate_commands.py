"""`groundwire gate` and `groundwire eval gate`: lines in, verdicts and figures out."""

import json
from pathlib import Path

from click.testing import CliRunner

from runtime.commands.eval_gate import eval_gate_command
from runtime.commands.gate import gate_command
from runtime.measure.gate_scores import Outcome, report, score

TRUE = {"id": "t", "answer": "It opened in 1998 [1].", "evidence": [{"n": 1, "text": "The shop opened in 1998."}]}
FALSE = {**TRUE, "id": "f", "answer": "It opened in 1989 [1]."}


def lines(*items: object) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def test_gate_prints_a_verdict_a_line() -> None:
    result = CliRunner().invoke(gate_command, ["--json"], input=lines(TRUE, FALSE))
    assert result.exit_code == 0
    first, second = map(json.loads, result.output.splitlines())
    assert first == {"id": "t", "verdict": "pass", "flags": []}
    assert (second["id"], second["verdict"]) == ("f", "withhold")
    assert second["flags"] == [
        {
            "kind": "fabricated_number",
            "strength": "strong",
            "words": "1989",
            "evidence_n": [1],
            "why": "1989: the evidence says 1998 there",
        }
    ]


def test_gate_for_a_person() -> None:
    result = CliRunner().invoke(gate_command, [], input=lines(FALSE))
    assert result.output.splitlines()[0] == "f: withhold"
    assert "“1989”" in result.output


def test_a_bad_line_is_named() -> None:
    for bad in ('{"id": 3}', "{", '{"id":"x","answer":"a","evidence":[{"n":1,"text":"a"},{"n":1,"text":"b"}]}'):
        result = CliRunner().invoke(gate_command, ["--json"], input=lines(TRUE) + "\n" + bad + "\n")
        assert result.exit_code == 1
        assert "Error: line 3: " in result.output
        assert len([line for line in result.output.splitlines() if line.startswith("Error")]) == 1


def test_bytes_that_are_no_text() -> None:
    result = CliRunner().invoke(gate_command, [], input=b'{"id": "\xff"}\n')
    assert result.exit_code == 1
    assert "Error: line 1: " in result.output


def test_eval_gate_measures(tmp_path: Path) -> None:
    source, out = tmp_path / "set.jsonl", tmp_path / "figures.json"
    source.write_text(lines({**TRUE, "label": "supported"}, {**FALSE, "label": "contradicted"}), "utf-8")
    result = CliRunner().invoke(eval_gate_command, ["--file", str(source), "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert "gate: contradicted" in result.output
    figures = json.loads(out.read_text("utf-8"))
    assert figures["withheld"] == {"contradicted": 1.0, "supported": 0.0}
    assert figures["labels"]["contradicted"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "flagged": 1}
    assert figures["flags"]["fabricated_number"]["f1"] == 1.0


def test_eval_gate_wants_labels(tmp_path: Path) -> None:
    source = tmp_path / "set.jsonl"
    source.write_text(lines(TRUE), "utf-8")
    result = CliRunner().invoke(eval_gate_command, ["--file", str(source)])
    assert result.exit_code == 1
    assert "t has no label" in result.output


def test_score() -> None:
    pairs = [(True, True)] * 3 + [(True, False)] + [(False, True)] + [(False, False)] * 5
    found = score(pairs)
    assert (found.precision, found.recall, found.f1, found.flagged) == (0.75, 0.75, 0.75, 4)
    assert score([]).f1 == 0.0


def test_word_overlap_is_measured_at_equal_cost() -> None:
    def one(label: str, overlap: float) -> Outcome:
        return Outcome(id="", label=label, kinds=(), withheld=False, overlap=overlap)

    found = report(
        [one("contradicted", 0.1), one("contradicted", 0.5), one("supported", 0.3), one("supported", 0.9)],
        ms_per_answer=0.0,
    )
    assert (found.overlap_fair.recall, found.overlap_fair_withheld) == (0.5, 0.0)
    assert (found.overlap_best.recall, found.overlap_best_withheld) == (1.0, 0.5)
