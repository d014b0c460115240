"""Tickets open a source in a browser where a key is needed; without originals only its text is shown."""

import time
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from bus.powers.sources import NotServed, PageAsked, PieceAsked, SourceText, TextAsked
from index.build.ingest import bring_in
from index.search.searcher import Searcher
from index.source_paths import quoted
from runtime.edge.tickets import VALID_S, key_of, ticket
from runtime.keys import KeyFile
from runtime.processes.source_reading import Sources
from tests.polling import until
from tests.runtime.sources.conftest import World
from tests.runtime.sources.documents import pdf

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
