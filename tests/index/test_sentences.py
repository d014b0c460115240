"""Sentence ends in five languages, and the same ends however a text arrives in pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.text.sentences import SentenceStream, split

ROWS = [
    # English
    "Refunds take seven days.|They cost 3.50 euros.",
    "Dr. J. Smith wrote it in Jan. 2010.|Mr. Lee agreed.",
    "It works, e.g. in No. 5 of vol. 2, at 3 p.m. on Friday.",
    "He lives in the U.S.|The law differs there.",
    "The U.S. Senate met.|It voted.",
    "He works for Acme Inc.|The shares rose.",
    "Acme Inc. shares rose.",
    "It costs 5 euros. [1]|It is new.[2][3]|And red [4].|Blue.",
    "“It is over.”|He left (at last.)|Fine.",
    "Really?!|Yes...|Perhaps... not.|See www.example.com/a.b?c=d for more.",
    '"What?" he asked.|Nobody knew.',
    # Chinese
    "手术后休息一周。|他问：“可以吗？”|可以！|费用3.5万元。[1]|完",
    "真的吗?|是的。",
    # Korean
    "환불은 7일 안에 됩니다.|가능할까요?|네, 됩니다!",
    "환불했다.|2010. 3. 5. 에 시작했다.",
    "출시일은 2010년 3월 5일이다.[1]|끝.",
    # French
    "M. Dupont paie 1 234,50 €.|Mme Roy aussi !|Pourquoi ?|Voir art. 5 et p. 12.",
    "Il a dit : « C'est fini. »|Puis il est parti.",
    # Arabic
    "ما هذا؟|هذا كتاب.|وصل د. أحمد سنة 1990 م.|ثم عاد۔",
]


def _pieces(row: str) -> list[str]:
    return row.split("|")


@pytest.mark.parametrize("row", ROWS)
def test_split(row: str) -> None:
    for glue in (" ", "\n\n"):
        text = glue.join(_pieces(row))
        assert [text[start:end] for start, end in split(text)] == _pieces(row)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("真的。是吗？“好。”他走了。", ["真的。", "是吗？", "“好。”", "他走了。"]),
        ("환불했다.그는 갔다.", ["환불했다.", "그는 갔다."]),
        ("عاد الرجل.ثم ذهب.", ["عاد الرجل.", "ثم ذهب."]),
        ("It is so.[1]Next one.", ["It is so.[1]", "Next one."]),
        (
            "# 1. Title\nFirst line\nwraps here.\n- one\n- two\n1. three. Four",
            ["# 1. Title", "First line\nwraps here.", "- one", "- two", "1. three.", "Four"],
        ),
        ("| a. b | c |\n|---|---|\n| 1 | 2 |", ["| a. b | c |", "| 1 | 2 |"]),
        ("Bring:\nbread\na) milk\nb) tea", ["Bring:", "bread", "a) milk", "b) tea"]),
        ("첫째 줄\n둘째 줄", ["첫째 줄", "둘째 줄"]),
        ("  \n ... \n", []),
        ("", []),
    ],
)
def test_split_exactly(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == sentences


def _stream(chunks: list[str]) -> list[str]:
    stream = SentenceStream()
    return [sentence for chunk in chunks for sentence in stream.feed(chunk)] + stream.finish()


_ALPHABET = st.sampled_from(
    [
        *" \n.!?。？؟…[]1234９١,-–)»”\"'abAIT:|#*",
        "다",
        "요",
        "近",
        "م",
        "Dr",
        "e.g",
        " The ",
        "Inc",
        "U.S",
        " [1]",
        ". ",
        "。",
        "No",
        "\n- ",
        "\u00a0",
    ]
)
_TEXT = st.one_of(
    st.lists(_ALPHABET, max_size=40).map("".join), st.sampled_from([row.replace("|", " ") for row in ROWS])
)


@settings(max_examples=400)
@given(_TEXT, st.lists(st.integers(1, 6), max_size=60))
def test_any_chunking_gives_the_same_sentences(text: str, sizes: list[int]) -> None:
    chunks: list[str] = []
    at = 0
    for size in sizes:
        chunks.append(text[at : at + size])
        at += size
    chunks.append(text[at:])
    whole = _stream([text])
    assert "".join(whole) == text
    assert _stream(chunks) == whole
    assert _stream(list(text)) == whole
    trimmed = [sentence.strip() for sentence in whole if any(map(str.isalnum, sentence))]
    assert [text[start:end] for start, end in split(text)] == trimmed


def test_sentence_is_released_when_the_next_begins() -> None:
    stream = SentenceStream()
    assert stream.feed("환불은 됩니다.") == []
    assert stream.feed(" [1]") == []
    assert stream.feed(" 그") == ["환불은 됩니다. [1] "]
    assert stream.finish() == ["그"]
