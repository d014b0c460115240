"""Choice between the replies of several servers about one stream."""

import msgspec
import pytest

from bus.transport.stream_info import ApiReply

S = 1_000_000_000


@pytest.mark.parametrize(
    ("others", "believed"),
    [
        (None, True),  # no cluster
        ([], True),  # one copy
        ([1 * S, 2 * S], True),
        ([1 * S, 90 * S], True),
        ([4 * S, 4 * S], False),  # they may have elected another
        ([0, 0], False),  # never heard of
        ([1 * S, 0, 0, 0], False),
        ([1 * S, 2 * S, 0, 0], True),
    ],
)
def test_leader_needs_a_recent_majority(others: list[int] | None, believed: bool) -> None:
    said = {"state": {"last_seq": 3}}
    if others is not None:
        said["cluster"] = {"leader": "a", "replicas": [{"name": "x", "active": each} for each in others]}  # type: ignore[dict-item]
    assert msgspec.json.decode(msgspec.json.encode(said), type=ApiReply).has_majority == believed
