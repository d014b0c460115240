"""Personal data is masked and look-alikes are not, in a text and in a stream of pieces, at the same length and in linear time."""

import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.masking import MASK, MaskStream, mask, masked, values_in
from index.source_paths import source_path

FORMS = tomllib.loads(Path(__file__).with_name("personal_data.toml").read_text(encoding="utf-8"))["form"]
TEXTS = [form["text"] for form in FORMS]
#: Words, and what joins and parts them, for texts made of the forms.
JOINTS = (" ", ", ", ". ", "\n", " [1]. ", "。", " 2020 ", " - ")

texts = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(JOINTS)), max_size=4).map(
    lambda parts: "".join(text + joint for text, joint in parts)
)
noise = st.text(alphabet='0123456789-+() .,/@ab가é·MX∗０－＠~*①¹공일"', max_size=40)


@pytest.mark.parametrize("form", FORMS, ids=TEXTS)
def test_form_is_masked_or_left_alone(form: dict[str, str]) -> None:
    text = form["text"]
    shown = zip(form.get("shown", text), text, strict=True)
    assert mask(text) == "".join(MASK if new == "*" != old else new for new, old in shown)


@settings(derandomize=True)
@given(st.one_of(texts, noise))
def test_mask_keeps_length_and_is_idempotent(text: str) -> None:
    hidden = mask(text)
    assert len(hidden) == len(text)
    assert all(new in (old, MASK) for new, old in zip(hidden, text, strict=True))
    assert mask(hidden) == hidden


@settings(derandomize=True, max_examples=300)
@given(st.one_of(texts, noise), st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_pieces_are_masked_like_the_whole(text: str, sizes: list[int]) -> None:
    stream, shown, at, step = MaskStream(), "", 0, 0
    while at < len(text):
        size = sizes[step % len(sizes)]
        shown += stream.feed(text[at : at + size])
        at, step = at + size, step + 1
    assert shown + stream.finish() == mask(text)


@pytest.mark.parametrize("form", [form for form in FORMS if "shown" in form], ids=lambda form: form["text"])
def test_half_a_number_is_never_shown(form: dict[str, str]) -> None:
    """Letter by letter, nothing is shown that the mask of the whole does not show."""
    stream, shown = MaskStream(), ""
    for letter in form["text"]:
        shown += stream.feed(letter)
        assert mask(form["text"]).startswith(shown)


def test_ordinary_words_do_not_wait() -> None:
    stream = MaskStream()
    assert stream.feed("The shop opens at nine on weekdays. ") == "The shop opens at nine on weekdays. "
    assert stream.feed("It was so in 2020 [1]. ") == "It was so in 2020 [1]. "
    assert stream.feed("儿童每天应在户外活动2小时。") == "儿童每天应在户外活动2小时。"


@pytest.mark.parametrize(
    "unit",
    [
        "1-", "1 ", "11 ", "1/", "1,", "1.", "12-34 ", "a.a.a.@", "a@a.", "@", "a@b.c ", " at a dot ", "(at)", "M1", "1~",
        "1**-**", "010*", "①", "¹", "공일공-", "fr7", '"@', "FR76 ", "+1 (", "0", "전화 1 ",
    ],
)  # fmt: skip
def test_work_is_linear_in_the_length(unit: str) -> None:
    def took(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        began = time.process_time()
        mask(text)
        return time.process_time() - began

    mask(unit)
    short, long = min(took(2_000) for _ in range(3)), min(took(20_000) for _ in range(2))
    assert long < 10 * 4 * max(short, 0.002)


@pytest.mark.parametrize("kind", ["account", "passport", "identity"])
def test_labelled_value_is_masked_without_its_label_too(kind: str) -> None:
    for form in (form for form in FORMS if form["kind"] == kind):
        values = values_in([form["text"]])
        assert values
        for value in values:
            assert value not in mask(f"It is {value}.", known=values)
            assert value not in mask(f"{value}입니다", known=values)


def test_source_path_masks_its_id() -> None:
    path = source_path("desks/ann lee+ann.lee@shop.example 010-2345-6789.md", 10100, 20345678)
    hidden = masked({"url": path})["url"]
    assert hidden.startswith("/sources/desks/")
    assert hidden.endswith(".md?start=10100&end=20345678")
    assert not [raw for raw in ("ann.lee", "shop.example", "2345") if raw in hidden.partition("?")[0]]
    assert masked({"url": "/sources/a%20b.md?start=1&end=12345678"})["url"] == "/sources/a%20b.md?start=1&end=12345678"
    assert "010" not in masked({"answer": "/sources/x.md?start=010-2345-6789&end=1"})["answer"]
