"""Which sentences of a text claim something, and where they are in the file that it was read from."""

import pytest

from actors.checking.claims import claims_of, placed, states
from index.readers import Source, read

TEXT = """# Leave

Hello! See [the guide](guide.md) for more. Staff have **20 days** of leave [1].
Do managers have more? The rules are:

- Parents have ten further days. They may divide these days freely.
- Managing change

| Grade | Days |
|---|---|
| Senior | 25 |

Leave is booked with the command `leave`.

```bash
leave --from monday
```
"""


def claimed(text: str) -> list[str]:
    document = read(Source(text.encode(), "text", "text", ".md"))
    return [claim.text for claim in claims_of(document) if claim.states]


def test_only_statements_are_claims() -> None:
    assert claimed(TEXT) == [
        "Staff have 20 days of leave.",
        "Parents have ten further days.",
        "They may divide these days freely.",
        "Grade: Senior | Days: 25",
        "Leave is booked with the command `leave`.",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Please read the whole contract before you sign it.",
        "자세한 내용은 취급 설명서를 읽어 주세요.",
        "请在开始之前阅读完整的说明书。",
        "Veuillez lire le contrat entier avant la signature.",
        "Por favor, lea todo el contrato antes de la firma.",
        "يرجى قراءة العقد كاملا قبل التوقيع.",
    ],
)
def test_instructions_claim_nothing(sentence: str) -> None:
    assert not states(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Contact lenses are worn at night by most patients.",
        "请假需要提前三天提出申请。",
        "La lecture du contrat dure vingt minutes.",
        "Los contratos se leen antes de la firma.",
        "직원은 연차를 이월할 수 있습니다.",
        "يقرأ الموظفون العقد قبل التوقيع.",
        "Please note that the contract has two parts.",
        "Veuillez noter que le contrat a deux parties.",
        "Tenga en cuenta que el contrato tiene dos partes.",
        "请注意，合同有两个部分。",
        "يرجى ملاحظة أن العقد من جزأين.",
    ],
)
def test_statements_claim_something(sentence: str) -> None:
    assert states(sentence)


def test_addresses_after_a_sentence_claim_nothing() -> None:
    text = (
        "- Staff have 20 days of leave.\n  https://example.org/leave https://example.org/days\n\nhttps://example.org/\n"
    )
    assert claimed(text) == ["Staff have 20 days of leave."]
    assert claimed("The form is at https://example.org/leave.") == ["The form is at https://example.org/leave."]


def test_places_are_in_the_file() -> None:
    claims = claims_of(read(Source(TEXT.encode(), "text", "text", ".md")))
    found = {claim.text: TEXT[claim.start : claim.end] for claim in placed(claims, TEXT)}
    assert found["See the guide for more."] == "See [the guide](guide.md) for more."
    assert found["Staff have 20 days of leave."] == "Staff have **20 days** of leave"
    assert found["They may divide these days freely."] == "They may divide these days freely."
    assert found["Grade: Senior | Days: 25"] == "Senior | 25"


def test_short_items_are_searched_with_their_lead() -> None:
    *_, claim = claims_of(read(Source(b"Parents have in addition:\n\n- 10 days\n", "text", "text", ".md")))
    assert claim.query == "Parents have in addition:\n10 days"
