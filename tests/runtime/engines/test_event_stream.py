"""The client of OpenAI-compatible servers reads event streams by the standard, except for a leading byte order mark.

`event_streams.jsonl` holds 98 streams in pieces, with the events that the HTML standard reads from them; from web platform tests
(BSD-3-Clause) and sse-contract-tests (Apache-2.0).
"""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder


class Vector(msgspec.Struct):
    name: str
    chunks: list[str]
    events: list[tuple[str, str, str]]


FILE = Path(__file__).with_name("event_streams.jsonl")
VECTORS = msgspec.json.decode(b"[" + b",".join(FILE.read_bytes().splitlines()) + b"]", type=list[Vector])
#: No server of this interface is known to send one; its first event would be lost.
MARK = b"\xef\xbb\xbf"


def told(*pieces: bytes) -> list[tuple[str, str, str]]:
    return [(each.event or "message", each.data, each.id or "") for each in SSEDecoder().iter_bytes(iter(pieces))]


def begins_with_a_mark(vector: Vector) -> bool:
    return bytes.fromhex("".join(vector.chunks)).startswith(MARK)


def test_nearly_all_are_looked_at() -> None:
    assert (len(VECTORS), sum(map(begins_with_a_mark, VECTORS))) == (98, 11)


@pytest.mark.parametrize("vector", [v for v in VECTORS if not begins_with_a_mark(v)], ids=lambda vector: vector.name)
def test_standard_examples_parse(vector: Vector) -> None:
    assert told(*map(bytes.fromhex, vector.chunks)) == vector.events


@given(st.lists(st.text(alphabet="ab:d\r\n 한", max_size=12)), st.data())
def test_any_split_parses_alike(lines: list[str], data: st.DataObject) -> None:
    raw = "data: x\n".join(lines).encode() + b"\n\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert told(*pieces) == told(raw)
