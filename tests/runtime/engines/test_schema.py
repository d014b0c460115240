import pytest

from runtime.engines.openai.schema import problem
from tests.runtime.engines.sample import shape

NOTE = shape(
    n={"type": "integer", "minimum": 0, "maximum": 9},
    tags={"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
    text={"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 3}]},
)
GOOD = {"n": 3, "tags": ["a"], "text": None}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, ""),
        ({"text": "abc"}, ""),
        ({"n": 10}, "$.n: above 9"),
        ({"n": -1}, "$.n: below 0"),
        ({"n": True}, "$.n: no integer"),
        ({"n": "3"}, "$.n: no integer"),
        ({"n": 2.5}, "$.n: no integer"),
        ({"tags": []}, "$.tags: below 1"),
        ({"tags": ["a", "b", "a"]}, "$.tags: above 2"),
        ({"tags": ["c"]}, "$.tags[0]: none of the allowed values"),
        ({"tags": "a"}, None),
        ({"text": "abcd"}, "$.text: fits no alternative"),
        ({"more": 1}, "$.more: not expected"),
    ],
)
def test_first_problem_is_named(change, wrong):
    found = problem(GOOD | change, NOTE)
    assert found == wrong if wrong is not None else found


def test_missing_property_and_wrong_type():
    assert problem({"n": 1, "tags": ["a"]}, NOTE) == "$.text: missing"
    assert problem([], NOTE) == "$: no object"


def test_a_keyword_unknown_here_is_no_silent_pass():
    with pytest.raises(ValueError, match="pattern"):
        problem("x", {"type": "string", "pattern": "y"})
