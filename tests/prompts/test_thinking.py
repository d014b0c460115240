"""Thinking is removed completely, for any marks and any split of the text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.thinking import Thinking, without_thinking

SAID = "Hello, [1] says a < b."
#: A text, and the remaining text.
ROWS = {
    "<think>plan</think>" + SAID: SAID,
    "<thinking>plan</thinking>" + SAID: SAID,
    "<reasoning>plan</reasoning>\n" + SAID: "\n" + SAID,
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
    "<think>a<think>b</think>c</think>Hi": "Hi",
    "One. <think>plan</think>Two. <think>plan</think>Three.": "One. Two. Three.",
    "<think>plan that never ends": "",
    "Hi. <think>plan that never ends": "Hi. ",
    "plan that nothing opened</think>Hi": "Hi",
    "plan</think>plan</think>Hi": "Hi",
    "plan [/THINK]Hi": "Hi",
    "plan <|channel|>final<|message|>Hi": "Hi",
    "The tag `<think>` opens it [1].": "The tag `<think>` opens it [1].",
    "```xml\n<think>\n</think>\n```\n": "```xml\n<think>\n</think>\n```\n",
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
    ["<think>", "</think>", "<", "`", "```\n", "\n", "[", "[/THINK]", "<|channel|>", "analysis", "<|message|>", "final", "<|end|>",
     "<|start|>assistant", "◁think▷", "◁/think▷", "plan", " a", "assistantfinal", "[1]", "\u200b", "＜think＞", "<answer>", "</"]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(PARTS, max_size=12).map("".join), st.data())
def test_every_cut_gives_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    bounds = [0, *cuts, len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    assert in_pieces(pieces) == without_thinking(text)


@settings(max_examples=200)
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
