"""Text in the quotation marks of five languages, and whether the evidence contains it."""

import pytest

from actors.gate.quotes import fabricated_quotes, quotations


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ('He said "yes" and "no".', ["yes", "no"]),
        ("She said “it is over”.", ["it is over"]),
        ("그는 ‘부당하다’라고 했다.", ["부당하다"]),
        ("그는 「법」과 『책』을 썼다.", ["법", "책"]),
        ("他说“好”。", ["好"]),
        ("Il dit : « c’est l’État ».", [" c’est l’État "]),
        ("قال «نعم».", ["نعم"]),
        ("``Roar'' is a song.", ["Roar"]),
        ("and it goes on” he said.", ["and it goes on"]),
        ("He began: “and then", ["and then"]),
        ("It’s the boss’ desk, don’t.", []),
        ('A 5" pipe.', []),
        ("“[1]”", []),
    ],
)
def test_quotations(sentence: str, quoted: list[str]) -> None:
    assert quotations(sentence) == quoted


@pytest.mark.parametrize(
    ("sentence", "text", "wrong"),
    [
        ("She said “It is OVER!”", "she said it is over.", False),
        ("She said “it … over”.", "it is nearly over", False),
        ("She said “over … it”.", "it is nearly over", True),
        ("She said “it is\u200b over”.", "it is\nover", False),
        ("She said “it is done”.", "it is over", True),
        ("그는 “부당 하다”고 했다.", "“부당하다”는 말", False),
        ("他说“不好”。", "他说“好”。", True),
    ],
)
def test_fabricated(sentence: str, text: str, wrong: bool) -> None:
    assert bool(list(fabricated_quotes(sentence, ["nothing", text]))) is wrong
