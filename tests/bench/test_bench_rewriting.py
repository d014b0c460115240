"""The rewriting of follow-ups: the figures, and the command on small files of our own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from index.build.ingest import bring_in
from prompts.contracts import Turn
from tests.bench.bench_rewriting import FollowUp, figures, main, rewrite

FEVER = (Turn(role="user", content="What is hay fever?"),)


def write(path: Path, *lines: dict[str, object]) -> str:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return str(path)


def test_rewriting() -> None:
    asked = (("Is it rare?", "Is hay fever rare?"), ("Who treats it?", "Who cures hay fever?"))
    found = figures([rewrite(FollowUp(id="1", question=a, rewrite=b, history=FEVER)) for a, b in asked])
    assert found["raw_recall"] == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert found["rewritten_recall"] == pytest.approx((1 + 3 / 4) / 2)  # with its topic
    assert found["closed"] == pytest.approx(0.8)
    assert (found["questions"], found["with_a_topic"], found["lost_a_content_word"]) == (2, 2, 0)
    assert (
        figures([rewrite(FollowUp(id="1", question="Is hay fever rare?", rewrite="Is hay fever rare?"))])["closed"] == 1
    )


def test_rewriting_measures_each_form(tmp_path: Path) -> None:
    texts = {"fever": "Hay fever is a reaction to pollen.", "gout": "Gout is a kind of arthritis."}
    records = [{"source_id": name, "text": f"{text} It is rare in winter."} for name, text in texts.items()]
    bring_in(tmp_path / "index", [write(tmp_path / "records.jsonl", *records)], only=True)
    turns = [{"role": "user", "content": "What is gout?"}, {"role": "assistant", "content": "Gout is arthritis [1]."}]
    line = {"id": "1", "language": "en", "history": turns, "question": "Is it rare in winter?"}
    line["rewrite"] = "Is gout rare in winter?"
    source = write(tmp_path / "f.jsonl", {**line, "source_ids": ["gout"]})
    result = CliRunner().invoke(main, ["--file", source, "--index", str(tmp_path / "index")])
    assert result.exit_code == 0, result.output
    rows = [row.split() for row in result.output.splitlines() if row.lstrip().startswith("all")]
    assert [row[-2:] for row in rows[1:]] == [["1.000", "1.000"]] * 2

    for lines, says in (([line], "no source_ids"), ([{**line, "history": []}], "no question with a history")):
        bare = write(tmp_path / "bare.jsonl", *lines)
        result = CliRunner().invoke(main, ["--file", bare, "--index", str(tmp_path / "index")])
        assert (result.exit_code, says in result.output) == (1, True)
