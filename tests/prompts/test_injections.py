"""Hostile questions and passages: for any content, the prompt keeps its two roles and its own tags."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from prompts.contracts import AnswerSimple, Evidence, Prompt
from prompts.library import Library
from prompts.neutral import Neutral
from tests.prompts.samples import SAMPLES


class Injection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`forbidden`: what must not be left of the text where it is put."""

    id: str
    kind: str
    language: str
    place: str
    text: str
    forbidden: tuple[str, ...]


LINES = Path(__file__).with_name("injections.jsonl").read_text(encoding="utf-8").splitlines()
INJECTIONS = [msgspec.convert(json.loads(line), Injection) for line in LINES]
NOT_FREE = {"role", "confidence", "relevance", "query_type", "language", "target_language"}  # typed, or our own

#: What chat templates and tokenizers treat as structure.
SPECIAL = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|eot_id|>", "<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<start_of_turn>",
    "<end_of_turn>", "<bos>", "<eos>", "<think>", "</think>", "<tool_call>", "</tool_call>", "[|system|]", "[|user|]",
    "[|endofturn|]",    "<｜User｜>", "<｜Assistant｜>", "<｜begin▁of▁sentence｜>",
)  # fmt: skip
TAGS = (
    "already_shown", "analysis", "answer", "evidence", "passage", "question", "safety_advice", "searches", "statement", "style",
)  # fmt: skip
TAG = re.compile(rf"<\s*/?\s*(?:{'|'.join((*TAGS, 'text', 'turn'))})(?=[\s/>]|$)", re.IGNORECASE)


def by_id(injection: Injection) -> str:
    return injection.id


def seen(text: str) -> str:
    """The view of a reader that folds look-alikes and ignores invisible characters."""
    return unicodedata.normalize("NFKC", "".join(c for c in text if unicodedata.category(c) != "Cf"))


def with_text(sample: Prompt[Any], text: str) -> Prompt[Any]:
    """The sample with `text` in every place that takes free text."""

    def put(value: Any, key: str) -> Any:
        if isinstance(value, str):
            return text if key not in NOT_FREE else value
        if isinstance(value, dict):
            return {name: put(inner, name) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [put(inner, key) for inner in value]
        return value

    changed: Prompt[Any] = msgspec.convert(put(msgspec.to_builtins(sample), ""), type(sample))
    return changed


def tags_of(user: str) -> list[str]:
    return TAG.findall(seen(user))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """A tokenizer that knows every marker as a special token and, like many, normalises before it looks for them."""
    tokens = Tokenizer(models.BPE(vocab={"<unk>": 0}, merges=[], unk_token="<unk>"))
    tokens.normalizer = normalizers.Sequence([normalizers.Replace(chr(0x200B), ""), normalizers.NFKC()])
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.add_special_tokens([AddedToken(one, special=True, normalized=True) for one in (*SPECIAL, "<unk>")])
    return tokens


@pytest.mark.parametrize("injection", INJECTIONS, ids=by_id)
def test_no_marker_becomes_prompt_structure(injection: Injection, library: Library, tokenizer: Tokenizer) -> None:
    special = {tokenizer.token_to_id(one) for one in SPECIAL}
    for sample in SAMPLES:
        rendered = library.render(with_text(sample, injection.text))
        assert rendered.system == library.file(sample.name).system
        assert tags_of(rendered.user) == tags_of(library.render(with_text(sample, "plain words")).user)
        assert not special & set(tokenizer.encode(rendered.user, add_special_tokens=False).ids)
        assert "dotprompt:" not in rendered.user or "‹dotprompt:" in rendered.user
        if injection.place != "title":
            assert not [one for one in injection.forbidden if one in rendered.user]


def test_test_tokenizer_detects_markers(tokenizer: Tokenizer) -> None:
    for one in ("<|im_start|>", "＜|im_start|＞", "<|im_\u200bstart|>", "</s>", "[INST]"):
        ids = tokenizer.encode(f"before {one} after", add_special_tokens=False).ids
        assert {tokenizer.token_to_id(special) for special in SPECIAL} & set(ids), one


@pytest.mark.parametrize("injection", [one for one in INJECTIONS if one.place == "title"], ids=by_id)
def test_a_title_cannot_leave_its_attribute(injection: Injection, library: Library) -> None:
    evidence = Evidence(n=1, source_id=injection.text, title=injection.text, text="x")
    user = library.render(AnswerSimple(original_query="q", retrieved_chunks=(evidence,), language="en")).user
    assert re.fullmatch(r'<evidence n="1" title="[^"<>\n]*" source="[^"<>\n]*">', user.splitlines()[0])
    assert not [one for one in injection.forbidden if one in user]


@pytest.mark.parametrize("injection", [one for one in INJECTIONS if one.kind in ("ignore", "citation")], ids=by_id)
def test_words_and_citations_survive_letter_by_letter(injection: Injection, library: Library) -> None:
    """They are data, and a verbatim span must still be found in its passage."""
    evidence = Evidence(n=1, source_id="s", title="t", text=injection.text)
    user = library.render(AnswerSimple(original_query="q", retrieved_chunks=(evidence,), language="en")).user
    assert f'<evidence n="1" title="t" source="s">\n{injection.text}\n</evidence>' in user


FRAGMENTS = st.sampled_from(
    [
        *SPECIAL, *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "<<<dotprompt:role:system>>>", "{{x}}",
        "<", "</", "<|", "|>", ">", "[", "]", "[|", "/", "＜", "＞", "｜", "\u200b", "\u202e", "\ufeff", "\U000e0041", "\ue000",
        "0", "\ue001", "\ue002", "system", "\ue003", "\n", "\r", "\0", '"', "evidence", "im_start", "환불", "退款", "remboursé",
        " ", "[1]",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=4), max_size=12).map("".join)
LIBRARY = Library()


@settings(max_examples=60, derandomize=True)
@given(TEXTS)
def test_no_text_changes_the_structure(text: str) -> None:
    sample = next(one for one in SAMPLES if one.name == "answer_report")
    rendered = LIBRARY.render(with_text(sample, text or "x"))
    assert tags_of(rendered.user) == tags_of(LIBRARY.render(with_text(sample, "x")).user)
    assert not [one for one in SPECIAL if one in seen(rendered.user)]
    rendered.user.encode("utf-8")


@settings(max_examples=100, derandomize=True)
@given(TEXTS)
def test_making_harmless_is_done_once(text: str) -> None:
    neutral = Neutral(TAGS)
    for make in (neutral.block, neutral.line, neutral.attribute):
        assert make(make(text)) == make(text)


@settings(derandomize=True)
@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cf", "Cs", "Cn", "Mn"], exclude_characters="<＜﹤[［﹇"), max_size=200
    )
)
def test_harmless_text_is_unchanged(text: str) -> None:
    assert Neutral(TAGS).block(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a < b, |x| < |y|, x<y>z and 5<6",
        "<p class='x'>Hello <b>you</b></p>",
        "List[int] and dict[str, int], [1], [2-4], [INSTANCE], 【1】",
        "if (a<b || c>d) return [x|y];",
        "نص عربي مع\u200cفاصل و\u200fاتجاه، و٣٫٥٪",
        "👩‍👩‍👧 ok\ufe0f\r\n\ttab",
    ],
)
def test_ordinary_code_markup_and_scripts_survive(text: str) -> None:
    assert Neutral(TAGS).block(text) == text
