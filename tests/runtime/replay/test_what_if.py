"""What would have become of runs: without a source, with other values, another prompt, another profile."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bus.wire.messages import QuestionAsked
from prompts.files import FOLDER
from runtime.cli import groundwire
from runtime.engines.scripted.engine import ScriptedEngine
from runtime.replay.trace import write
from tests.made_runs import made, passage

PAGES = (
    passage("refunds.md", "Refunds are paid within 14 days of the return. Shipping costs 3,000 won.", "en", 1),
    passage("opening.md", "The shop opens at nine on weekdays. On Saturdays it opens at ten.", "en", 2),
)


class Saying(ScriptedEngine):
    needs_rendering = True


@pytest.fixture
async def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, asked in (("refunds", "How many days until refunds are paid?"), ("opening", "When does the shop open?")):
        write(tmp_path / f"{name}.jsonl", await made(QuestionAsked(question=asked, language="en"), PAGES, name))
    asked = QuestionAsked(question="How many days until refunds are paid?", language="en")
    model = Saying({"answer_simple": "Refunds are paid within 14 days of the return [1]."})
    write(tmp_path / "model.jsonl", await made(asked, PAGES, "model", model))


def replayed(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(groundwire, ["replay", *arguments])
    return done.exit_code, done.output


def test_runs_go_without_a_source(runs: None) -> None:
    code, told = replayed("refunds.jsonl", "opening.jsonl", "--without", "refunds.md")
    assert code == 0, told
    first, second, sums = told.splitlines()
    assert first.startswith("refunds  answered -> ")
    assert second.endswith(", the same")
    assert sums == "2 runs: 1 with another outcome, 1 the same"


def test_values_are_set_for_question_and_profile(runs: None) -> None:
    assert "the same" in replayed("refunds.jsonl", "--set", "voice=helpful")[1]
    declined = replayed("refunds.jsonl", "--set", 'policy_words={en=["refunds"]}')[1]
    assert "answered -> declined" in declined
    assert "the same" in replayed("refunds.jsonl", "--set", "max_answer_chars=900")[1]
    told = replayed("refunds.jsonl", "--set", "retrieval.k=4")[1]
    assert "not told: the record has no hits" in told
    assert "--index lets" in told


def test_one_run_shows_its_difference(runs: None) -> None:
    code, told = replayed("refunds.jsonl", "--without", "refunds.md", "--out", "other.jsonl")
    assert code == 0, told
    assert "the runs differ at" in told, told
    assert replayed("other.jsonl")[1].startswith("identical")


def test_recorded_reply_to_another_prompt_is_told(runs: None) -> None:
    Path("answer_simple.prompt").write_text(
        (FOLDER / "answer_simple.prompt").read_text().replace('{{role "user"}}', 'Be brief.\n\n{{role "user"}}')
    )
    code, told = replayed("model.jsonl", "--prompt", "answer_simple.prompt")
    assert code == 0, told
    assert "answer_simple: answer_simple: recorded, scripted:script; the prompt has changed since" in told
    filled = replayed("model.jsonl", "--prompt", "answer_simple.prompt", "--fill", "scripted")[1]
    assert "answer_simple: answer_simple: scripted:script\n" in filled


def test_several_runs_fork(runs: None) -> None:
    code, told = replayed("refunds.jsonl", "opening.jsonl", "--from", "select_evidence")
    assert code == 0
    assert told.count("it has the messages of its parent") == 2
    assert len([*Path.cwd().glob("*.jsonl")]) == 5
    code, told = replayed("refunds.jsonl", "--from", "answer_hint")
    assert (code, "never reached answer_hint" in told) == (1, True)


def test_end_of_an_id_names_a_source(runs: None) -> None:
    assert "answered -> " in replayed("refunds.jsonl", "--without", "unds.md")[1]


def test_several_runs_are_replayed(runs: None) -> None:
    code, told = replayed("refunds.jsonl", "opening.jsonl")
    assert code == 0
    assert [line.split(":")[:2] for line in told.splitlines()] == [
        ["refunds.jsonl", " identical"],
        ["opening.jsonl", " identical"],
    ]


WRONG = [
    (("--set", "voice"), "is no KEY=VALUE"),
    (("--set", "voice=loud"), "--set voice=loud"),
    (("--set", "nothing.at.all=1"), "profiles show general"),
    (("--prompt", "nobody.prompt"), "there is no prompt 'nobody'"),
    (("--search",), "add --index DIR"),
    (("--from", "retrieve", "--without", "a.md"), "leave out --from"),
    (("--without", "nobody.md"), "the search of no run found that source"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_wrong_option_is_one_line(runs: None, arguments: tuple[str, ...], says: str) -> None:
    Path("nobody.prompt").touch()
    code, told = replayed("refunds.jsonl", *arguments)
    assert code == 2
    assert says in told.splitlines()[-1]
