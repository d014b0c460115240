"""A run's access over a real nats-server: written once, read before a search, known again by a replay."""

import secrets

import pytest

from bus.journal.access import Access, access_in, access_key, access_of, grant, groups_named
from bus.journal.records import SearchRecord
from bus.powers.searching import Finder, SearchReply, SearchRequest, answers, record_of
from tests.bus.wires import Wire


async def test_it_is_written_once(wire: Wire) -> None:
    run_id = secrets.token_hex(8)
    assert await access_of(wire.journal, run_id) is None
    assert await grant(wire.journal, run_id, Access(key="ann", groups=("sales",)))
    assert not await grant(wire.journal, run_id, Access(key="eve"))
    assert await access_of(wire.journal, run_id) == Access(key="ann", groups=("sales",))
    assert access_in(await wire.journal.run(run_id)) == Access(key="ann", groups=("sales",))


async def test_unreadable_access_record_sees_public_documents(wire: Wire) -> None:
    run_id = secrets.token_hex(8)
    await wire.journal.publish(access_key(run_id).subject, b'{"groups": 7}')
    assert await access_of(wire.journal, run_id) == Access(key="", groups=())


async def test_groups_reach_every_search() -> None:
    heard: list[SearchRequest] = []

    async def find(request: SearchRequest) -> tuple[SearchReply, SearchRecord]:
        heard.append(request)
        return SearchReply(), record_of(request, b"{}", 0.0)

    asked = SearchRequest(query="x", language="en", k=1, groups=("board",))
    search = Finder(find, ("sales",))
    await search(asked)
    assert [each.groups for each in heard] == [("sales",)]
    assert answers(search.records[0], asked)


@pytest.mark.parametrize(
    ("setting", "groups"), [("*", None), (" * ", None), ("", ()), ("sales", ("sales",)), ("a, b,,c ", ("a", "b", "c"))]
)
def test_groups_are_named_with_commas(setting: str, groups: tuple[str, ...] | None) -> None:
    assert groups_named(setting) == groups
