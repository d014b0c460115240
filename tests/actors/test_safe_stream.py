"""An answer shown in pieces is as harmless as the same answer shown whole, wherever it is cut."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.text.links import defang
from actors.text.safe_stream import SafeStream
from index.text.fences import fences

SOURCE = "https://ok.example/a"
LINES = (Path(__file__).parents[1] / "prompts/injections.jsonl").read_text(encoding="utf-8").splitlines()
TEXTS = [
    *(json.loads(line)["text"] for line in LINES),
    "Call 010-1234-5678 or +82 10 1234 5678, mail kim.lee@example.org, card 4111 1111 1111 1111.",
    f"See [the rules]({SOURCE}) [1]. And [x](https://evil.example/y(1)) ![i](http://e.example/i.png) end. a < b, 5 > 3!",
    "It costs 1,000 won (5 %) [2][3].\nNext line <b>bold</b> &amp; more &#x41; done.\n[ref]: http://evil.example\n[1]: fine",
]


TEXTS += [
    "Run [1]:\n\n```html\n<b>[x](http://e.example)</b> & [open\n\n<!-- a -->\n```\nThen <i>go</i> on.",
    "Not a fence: ```\n<b>\n```\n and ``<i>`` [x](http://e.example).\n```\n<b> never closed",
]


def clean(text: str) -> str:
    """As an answer's text is cleaned, with all code taken for copied."""
    pieces, at = [], 0
    for fence in fences(text):
        pieces += [defang(text[at : fence.start], [SOURCE]), text[fence.start : fence.end]]
        at = fence.end
    return "".join([*pieces, defang(text[at:], [SOURCE])])


def shown(pieces: list[str]) -> str:
    flow = SafeStream(clean)
    return "".join([*(flow.feed(piece) for piece in pieces), flow.finish()])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("text", TEXTS)
def test_in_pieces_as_when_whole(text: str, size: int) -> None:
    assert shown([text[at : at + size] for at in range(0, len(text), size)]) == clean(text)


@settings(max_examples=150, derandomize=True)
@given(st.text(alphabet="a1 -.[](){}<>!&#:/@\nh", max_size=60), st.integers(1, 5))
def test_nothing_in_the_stream_is_clickable(text: str, size: int) -> None:
    told = shown([text[at : at + size] for at in range(0, len(text), size)])
    assert "](h" not in told
    assert "//h" not in told


def test_plain_words_do_not_wait_for_the_end() -> None:
    flow = SafeStream(clean)
    said = [flow.feed(piece) for piece in ("The shop ", "opens at ", "nine on ", "weekdays")]
    assert "".join(said) == "The shop opens at nine on "[: len("".join(said))]
    assert len("".join(said)) >= len("The shop opens at ")
