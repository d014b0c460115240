"""The rewriting of follow-ups: the figures, and the command on small files of our own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.bench.bench_rewriting import FollowUp, main, rewrite
from tests.bench.bench_rewriting import figures as rewriting_figures


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_rewriting(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "What is hay fever?"}]
    lines = [
        {"id": "1", "question": "What is hay fever?", "rewrite": "What is hay fever?", "history": []},
        {"id": "2", "question": "Is it rare?", "rewrite": "Is hay fever rare?", "history": turns},
        {"id": "3", "question": "Who treats it?", "rewrite": "Who cures hay fever?", "history": turns},
    ]
    out = tmp_path / "out.json"
    source = write(tmp_path / "f.jsonl", lines)
    result = CliRunner().invoke(main, ["--file", str(source), "--json", str(out)])
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text())["figures"]
    assert found["questions"] == 2
    assert found["raw_recall"] == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert found["rewritten_recall"] == pytest.approx((1 + 3 / 4) / 2)  # with its topic
    assert found["closed"] == pytest.approx(0.8)
    assert (found["with_a_topic"], found["lost_a_content_word"]) == (2, 0)


def test_rewriting_measures_each_form(tmp_path: Path) -> None:
    passages = write(
        tmp_path / "p.jsonl",
        [
            {"source_id": name, "title": name, "text": f"{text} It is rare in winter.", "language": "en"}
            for name, text in (
                ("fever", "Hay fever is a reaction to pollen."),
                ("gout", "Gout is a kind of arthritis."),
            )
        ],
    )
    turns = [{"role": "user", "content": "What is gout?"}, {"role": "assistant", "content": "Gout is arthritis [1]."}]
    line = {"id": "1", "language": "en", "history": turns, "question": "Is it rare in winter?"}
    source = write(tmp_path / "f.jsonl", [{**line, "rewrite": "Is gout rare in winter?", "source_ids": ["gout"]}])
    out = tmp_path / "out.json"
    options = ["--file", str(source), "--passages", str(passages), "--json", str(out)]
    result = CliRunner().invoke(main, options)
    assert result.exit_code == 0, result.output
    assert "by people" in result.output
    forms = json.loads(out.read_text())["retrieval"]["all"]
    assert forms["rewritten"] == forms["by people"] == {"R@5": 1.0, "MRR@10": 1.0}

    bare = write(tmp_path / "bare.jsonl", [{**line, "rewrite": "Is gout rare in winter?"}])
    result = CliRunner().invoke(main, ["--file", str(bare), "--passages", str(passages)])
    assert result.exit_code == 1
    assert "no source_ids" in result.output


def test_a_file_without_histories_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "f.jsonl", [{"id": "1", "question": "a", "rewrite": "a"}])
    result = CliRunner().invoke(main, ["--file", str(source)])
    assert result.exit_code == 1
    assert "no question with a history" in result.output


def test_empty_gap_counts_as_closed() -> None:
    line = FollowUp(id="1", question="Is hay fever rare?", rewrite="Is hay fever rare?")
    assert rewriting_figures([rewrite(line)]).closed == 1.0
