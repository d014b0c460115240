"""`groundwire eval sentences` and the fit of the gate: lines in, verdicts and figures out."""

import json
from pathlib import Path

import msgspec
from click.testing import CliRunner

from actors.gate.support import Weights
from runtime.commands.eval_sentences import eval_sentences_command
from tests.bench.fit_gate import main as fit_gate_command

TRUE = {"id": "t", "answer": "It opened in 1998 [1].", "evidence": [{"n": 1, "text": "The shop opened in 1998."}]}
FALSE = {**TRUE, "id": "f", "answer": "It opened in 1989 [1]."}


def lines(*items: object) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    source = tmp_path / "set.jsonl"
    for bad in (
        b'{"id": 3}',
        b"{",
        b'{"id": "\xff"}',
        b'{"id":"x","answer":"a","evidence":[{"n":1,"text":"a"},{"n":1,"text":"b"}]}',
    ):
        source.write_bytes(lines({**TRUE, "label": "supported"}).encode() + b"\n" + bad + b"\n")
        result = CliRunner().invoke(eval_sentences_command, ["--file", str(source)])
        assert result.exit_code == 1
        assert "line 3: " in result.output
        assert len([line for line in result.output.splitlines() if line.startswith("Error")]) == 1


def test_unlabelled_sentence_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "set.jsonl"
    source.write_text(lines(TRUE), "utf-8")
    result = CliRunner().invoke(eval_sentences_command, ["--file", str(source)])
    assert result.exit_code == 1
    assert "t has no label" in result.output


def test_wrong_verdicts_are_printed(tmp_path: Path) -> None:
    source = tmp_path / "set.jsonl"
    source.write_text(lines({**TRUE, "label": "contradicted"}, {**FALSE, "label": "contradicted"}), "utf-8")
    result = CliRunner().invoke(eval_sentences_command, ["--file", str(source), "--errors", "5"])
    assert result.output.count("contradicted, ") == 1
    assert "contradicted, verified: It opened in 1998" in result.output


def test_eval_sentences_counts_standings(tmp_path: Path) -> None:
    source, out = tmp_path / "set.jsonl", tmp_path / "figures.json"
    source.write_text(
        lines({**TRUE, "label": "supported", "language": "en"}, {**FALSE, "label": "unsupported", "language": "en"}),
        "utf-8",
    )
    result = CliRunner().invoke(eval_sentences_command, ["--file", str(source), "--json", str(out)])
    assert result.exit_code == 0, result.output
    true, other = json.loads(out.read_text("utf-8"))["en"]
    assert true["standings"] == {"verified": 1.0, "unverified": 0.0, "withheld": 0.0}
    assert (other["standings"]["withheld"], other["flags"]) == (1.0, {"fabricated_number": 1.0})
    assert "flag: fabricated_number" in result.output


def test_fit_gate_judges_sets_left_out(tmp_path: Path) -> None:
    text = "The museum of the harbour lends its boats to schools in the summer holidays."
    said = (
        "In summer, schools can borrow the boats of the harbour museum.",
        "Its old curator paints dragons on the moon for fun.",
    )
    sets = []
    for name in ("one", "two", "three-en", "three-fr"):
        rows = [
            {"id": f"{at}", "answer": answer, "evidence": [{"n": 1, "text": text}], "label": label, "language": "en"}
            for at in range(4)
            for answer, label in zip(said, ("supported", "unsupported"), strict=True)
        ]
        sets.append(tmp_path / f"{name}.jsonl")
        sets[-1].write_text(lines(*rows), "utf-8")
    out = tmp_path / "weights.json"
    result = CliRunner().invoke(
        fit_gate_command, [*(word for one in sets for word in ("--answers", str(one))), "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    learned = msgspec.json.decode(out.read_bytes(), type=Weights)
    assert learned.fitted_on == {"one": 8, "three": 16, "two": 8}
    assert learned.weights["around"] > 0
    assert result.output.count("0.000 / 1.000") == 6  # three sets, withheld and doubted


def test_fit_gate_needs_two_sets(tmp_path: Path) -> None:
    source = tmp_path / "one.jsonl"
    source.write_text(lines({**TRUE, "label": "supported"}), "utf-8")
    result = CliRunner().invoke(fit_gate_command, ["--answers", str(source), "--out", str(tmp_path / "weights")])
    assert (result.exit_code, "supported sentences of two sets" in result.output) == (2, True)
