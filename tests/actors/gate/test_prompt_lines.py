"""Instructions of our prompts and marks of chat templates are recognised, unless the cited evidence has them."""

import pytest

from actors.gate.check import check_sentence, withholds
from actors.gate.prompt_lines import INSTRUCTIONS, prompt_lines
from prompts.contracts import Evidence

LONG = [line for line in INSTRUCTIONS if len(line.split()) >= 8]
MARKS = [
    "<|im_start|>system", "<|im_end|>", "[INST] Do it [/INST]", "<<SYS>>", "<start_of_turn>user", "<|begin_of_text|>", "</s>",
    "<|start_header_id|>", "[SYSTEM_PROMPT]", "<evidence n=\"1\">", "<question>", "＜|im_start|＞", "Human: hello",
]  # fmt: skip


@pytest.mark.parametrize("line", LONG)
def test_instruction_is_recognised_exactly_and_nearly(line: str) -> None:
    assert prompt_lines(line, ["Refunds are paid within 14 days."])
    words = line.split()
    words[len(words) // 2] = "something"
    if len(words) > 14:
        assert prompt_lines(" ".join(words).upper(), [])
    item = Evidence(n=1, source_id="a", title="How we prompt", text=line)
    assert not prompt_lines(line, [item.text])


@pytest.mark.parametrize("mark", MARKS)
def test_the_marks_of_a_template(mark: str) -> None:
    item = Evidence(n=1, source_id="a", title="", text="Refunds are paid within 14 days.")
    flags = check_sentence(f"{mark} Refunds are paid within 14 days [1].", [item])
    assert "repeated_prompt" in {flag.kind for flag in flags}
    said = Evidence(n=1, source_id="a", title="", text=f"{mark} Refunds are paid within 14 days.")
    assert not withholds(check_sentence(f"{mark} Refunds are paid within 14 days [1].", [said]))


@pytest.mark.parametrize(
    "sentence",
    [
        "Refunds are paid within 14 days [1].",
        "The answer is in the evidence of the case, and the judge read it from beginning to end [1].",
        "Use `[n]` or <b>bold</b> letters, and write [see the note] where it helps [1].",
    ],
)
def test_other_sentences_repeat_nothing(sentence: str) -> None:
    assert prompt_lines(sentence, []) == ""
