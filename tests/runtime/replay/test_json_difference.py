"""The first difference of two JSON texts."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.replay.json_difference import first_difference

ROWS = [
    ('{"a":1}', '{"a":1}', None),
    ('{"a":1,"b":2}', '{"a":1,"b":3}', ("b", "2", "3")),
    ('{"a":{"b":[{"n":1},{"n":2}]}}', '{"a":{"b":[{"n":1},{"n":3}]}}', ("a.b[1].n", "2", "3")),
    ('{"a":[1,2]}', '{"a":[1]}', ("a[1]", "2", "nothing")),
    ('{"a":[]}', '{"a":["x"]}', ("a[0]", "nothing", '"x"')),
    ('{"a":1}', '{"a":1,"b":null}', ("b", "nothing", "null")),
    ('{"a":1,"b":null}', '{"a":1}', ("b", "null", "nothing")),
    ('{"a":1}', '{"a":true}', ("a", "1", "true")),
    ('{"a":1}', '{"a":1.0}', ("a", "1", "1.0")),
    ('{"a":"1"}', '{"a":1}', ("a", '"1"', "1")),
    ('{"a":1,"b":2}', '{"b":2,"a":1}', ("byte 2", '{"a":1,"b":2}', '{"b":2,"a":1}')),
    ('{"a":1.0}', '{"a":1.00}', ("byte 8", '{"a":1.0}', '{"a":1.00}')),
    ("[1", "[2", ("byte 1", "[1", "[2")),
]


@pytest.mark.parametrize(("recorded", "now", "found"), ROWS)
def test_the_first_difference(recorded: str, now: str, found: tuple[str, str, str] | None) -> None:
    difference = first_difference(recorded.encode(), now.encode())
    assert (difference and (difference.path, difference.recorded, difference.now)) == found


def test_long_texts_are_shown_from_their_difference() -> None:
    texts = [msgspec.json.encode({"answer": "word " * 100 + end + " word" * 100}) for end in ("fourteen", "fifteen")]
    difference = first_difference(*texts)
    assert difference is not None
    assert difference.recorded.startswith('"…')
    assert "fourteen" in difference.recorded
    assert "fifteen" in difference.now
    assert max(len(difference.recorded), len(difference.now)) <= 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_equal_bytes_have_no_difference(one: object, other: object) -> None:
    texts = msgspec.json.encode(one), msgspec.json.encode(other)
    assert (first_difference(*texts) is None) == (texts[0] == texts[1])
