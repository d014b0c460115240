"""The wire form: a strict reader and a browser's reader agree on it, for any token and any split."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.powers.events import Token
from runtime.edge.sse import COMMENT, EventForm
from tests.runtime.edge.standard_sse import EventStream, Received
from tests.runtime.edge.strict_sse import parse

AWKWARD = [
    "\r\n\r\n",
    "data: x\n\nid: 9",
    "\u2028",
    "\x85",
    "\ufeff",
    ": alive",
    "환불",
    "٧ أيام",
    "近视",
    "🧾",
    "\\",
    '"',
    "\0",
]
WORDS = st.text(max_size=30) | st.sampled_from(AWKWARD)


def events_of(words: list[str]) -> list[tuple[int, bytes]]:
    return [(n, msgspec.json.encode(Token(content=word, index=n))) for n, word in enumerate(words, start=1)]


@given(words=st.lists(WORDS, min_size=1, max_size=8), cuts=st.lists(st.integers(1, 40), min_size=1))
def test_any_text_survives_any_cut(words: list[str], cuts: list[int]) -> None:
    events = events_of(words)
    form = EventForm()
    stream = b"".join(unit + COMMENT * (n % 2) for n, unit in enumerate(form.events(events)))
    assert parse(stream) == events
    browser, at = EventStream(), 0
    for n in range(len(stream)):
        if at < len(stream):
            browser.feed(stream[at : at + cuts[n % len(cuts)]])
            at += cuts[n % len(cuts)]
    assert [json.loads(each.data)["content"] for each in browser.received] == words
    assert browser.last_event_id == str(len(words))


def message(data: str, *, event: str = "message", id: str = "") -> Received:
    return Received(event, data, id)


READ = {
    "one": ("data: a\n\n", [message("a")]),
    "two lines": ("data: a\ndata:b\n\n", [message("a\nb")]),
    "CRLF": ("id: 1\r\ndata: a\r\n\r\n", [message("a", id="1")]),
    "CR": ("id: 1\rdata: a\r\rdata: b\r\r", [message("a", id="1"), message("b", id="1")]),
    "mark at the start": ("\ufeffdata: a\n\n", [message("a")]),
    "mark elsewhere": ("data: \ufeffa\n\n", [message("\ufeffa")]),
    "comment": (": b\ndata: a\n: c\n\n", [message("a")]),
    "named": ("event: e\ndata: a\n\ndata: b\n\n", [message("a", event="e"), message("b")]),
    "id kept, then emptied": (  # and with it what a browser would resume after
        "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
        [message("a", id="7"), message("b", id="7"), message("c")],
    ),
    "id with NUL": ("id: 1\0\ndata: a\n\n", [message("a")]),
    "empty data": ("data:\n\ndata\n\n", [message(""), message("")]),
    "no data": ("id: 3\n\n", []),
    "no colon, unknown field": ("datas: x\ncolour\ndata: a\n\n", [message("a")]),
    "only one space goes": ("data:  a\n\n", [message(" a")]),
    "cut short": ("data: a\n\ndata: b\n", [message("a")]),
    "several alphabets": ("data: 환불 退款 استرداد 🧾\n\n", [message("환불 退款 استرداد 🧾")]),
}


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(("text", "received"), READ.values(), ids=READ.keys())
def test_browser_reader_follows_the_standard(text: str, received: list[Received], size: int) -> None:
    """Our judge is judged as well."""
    stream, data = EventStream(), text.encode()
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
    stream.close()
    assert stream.received == received


@pytest.mark.parametrize(
    "stream",
    [b"data: {}\n\n", b"id: 0\ndata: {}\n\n", b"id: 1\r\ndata: {}\n\n", b"id: 1\ndata: {}\n", b"id: 1\ndata: x\n\n"],
)
def test_strict_reader_refuses_other_forms(stream: bytes) -> None:
    with pytest.raises(AssertionError):
        parse(stream)
