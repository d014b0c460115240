import pytest

from runtime.engines.openai.wire import problem
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
        ({"n": 10}, "$.n: 10 is greater than the maximum of 9"),
        ({"n": -1}, "$.n: -1 is less than the minimum of 0"),
        ({"n": True}, "$.n: True is not of type 'integer'"),
        ({"n": "3"}, "$.n: '3' is not of type 'integer'"),
        ({"n": 2.5}, "$.n: 2.5 is not of type 'integer'"),
        ({"tags": []}, "$.tags: [] should be non-empty"),
        ({"tags": ["a", "b", "a"]}, "$.tags: ['a', 'b', 'a'] is too long"),
        ({"tags": ["c"]}, "$.tags[0]: 'c' is not one of ['a', 'b']"),
        ({"tags": "a"}, "$.tags: 'a' is not of type 'array'"),
        ({"text": "abcd"}, "$.text: 'abcd' is too long"),
        ({"more": 1}, "$: Additional properties are not allowed ('more' was unexpected)"),
    ],
)
def test_problem_is_named_with_its_path(change, wrong):
    assert problem(GOOD | change, NOTE) == wrong


def test_missing_property_and_wrong_type():
    assert problem({"n": 1, "tags": ["a"]}, NOTE) == "$: 'text' is a required property"
    assert problem([], NOTE) == "$: [] is not of type 'object'"


def test_long_reply_gives_a_short_line():
    told = problem(GOOD | {"text": "a\n" * 500}, NOTE)
    assert len(told) < 250
    assert "\n" not in told
