"""/v1/sources: the list of documents and their text; tickets open a source in a browser where a key is needed."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import aiohttp
import msgspec
import pytest
from groundwire.client import Client, Refused
from yarl import URL

from bus.powers.sources import NotServed, PageAsked, PieceAsked, SourceList, SourceText, TextAsked
from index.build.ingest import bring_in
from index.search.searcher import Searcher
from index.source_paths import API, PAGES, quoted, source_path
from runtime.edge.tickets import VALID_S, key_of, ticket
from runtime.keys import KeyFile
from runtime.processes.source_files import Sources
from tests.polling import until
from tests.runtime.sources.conftest import World
from tests.runtime.sources.documents import LEADING, LONG, pdf


async def listed(http: aiohttp.ClientSession, query: str = "", **headers: str) -> SourceList:
    async with http.get(f"/v1/sources{query}", headers=headers) as response:
        assert response.status == 200, await response.text()
        return msgspec.json.decode(await response.read(), type=SourceList)


async def text(http: aiohttp.ClientSession, source_id: str, query: str = "", **headers: str) -> SourceText:
    async with http.get(f"{API}{quoted(source_id)}{query}", headers=headers) as response:
        assert response.status == 200, await response.text()
        return msgspec.json.decode(await response.read(), type=SourceText)


async def test_every_source_is_listed_and_opens(http: aiohttp.ClientSession) -> None:
    whole = await listed(http)
    ids = [item.source_id for item in whole.items]
    assert ids == sorted(ids)
    assert whole.count == len(ids) > 9
    assert not whole.next
    walked: list[str] = []
    after = ""
    while True:
        part = await http.get("/v1/sources", params={"limit": "2", "after": after})
        found = msgspec.json.decode(await part.read(), type=SourceList)
        walked += [item.source_id for item in found.items]
        after = found.next
        if not after:
            break
    assert walked == ids
    for item in whole.items:
        found = await text(http, item.source_id)
        assert (found.source_id, found.title, found.url) == (item.source_id, item.title, item.url)
        assert found.url == "https://example.org/3" if item.source_id == "published" else found.url.startswith(PAGES)
        assert found.start == 0
        assert len(found.text) == found.end == min(item.characters, 50_000)


async def test_text_is_that_of_the_document(http: aiohttp.ClientSession) -> None:
    found = await text(http, "guide.md")
    assert found.text.startswith(
        "Refunds &\n\nRefunds are paid within 14 days of the return. See the form.\n\nCity | Fee\n"
    )
    assert found.text.endswith('print("<script>alert(1)</script>")\n\nA receipt is a proof.')
    kinds = [block.kind for block in found.blocks]
    assert {"heading", "prose", "table_header", "table_row", "list_item", "code", "quotation"} <= set(kinds)
    row = next(block for block in found.blocks if block.kind == "table_row")
    assert "Lyon" in found.text[row.start : row.end]


async def test_a_window_of_a_long_one(http: aiohttp.ClientSession) -> None:
    start = LONG.index("Paragraph 2000")
    found = await text(http, "long.txt", f"?start={start}&end={start + 14}")
    assert found.text == "Paragraph 2000"
    assert (found.start, found.end, found.characters) == (start, start + 14, len(LONG))
    assert (await text(http, "long.txt", "?start=0&end=900000")).end == 100_000
    beyond = await text(http, "long.txt", "?start=99999999")
    assert (beyond.text, beyond.start, beyond.end) == ("", len(LONG), len(LONG))


async def test_pdf_lists_its_pages(http: aiohttp.ClientSession) -> None:
    found = await text(http, "handbook.pdf")
    assert found.pages == 3
    assert [page for _, page in found.page_starts] == [1, 2, 3]
    second = found.page_starts[1][0]
    assert found.text[second:].startswith("Safety")


@pytest.mark.parametrize("query", ["start=-1", "start=x", "end=1&end=2", "start=" + "9" * 30, "start=١", "end="])
async def test_a_bad_number_is_named(http: aiohttp.ClientSession, query: str) -> None:
    async with http.get(f"/v1/sources/guide.md?{query}") as response:
        found = await response.json()
        assert (response.status, found["code"]) == (400, "bad_parameter")
        assert found["detail"].startswith(query.split("=", maxsplit=1)[0])


@pytest.mark.parametrize("limit", ["0", "1001", "ten"])
async def test_a_bad_limit_is_named(http: aiohttp.ClientSession, limit: str) -> None:
    async with http.get(f"/v1/sources?limit={limit}") as response:
        assert response.status == 400


@pytest.mark.parametrize(
    "path",
    [
        "nothing.md",
        "..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "guide.md%00",
        "guide.md/",
        "GUIDE.MD",
        "%FF%FE",
        "a%20folder",
        "a" * 4001,
        "old.zip",
        "records.jsonl",
        "access.toml",
        "secret/../guide.md",
    ],
)
async def test_unknown_source_is_not_found(http: aiohttp.ClientSession, world: World, path: str) -> None:
    url = URL(f"{world.open}{API}{path}", encoded=True)
    async with http.get(url) as response:
        assert (response.status, (await response.json())["code"]) == (404, "no_such_source")


async def test_ids_that_look_like_other_paths(http: aiohttp.ClientSession) -> None:
    assert quoted("../records/one") == "..%2Frecords%2Fone"
    assert (await text(http, "../records/one")).title == "One"
    assert (await text(http, "guide.md/original")).title == "Two"
    assert source_path("a folder/환불 규정 #1?.md", 3, 9).endswith("%231%3F.md?start=3&end=9")
    assert (await text(http, "a folder/환불 규정 #1?.md")).language == "ko"


async def test_groups_hold(locked: aiohttp.ClientSession, world: World) -> None:
    everything, some = [await listed(locked, **world.bearer(name)) for name in ("ann", "bob")]
    assert everything.count == some.count + 1
    assert {item.source_id for item in everything.items} - {item.source_id for item in some.items} == {
        "secret/board.md"
    }
    assert (await text(locked, "secret/board.md", **world.bearer("ann"))).title == "Board"
    answers = []
    for path in ("secret/board.md", "secret/nothing.md"):
        async with locked.get(f"{API}{path}", headers=world.bearer("bob")) as response:
            answers.append((response.status, (await response.text()).replace(path, "")))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


async def test_a_key_needs_the_scope(locked: aiohttp.ClientSession, world: World) -> None:
    for path in ("/v1/sources", "/v1/sources/guide.md"):
        async with locked.get(path) as response:
            assert response.status == 401
        async with locked.get(path, headers=world.bearer("asker")) as response:
            assert response.status == 403


async def test_every_hit_address_opens(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/search", json={"query": "refunds paid within 14 days"}) as response:
        hits = (await response.json())["hits"]
    hit = next(hit for hit in hits if hit["source_id"] == "guide.md")
    assert hit["url"] == source_path("guide.md", hit["char_start"], hit["char_end"])
    assert all(hit["url"] for hit in hits)


async def test_the_client_library_reads_sources(world: World) -> None:
    async with Client(world.open, key="") as client:
        first = await client.sources(limit=1)
        rest = await client.sources(first.next)
        assert first.count == len(first.items) + len(rest.items)
        for listed in (*first.items, *rest.items):
            whole = await client.source(listed.source_id)
            part = await client.source(listed.source_id, 2, 6)
            assert part.text == whole.text[2 - whole.start : 6 - whole.start]
            assert (whole.title, whole.url) == (listed.title, listed.url)
    async with Client(world.locked, key="gw_nobody") as stranger:
        with pytest.raises(Refused):
            await stranger.source(first.items[0].source_id)


async def test_example_questions_contain_no_personal_data(locked: aiohttp.ClientSession, world: World) -> None:
    async with locked.get("/v1/examples", headers=world.bearer("asker")) as response:
        told = await response.json()
    text = json.dumps(told, ensure_ascii=False)
    assert any(each["source_id"] == "people.md" for each in told["examples"])
    assert "∗" in text
    assert "1234" not in text
    assert "kim.minsu" not in text


async def test_no_document_leads_a_client_astray(http: aiohttp.ClientSession) -> None:
    """Its own address is one of the web; for any other it is its page here, as where it has none."""
    for n in range(len(LEADING)):
        assert (await text(http, f"led/{n}")).url == source_path(f"led/{n}")
    async with http.post("/v1/search", json={"query": "heliograph", "k": 20}) as response:
        found = {hit["source_id"]: hit["url"].partition("?")[0] for hit in (await response.json())["hits"]}
    led = {source_id: url for source_id, url in found.items() if source_id.startswith("led/")}
    assert len(led) > 3
    assert led == {source_id: source_path(source_id) for source_id in led}
    assert (await text(http, "published")).url == "https://example.org/3"


SECRET = b"a secret"


def test_ticket_fits_one_key_source_and_time() -> None:
    made = ticket(SECRET, "k1", "a/b.md", 1000.0)
    assert key_of(SECRET, made, "a/b.md", 1000.0 + VALID_S - 1) == "k1"
    assert key_of(SECRET, made, "a/b.md", 1000.0 + VALID_S) is None
    assert key_of(SECRET, made, "a/c.md", 1000.0) is None
    assert key_of(b"another", made, "a/b.md", 1000.0) is None
    until, key, signature = made.split(".")
    for forged in (
        f"{int(until) + 1}.{key}.{signature}",
        f"{until}.k2.{signature}",
        "",
        "..",
        made + "0",
        made.replace("k1", "k1\n"),
    ):
        assert key_of(SECRET, forged, "a/b.md", 1000.0) is None


async def linked(http: aiohttp.ClientSession, world: World, name: str, source_id: str) -> str:
    async with http.post(f"/v1/sources/{quoted(source_id)}/link?start=1&end=5", headers=world.bearer(name)) as response:
        assert response.status == 200, await response.text()
        return str((await response.json())["url"])


async def test_link_opens_one_source_only(locked: aiohttp.ClientSession, world: World) -> None:
    url = await linked(locked, world, "ann", "secret/board.md")
    async with locked.get(url) as response:
        assert response.status == 200
        assert "Zanzibar" in await response.text()
    async with locked.get(url.replace("/sources/secret/board.md", "/sources/guide.md")) as response:
        assert response.status == 401
        assert "Refunds" not in await response.text()
    async with locked.get(url.replace("/sources/", "/v1/sources/")) as response:
        assert response.status == 200
    for path in ("/v1/sources", "/v1/runs/x"):
        async with locked.get(f"{path}?{url.partition('?')[2]}") as response:
            assert response.status == 401


@pytest.mark.parametrize("source_id", ["secret/board.md", "nothing.md"])
async def test_link_needs_access_to_its_source(locked: aiohttp.ClientSession, world: World, source_id: str) -> None:
    async with locked.post(f"/v1/sources/{source_id}/link", headers=world.bearer("bob")) as response:
        assert response.status == 404
    async with locked.post(f"/v1/sources/{source_id}/link", headers=world.bearer("asker")) as response:
        assert response.status == 403


async def test_ticket_of_a_deleted_key_is_invalid(locked: aiohttp.ClientSession, world: World) -> None:
    keys = KeyFile(world.state / "keys.json")
    token = keys.add("brief", ("search",), now=time.time())

    async def opened() -> str:
        async with locked.post("/v1/sources/guide.md/link", headers={"Authorization": f"Bearer {token}"}) as response:
            return str((await response.json())["url"]) if response.status == 200 else ""

    url = await until(opened, within_s=10.0, what="a new key")
    async with locked.get(url) as response:
        assert response.status == 200
    keys.revoke("brief")

    async def refused() -> bool:
        async with locked.get(url) as response:
            return response.status == 401

    await until(refused, within_s=10.0, what="a revoked key")


async def test_an_open_door_needs_no_ticket(http: aiohttp.ClientSession, world: World) -> None:
    assert await linked(http, world, "", "guide.md") == "/sources/guide.md?start=1&end=5"


async def test_files_stay_where_they_are(tmp_path: Path) -> None:
    root = tmp_path / "documents"
    root.mkdir()
    (root / "handbook.pdf").write_bytes(pdf())
    bring_in(tmp_path / "index", [str(root)], only=True, processes=1)
    searcher = Searcher.open(tmp_path / "index")

    async def on_index[T](work: Callable[[Searcher], T]) -> T:
        return work(searcher)

    shut, opened = (Sources(on_index, originals=each) for each in (False, True))
    text, other = (
        await shut.find(TextAsked(source_id="handbook.pdf")),
        await opened.find(TextAsked(source_id="handbook.pdf")),
    )
    assert isinstance(text, SourceText)
    assert isinstance(other, SourceText)
    assert (text.original, text.media_type, text.text) == ("", "", other.text)
    assert other.original == "/v1/sources/handbook.pdf/original"
    for asked in (PieceAsked(source_id="handbook.pdf"), PageAsked(source_id="handbook.pdf", page=1)):
        with pytest.raises(NotServed, match=r"index\.originals"):
            await shut.find(asked)
    searcher.close()
