"""JSON as a person reads it, and which JSON stays code."""

import json

import pytest

from tests.index.readers.office import given


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
    for text in (json.dumps(value), '{"say": "some words", }'):
        assert {block.kind for block in given(text.encode(), ".json").blocks} == {"code"}


def test_many_values_are_quick() -> None:
    values = [{f"key {number}": "some words"} for number in range(20_000)]
    assert len(given(json.dumps(values).encode(), ".json").blocks) == 20_000
