"""The input of a model: the golden text of every prompt, its contract, overrides and limits; thinking is removed."""

import os
import re
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from dotpromptz import DataArgument, Dotprompt
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.contracts import (
    PROMPTS,
    AnswerSimple,
    AnswerStructured,
    AnswerSynthesis,
    Evidence,
    GuardLanguage,
    JudgeRelevance,
    Prompt,
)
from prompts.library import FOLDER, Library
from prompts.profiles import AgentName, AgentOverride
from prompts.thinking import Thinking, without_thinking
from tests.prompts.samples import CHUNKS, EVIDENCE, SAMPLES

GOLDEN = Path(__file__).with_name("golden")
NAMES = [prompt.name for prompt in PROMPTS]


def by_name(prompt: Prompt[Any]) -> str:
    return prompt.name


def test_every_contract_has_one_file_and_sample() -> None:
    assert sorted(path.stem for path in FOLDER.glob("[!_]*.prompt")) == sorted(NAMES)
    assert [sample.name for sample in SAMPLES] == NAMES == list(get_args(AgentName))


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
def test_rendered_prompts_are_the_golden_ones(sample: Prompt[Any], library: Library) -> None:
    """Set GOLDEN=write to rewrite them, then read the diff."""
    rendered = library.render(sample)
    text = f"=== system\n{rendered.system}\n=== user\n{rendered.user}\n"
    file = GOLDEN / f"{sample.name}.txt"
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
def test_every_variable_reaches_the_prompt(sample: Prompt[Any], library: Library) -> None:
    rendered = library.render(sample)
    shown_by_name = {"language": "", "target_language": "", "query_type": "", "must_cite": ""}
    for field in sample.__struct_fields__:
        value = getattr(sample, field)
        if isinstance(value, str) and value and field not in shown_by_name:
            assert value in rendered.user, field
    assert re.search(r"\b(Korean|English|Chinese|French|Arabic)\b", rendered.user) or sample.name == "select_evidence"


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
def test_evidence_precedes_the_question(sample: Prompt[Any], library: Library) -> None:
    user = library.render(sample).user
    evidence = max(user.rfind("</evidence>"), user.rfind("</passage>"))
    asked = re.search(r"<(question|statement|answer)\b", user)
    if evidence >= 0:
        assert asked is not None
        assert evidence < asked.start()


@pytest.mark.parametrize("language", ["ko", "zh", "fr", "ar"])
@pytest.mark.parametrize("name", NAMES)
def test_examples_are_in_five_languages(name: str, language: str, library: Library) -> None:
    script = {"ko": "[가-힣]", "zh": "[一-鿿]{2}", "fr": r"[éèêàçù]|Délai|Quel|Qui ", "ar": "[ء-ي]"}[language]
    assert re.search(script, library.file(name).system.partition("Examples")[2] or library.file(name).system)


@pytest.mark.parametrize("sample", SAMPLES, ids=by_name)
async def test_plain_dotprompt_reader_agrees(sample: Prompt[Any], library: Library) -> None:
    """Our files are plain Dotprompt: with harmless values its own renderer gives our text."""
    from prompts.library import _constants, _data

    partials = {p.stem[1:]: p.read_text("utf-8").strip() + "\n" for p in FOLDER.glob("_*.prompt")}
    source = (FOLDER / f"{sample.name}.prompt").read_text("utf-8")
    data = _data(sample) | _constants(sample)
    reply: Any = await Dotprompt(partials=partials).render(source, DataArgument[Any](input=data))
    texts = {message.role.value: "".join(part.text for part in message.content).strip() for message in reply.messages}
    ours = library.render(sample)
    written, *_ = ours.system.split("\nLongest texts and lists of the reply: ")
    assert texts == {"system": written, "user": ours.user}


