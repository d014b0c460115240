"""Numbers of an answer in reading order, wherever its text is cut into pieces, and the way back to the evidence's numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.numbering import Numbering, as_evidence, numbered, plain
from index.text.citations import markers

FIVE = frozenset(range(1, 6))
ANY = range(1000)


@pytest.mark.parametrize(
    ("written", "shown", "cited"),
    [
        ("A [1]. B [2].", "A [1]. B [2].", (1, 2)),
        ("A [4]. B [2]. C [4].", "A [1]. B [2]. C [1].", (4, 2)),
        ("A [4, 2]. B [2,3].", "A [1, 2]. B [2,3].", (4, 2, 3)),
        ("A [3-5].", "A [1-3].", (3, 4, 5)),
        ("A [2]. B [1–3].", "A [1]. B [1–3].", (2, 1, 3)),
        ("A [2]. B [4-5].", "A [1]. B [2, 3].", (2, 4, 5)),
        ("A［４］。B【2、3】", "A［１］。B【2、3】", (4, 2, 3)),
        ("أ [٤، ٢]. ب [٢].", "أ [١، ٢]. ب [٢].", (4, 2)),
        ("A[^4].", "A[^1].", (4,)),
        ("A [9]. B [3].", "A. B [1].", (3,)),
        ("A [3, 9] b.", "A [1] b.", (3,)),
        ("`a[4]` says A [4].", "`a[4]` says A [1].", (4,)),
        ("```\na[4]\n```\nA [4].", "```\na[4]\n```\nA [1].", (4,)),
        ("It's 5` long [4] and 3` wide.", "It's 5` long [4] and 3` wide.", ()),
        ("[2024] and [ x ] and [", "[2024] and [ x ] and [", ()),
        ("", "", ()),
    ],
)
def test_numbers_are_those_of_reading_order(written: str, shown: str, cited: tuple[int, ...]) -> None:
    assert numbered(written, FIVE) == (shown, cited)
    assert numbered(written, FIVE, active=False) == (written, ())


TEXT = st.lists(
    st.sampled_from(
        [
            "[1]",
            "[2]",
            "[4, 2]",
            "[3-5]",
            "［５］",
            "[٤]",
            "[",
            "]",
            "`",
            "```",
            "\n",
            " ",
            "a",
            "a.",
            "환불",
            "12",
            "-",
            ",",
        ]
    ),
    max_size=25,
).map("".join)


@given(TEXT, st.data())
def test_pieces_are_numbered_like_the_whole(text: str, data: st.DataObject) -> None:
    numbering, shown, at = Numbering(ANY), "", 0
    while at < len(text):
        size = data.draw(st.integers(1, 4))
        shown += numbering.feed(text[at : at + size])
        at += size
    shown += numbering.finish()
    whole, cited = numbered(text, ANY)
    assert markers(shown) == markers(whole)
    assert tuple(numbering.cited) == cited
    numbers = list(dict.fromkeys(n for marker in markers(whole) for n in marker.numbers))
    assert numbers == list(range(1, len(numbers) + 1))


@given(TEXT)
def test_the_way_back(text: str) -> None:
    known = numbered(text, ANY)
    assert plain(as_evidence(*known)) == plain(text)


def test_resumed_text_continues_the_numbers() -> None:
    first = Numbering(FIVE)
    shown = first.feed("A [4]. B [2]. ")
    second = Numbering(FIVE, first.cited)
    assert shown + second.feed("C [5, 4].") == "A [1]. B [2]. C [1, 3]."
