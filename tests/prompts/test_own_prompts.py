"""An owner's own prompts, roles and rules: what takes precedence, what reaches the model, and what a check reports."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from actors.question.profile import PROFILES
from prompts.files import source_of
from prompts.library import ADDED, Library, problems_in
from prompts.profiles import AgentOverride
from runtime.commands.prompts import prompts_group
from runtime.engines.rendering import Renderer
from tests.prompts.samples import SAMPLES

SIMPLE = next(sample for sample in SAMPLES if sample.name == "answer_simple")
OURS = source_of("answer_simple")


def own(folder: Path, text: str, name: str = "answer_simple") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.prompt").write_text(text, encoding="utf-8")
    return folder


def test_role_and_rules_reach_the_prompts_they_are_for() -> None:
    rules = {"answer_simple": AgentOverride(rules=("Write for parents.",))}
    library, plain = Library(rules, role="A clinic for children's eyes."), Library()
    added = f"{ADDED}\n- A clinic for children's eyes.\n- Write for parents."
    assert library.render(SIMPLE).system == f"{plain.render(SIMPLE).system}\n\n{added}"
    assert library.version("answer_simple") != plain.version("answer_simple")
    assert library.file("verify_answer").system.endswith("- A clinic for children's eyes.")
    assert library.version("guard_language") == plain.version("guard_language")


def test_own_prompt_replaces_the_built_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(tmp_path, OURS.replace("You answer a question", "You, the librarian, answer a question"))
    own(tmp_path / "tutor", OURS.replace("You answer a question", "You, the teacher, answer a question"))
    monkeypatch.setattr(PROFILES, "folder", tmp_path)
    renderer = Renderer()
    assert renderer.render(SIMPLE, "general").system.startswith("You, the librarian,")
    assert renderer.render(SIMPLE, "tutor").system.startswith("You, the teacher,")
    result = CliRunner().invoke(prompts_group, ["diff", "--folder", str(tmp_path)])
    assert result.output.count("\n+You, the ") == 2
    assert CliRunner().invoke(prompts_group, ["check", "--folder", str(tmp_path)]).output == "2 own prompts: good\n"


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("answer_simpel", ("", ""), "there is no prompt 'answer_simpel'; did you mean 'answer_simple'?"),
        ("answer_simple", ("{{original_query}}", ""), "does not use {{original_query}}"),
        ("answer_simple", ("    style: string\n", ""), "input: must be that of the built-in prompt"),
        ("answer_simple", ("{{/each}}", ""), "is no usable prompt file"),
        ("answer_simple", ('{{role "user"}}', ""), "must have {{role"),
        ("answer_simple", ("config:", "configs:"), "is no usable prompt file"),
    ],
)
def test_wrong_prompt_is_named_with_the_remedy(
    tmp_path: Path, name: str, change: tuple[str, str], problem: str
) -> None:
    own(tmp_path, OURS.replace(*change), name)
    assert problem in " ".join(problems_in((tmp_path,)))


@pytest.mark.parametrize("command", ["check", "list"])
def test_commands_refuse_a_wrong_prompt(tmp_path: Path, command: str) -> None:
    own(tmp_path, OURS, "answer_simpel")
    result = CliRunner().invoke(prompts_group, [command, "--folder", str(tmp_path)])
    assert (result.exit_code, "there is no prompt 'answer_simpel'" in result.output) == (2, True)


def test_list_and_show_name_the_files(tmp_path: Path) -> None:
    own(tmp_path, OURS)
    shown = CliRunner().invoke(prompts_group, ["list", "--folder", str(tmp_path)]).output
    assert f"[{tmp_path / 'answer_simple.prompt'}]" in shown
    assert shown.count("[built in]") == len(SAMPLES) - 1
    assert CliRunner().invoke(prompts_group, ["show", "answer_simple"]).output == OURS
    assert "did you mean 'answer_simple'?" in CliRunner().invoke(prompts_group, ["show", "answer_simpel"]).output
