"""`groundwire eval answers` and `groundwire eval rewriting`: the figures, and the commands on small files of our own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from runtime.commands.eval_answers import eval_answers_command
from runtime.commands.eval_rewriting import eval_rewriting_command
from runtime.measure.answers import (
    Answered,
    CitedSpan,
    EvalPassage,
    EvalQuestion,
    figures,
    holds_gold,
    own_passages,
)
from runtime.measure.rewriting import FollowUp, rewrite
from runtime.measure.rewriting import figures as rewriting_figures

RIGHT = CitedSpan(source_id="a", text="It was opened in  1964.")
WRONG = CitedSpan(source_id="b", text="Nothing to see.")


def question(number: int, *, answerable: bool = True, answers: tuple[str, ...] = ("1964",)) -> EvalQuestion:
    return EvalQuestion(
        id=str(number),
        question="When?",
        answers=answers,
        answerable=answerable,
        source_ids=("a",) if answerable else (),
    )


def test_figures_of_answers() -> None:
    asked = [question(1), question(2), question(3), question(4, answerable=False), question(5, answerable=False)]
    answers = [
        Answered(id="1", refused=False, cited=(RIGHT, WRONG), unsupported=1, seconds=0.002),
        Answered(id="2", refused=False, cited=(WRONG,), seconds=0.004),
        Answered(id="3", refused=True),
        Answered(id="4", refused=True),
        Answered(id="5", refused=False, cited=()),
    ]
    result = figures(asked, answers)
    assert result.gold_in_cited == pytest.approx(1 / 3)
    assert result.spans_per_answer == pytest.approx(1.0)
    assert result.citation_precision == pytest.approx(1 / 3)
    assert result.citation_recall == pytest.approx(1 / 3)
    assert (result.refusal_precision, result.refusal_recall, result.refusal_f1) == (0.5, 0.5, 0.5)
    assert result.refused_answerable == pytest.approx(1 / 3)
    assert result.unsupported_per_answer == pytest.approx(1 / 3)
    assert result.without_citation == 1
    assert result.milliseconds == pytest.approx(1.2)


def test_figures_without_a_count_are_none() -> None:
    result = figures([question(1, answers=())], [Answered(id="1", refused=False, cited=(RIGHT,))])
    assert (result.gold_in_cited, result.refusal_f1, result.refusal_precision) == (None, None, None)


@pytest.mark.parametrize(
    ("gold", "held"), [("OPENED IN 1964", True), ("１９６４", True), ("1965", False), ("see", False), ("", False)]
)
def test_gold_is_matched_word_by_word(gold: str, held: bool) -> None:
    assert holds_gold(question(1, answers=(gold,)), Answered(id="1", refused=False, cited=(RIGHT,))) is held


def test_question_without_source_uses_its_neighbours() -> None:
    passages = [
        EvalPassage(source_id="a", text="The tower is high."),
        EvalPassage(source_id="b", text="The ferry is slow."),
        EvalPassage(source_id="c", text="The tower is closed."),
    ]
    asked = [
        EvalQuestion(id="1", question="How high is the tower?", source_ids=("a",)),
        EvalQuestion(id="2", question="Is the ferry fast?", answerable=False),
        EvalQuestion(id="3", question="How slow is the ferry?", source_ids=("b",)),
        EvalQuestion(id="4", question="What?", answerable=False),
    ]
    assert [p.source_id for p in own_passages(asked, passages)] == ["a", "b", "b", "b"]


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_eval_answers_on_own_passages(tmp_path: Path) -> None:
    passages = write(
        tmp_path / "p.jsonl",
        [{"source_id": "a", "title": "T", "text": "The tower was built in 1901. It is tall. A bell hangs in it."}],
    )
    questions = write(
        tmp_path / "q.jsonl",
        [
            {"id": "1", "question": "When was the tower built?", "answers": ["1901"], "source_ids": ["a"]},
            {"id": "2", "question": "Who painted the Mona Lisa?", "answerable": False},
        ],
    )
    out = tmp_path / "out.json"
    result = CliRunner().invoke(
        eval_answers_command,
        ["--questions", str(questions), "--passages", str(passages), "--own-passage", "--json", str(out)],
    )
    assert result.exit_code == 0, result.output
    written = json.loads(out.read_text())
    assert written["figures"]["gold_in_cited"] == written["figures"]["refusal_f1"] == 1.0
    assert [answer["refused"] for answer in written["answers"]] == [False, True]
    assert "gold in cited" in result.output


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "q.jsonl"
    bad.write_text('{"id": "1", "question": "?"}\n{"id": 2}\n')
    result = CliRunner().invoke(
        eval_answers_command, ["--questions", str(bad), "--passages", str(bad), "--own-passage"]
    )
    assert result.exit_code == 1
    assert "q.jsonl, line 2:" in result.output
    assert "Traceback" not in result.output


def test_eval_rewriting(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "What is hay fever?"}]
    lines = [
        {"id": "1", "question": "What is hay fever?", "rewrite": "What is hay fever?", "history": []},
        {"id": "2", "question": "Is it rare?", "rewrite": "Is hay fever rare?", "history": turns},
        {"id": "3", "question": "Who treats it?", "rewrite": "Who cures hay fever?", "history": turns},
    ]
    out = tmp_path / "out.json"
    source = write(tmp_path / "f.jsonl", lines)
    result = CliRunner().invoke(eval_rewriting_command, ["--file", str(source), "--json", str(out)])
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text())["figures"]
    assert found["questions"] == 2
    assert found["raw_recall"] == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert found["rewritten_recall"] == pytest.approx((1 + 3 / 4) / 2)  # with its topic
    assert found["closed"] == pytest.approx(0.8)
    assert (found["with_a_topic"], found["lost_a_content_word"]) == (2, 0)


def test_eval_rewriting_measures_each_form(tmp_path: Path) -> None:
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
    result = CliRunner().invoke(eval_rewriting_command, options)
    assert result.exit_code == 0, result.output
    assert "by people" in result.output
    forms = json.loads(out.read_text())["retrieval"]["all"]
    assert forms["rewritten"] == forms["by people"] == {"R@5": 1.0, "MRR@10": 1.0}

    bare = write(tmp_path / "bare.jsonl", [{**line, "rewrite": "Is gout rare in winter?"}])
    result = CliRunner().invoke(eval_rewriting_command, ["--file", str(bare), "--passages", str(passages)])
    assert result.exit_code == 1
    assert "no source_ids" in result.output


def test_a_file_without_histories_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "f.jsonl", [{"id": "1", "question": "a", "rewrite": "a"}])
    result = CliRunner().invoke(eval_rewriting_command, ["--file", str(source)])
    assert result.exit_code == 1
    assert "no question with a history" in result.output


def test_empty_gap_counts_as_closed() -> None:
    line = FollowUp(id="1", question="Is hay fever rare?", rewrite="Is hay fever rare?")
    assert rewriting_figures([rewrite(line)]).closed == 1.0
