"""Server-sent events as servers send them: every line end, any cut, byte order marks, comments, broken characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.engines.openai.event_stream import EventStream, StreamedEvent


def told(*pieces: bytes) -> list[tuple[str, str, str]]:
    stream = EventStream()
    return [(each.event, each.data, each.id) for piece in pieces for each in stream.feed(piece)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: one|||data:two||", [("message", "one", ""), ("message", "two", "")]),
        ("data: 한국어|data:  two lines||", [("message", "한국어\n two lines", "")]),
        ("event: note|id: 7|data||", [("note", "", "7")]),
        (": nothing|data: x||event: note||data: y||", [("message", "x", ""), ("message", "y", "")]),
        ("id: 3||data: x||id||data: y||", [("message", "x", "3"), ("message", "y", "")]),
        ("id: a\0b|data: x||", [("message", "x", "")]),
        ("data: x||data: never ended", [("message", "x", "")]),
        ("dat: x|data : y|\tdata: z||", []),
    ],
)
def test_what_the_standard_says(end: str, text: str, expected: list[tuple[str, str, str]]) -> None:
    raw = text.replace("|", end).encode()
    assert told(raw) == expected
    assert told(*(raw[k : k + 1] for k in range(len(raw)))) == expected


def test_only_the_first_byte_order_mark_is_dropped() -> None:
    assert told(b"\xef\xbb", b"\xbfdata: x\n\n\xef\xbb\xbfdata: y\n\n") == [("message", "x", "")]


def test_broken_characters_are_replaced() -> None:
    assert told(b"data: \xff\xed\x95\n\n") == [("message", "\ufffd\ufffd", "")]


def test_the_time_to_wait_is_a_whole_number_or_nothing() -> None:
    stream = EventStream()
    stream.feed(b"retry: 1200\nretry: soon\nretry: 12x\n")
    assert stream.retry_ms == 1200


def test_an_endless_event_is_refused() -> None:
    stream = EventStream(longest=1000)
    stream.feed(b"data: " + b"x" * 900)
    with pytest.raises(ValueError, match="longer than 1,000"):
        stream.feed(b"x" * 100)


@given(st.lists(st.text(alphabet="ab:d\r\n 한", max_size=12)), st.data())
def test_any_cut_tells_the_same(lines: list[str], data: st.DataObject) -> None:
    raw = "data: x\n".join(lines).encode() + b"\n\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert told(*pieces) == told(raw)


def test_an_event_is_a_value() -> None:
    assert EventStream().feed(b"data: x\n\n") == [StreamedEvent(data="x")]