def test_override_changes_only_its_fields() -> None:
    changed = Library({"judge_relevance": AgentOverride(temperature=0.0, model="small", reasoning_effort="low")})
    rendered, other = (
        changed.render(next(one for one in SAMPLES if isinstance(one, kind))) for kind in (JudgeRelevance, AnswerSimple)
    )
    assert (rendered.temperature, rendered.max_tokens, rendered.model) == (0.0, 1000, "small")
    assert (rendered.reasoning_effort, other.reasoning_effort) == ("low", "")
    assert changed.version("judge_relevance") == Library().version("judge_relevance")


def test_max_tokens_follow_request_and_text(library: Library) -> None:
    assert (
        library.render(AnswerStructured(question="q", contexts=EVIDENCE, language="en", max_tokens=77)).max_tokens == 77
    )
    assert library.render(GuardLanguage(text="x", target_language="en")).max_tokens == 64
    assert library.render(GuardLanguage(text="x" * 500, target_language="en")).max_tokens == 1000
    assert library.render(GuardLanguage(text="x" * 9000, target_language="en")).max_tokens == 2000


def test_version_changes_with_included_files(tmp_path: Path) -> None:
    before = Library(folders=(tmp_path,))
    (tmp_path / "_cite.prompt").write_text("Cite nothing.", encoding="utf-8")
    after = Library(folders=(tmp_path,))
    changed = {name for name in NAMES if before.version(name) != after.version(name)}
    assert changed == {"answer_simple", "answer_report", "answer_synthesis", "answer_structured", "answer_hint"}


def test_passages_are_numbered_like_the_reply(library: Library) -> None:
    sample = next(one for one in SAMPLES if one.name == "select_evidence")
    assert re.findall(r'<passage n="(\d)" source="([^"]*)"', library.render(sample).user) == [
        ("1", CHUNKS[0].source_file),
        ("2", CHUNKS[1].source_file),
    ]


