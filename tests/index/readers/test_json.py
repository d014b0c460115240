"""JSON as a person reads it, and which JSON stays code."""

import json

import pytest

from tests.index.readers.office import blocks, given

PROTOCOL = r"""{
  "id": "IL-7", "title": "Scorpion stings", "fee": 1.50, "seen": true, "left": null,
  "protocol": {
    "when_to_apply": "%s",
    "steps": [
      {"stepNumber": 1, "instruction": "Call 101.", "ask": {"if_yes": "Wait", "if_no": ["Go", "Run"]}},
      {"stepNumber": 2, "instruction": "Keep still."}
    ],
    "do_not": ["Do not cut.", "Do not \"cool\"."]
  },
  "country": "Israel"
}"""


def read(text: str) -> list[tuple[str, str]]:
    return blocks(given(text.encode(), ".json"))


def test_json_reads_as_text() -> None:
    when = "A person was stung. " * 12
    document = given((PROTOCOL % when).encode(), ".json")
    assert document.title == "Scorpion stings"
    assert blocks(document) == [
        ("heading", "Scorpion stings"),
        ("table_row", "id: IL-7 | fee: 1.50 | seen: true | country: Israel"),
        ("heading", "protocol"),
        ("heading", "when to apply"),
        ("prose", when.strip()),
        ("heading", "steps"),
        ("table_header", "step number | instruction | ask"),
        ("table_row", "step number: 1 | instruction: Call 101. | ask: if yes: Wait; if no: Go; Run"),
        ("table_row", "step number: 2 | instruction: Keep still."),
        ("heading", "do not"),
        ("list_item", "- Do not cut."),
        ("list_item", '- Do not "cool".'),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2, 3, 3, 3]
    assert {document.text[slice(*block.intro)] for block in document.blocks if block.intro} == {"do not"}


@pytest.mark.parametrize("between", [",", "\n"])
def test_records_are_rows(between: str) -> None:
    text = between.join(('{"Name": "Fire", "Number": "102"}', '{"Name": "Police", "Number": "100"}'))
    assert read(f"[{text}]" if between == "," else text) == [
        ("table_header", "Name | Number"),
        ("table_row", "Name: Fire | Number: 102"),
        ("table_row", "Name: Police | Number: 100"),
    ]


def test_long_records_are_sections() -> None:
    article = {"name": "Furnace", "rank": 1, "text": "First.\n\nThe door is hot. " + "Wear gloves. " * 60}
    assert read(json.dumps([article, {"name": "Hall"}])) == [
        ("heading", "Furnace"),
        ("table_row", "name: Furnace | rank: 1"),
        ("heading", "text"),
        ("prose", "First."),
        ("prose", article["text"][8:].strip()),
        ("heading", "Hall"),
        ("table_row", "name: Hall"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"compilerOptions": {"strict": True, "target": "es2022", "lib": ["dom"]}},
        {"features": [{"name": "a path", "line": [[1.5, 2], [3, 4]]}, {"name": "a road", "line": [5, 6, 7, 8]}]},
        {"texts": ["some words"] * 60_000},
        [[[[[[[[[[[[[[[[[[[[["some words"]]]]]]]]]]]]]]]]]]]]],
    ],
    ids=["settings", "coordinates", "very many values", "very deep"],
)
def test_data_for_programs_stays_code(value: object) -> None:
    assert {kind for kind, _ in read(json.dumps(value))} == {"code"}
    assert [kind for kind, _ in read('{"say": "some words", }')] == ["code"]


def test_many_values_are_quick() -> None:
    assert len(read(json.dumps([{f"key {number}": "some words"} for number in range(20_000)]))) == 20_000