@pytest.mark.parametrize(
    "first", [one for one in SAMPLES if one.name.startswith("answer") or one.name == "select_evidence"], ids=by_name
)
def test_questions_with_equal_evidence_share_a_prefix(first: Prompt[Any], library: Library) -> None:
    """What a prefix cache can keep: the instructions, and every word of the evidence."""
    asked = next(field for field in ("original_query", "query", "question") if hasattr(first, field))
    second = msgspec.structs.replace(first, **{asked: "？"})
    one, two = library.render(first), library.render(second)
    texts = one.system + one.user, two.system + two.user
    shared = "".join(a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    last = max(shared.rfind("</evidence>"), shared.rfind("</passage>"))
    assert last > len(one.system)
    assert not re.search(r"<(evidence|passage)\b", texts[0][len(shared) :])


def test_source_without_a_title_shows_its_id(library: Library) -> None:
    evidence = Evidence(n=1, source_id="notes.md", title="", text="x")
    user = library.render(AnswerSynthesis(query="q", evidence=(evidence,), language="en")).user
    assert user.startswith('<evidence n="1" title="notes.md">')


def test_unknown_language_is_left_to_the_model(library: Library) -> None:
    rendered = library.render(AnswerStructured(question="Was?", contexts=EVIDENCE, language="de"))
    assert "Answer in the language of the question" in rendered.user


SAID = "Hello, [1] says a < b."
#: A text, and the remaining text.
ROWS = {
    "<think>plan</think>" + SAID: SAID,
    "<thinking>plan</thinking>" + SAID: SAID,
    "<reasoning>plan</reasoning>\n" + SAID: SAID,
    "<analysis lang='en'>plan</analysis>" + SAID: SAID,
    "<THINK>plan</Think>" + SAID: SAID,
    "＜ｔｈｉｎｋ＞plan＜/think＞" + SAID: SAID,
    "<th\u200bink>plan</thi\u00adnk>" + SAID: SAID,
    "< think >plan< / think >" + SAID: SAID,
    "<seed:think>plan</seed:think>" + SAID: SAID,
    "<longcat_think>plan</longcat_think>" + SAID: SAID,
    "<think/>" + SAID: SAID,
    "[THINK]plan[/THINK]" + SAID: SAID,
    "◁think▷plan◁/think▷" + SAID: SAID,
    "<|begin_of_thought|>plan<|end_of_thought|><|begin_of_solution|>Hi<|end_of_solution|>": "Hi",
    "<|START_THINKING|>plan<|END_THINKING|><|START_RESPONSE|>Hi<|END_RESPONSE|>": "Hi",
    "<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>": "Hi",
    "<|channel|>analysis<|message|>plan<|channel|>final<|message|>Hi": "Hi",
    "<|channel|>commentary to=x <|constrain|>json<|message|>{}<|call|>Hi": "Hi",
    "analysisWe plan.assistantfinalHi": "Hi",
    "<|channel>thought\nplan<channel|>Hi": "Hi",
    "<|inner_prefix|>plan<|inner_suffix|>Hi": "Hi",
    "<unused94>plan<unused95>Hi": "Hi",
    "<think>plan</think><answer>Hi</answer>": "Hi",
    "Hi</s>": "Hi",
    "Hi<|im_end|>": "Hi",
    "<think>a<think>b</think>c</think>Hi": "Hi",
    "<think>plan</think>\n\nHi\n\nthere": "Hi\n\nthere",
    "plan\n</think>\r\n\nHi": "Hi",
    "\nHi": "\nHi",
    "Hi<think>plan</think>\n\n- one": "Hi\n\n- one",
    "One. <think>plan</think>Two. <think>plan</think>Three.": "One. Two. Three.",
    "<think>plan that never ends": "",
    "Hi. <think>plan that never ends": "Hi. ",
    "plan that nothing opened</think>Hi": "Hi",
    "plan</think>plan</think>Hi": "Hi",
    "plan [/THINK]Hi": "Hi",
    "plan <|channel|>final<|message|>Hi": "Hi",
    "The tag `<think>` opens it [1].": "The tag `<think>` opens it [1].",
    "```xml\n<think>\n</think>\n```\n": "```xml\n<think>\n</think>\n```\n",
    "</think>< a`<|end|></think>`": "< a`</think>`",
    "I think, as an assistant, <b>reason</b> [2] ＜ <thinker>.": "I think, as an assistant, <b>reason</b> [2] ＜ <thinker>.",
}  # fmt: skip


@pytest.mark.parametrize("text", ROWS)
def test_remaining_text(text: str) -> None:
    assert without_thinking(text) == ROWS[text]


def in_pieces(pieces: list[str]) -> str:
    thinking, left, taken_back = Thinking(), "", 0
    for piece in [*pieces, None]:
        found = thinking.finish() if piece is None else thinking.feed(piece)
        if thinking.taken_back > taken_back:
            left, taken_back = "", thinking.taken_back
        left += found
    return left


@pytest.mark.parametrize("text", ROWS)
def test_one_character_at_a_time(text: str) -> None:
    assert in_pieces(list(text)) == ROWS[text]


PARTS = st.sampled_from(
    ["<think>", "</think>", "<", "`", "```\n", "\n", " \n", "[", "[/THINK]", "<|channel|>", "analysis", "<|message|>", "final",
     "<|end|>", "<|start|>assistant", "◁think▷", "◁/think▷", "plan", " a", "assistantfinal", "[1]",
     "\u200b", "＜think＞", "<answer>", "</"]
)  # fmt: skip


@settings(max_examples=100)
@given(st.lists(PARTS, max_size=12).map("".join), st.data())
def test_every_cut_gives_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    bounds = [0, *cuts, len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    assert in_pieces(pieces) == without_thinking(text)


@given(st.lists(PARTS, max_size=12).map("".join), st.sampled_from(["<think>", "[think]", "◁think▷", "<|think|>"]))
def test_text_after_an_open_mark_is_dropped(before: str, mark: str) -> None:
    if "`" not in before:
        assert "SECRET" not in without_thinking(f"{before}{mark}SECRET")


def test_long_thought_takes_linear_time() -> None:
    thinking = Thinking()
    thinking.feed("<think>")
    for _ in range(20_000):
        assert thinking.feed("no line ends here < ") == ""
    assert thinking.feed("</think>Hi") + thinking.finish() == "Hi"
