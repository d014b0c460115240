"""The files of documents, and never a changed file or one outside the folder."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import msgspec
import pytest

from index.build.ingest import bring_in
from index.documents.originals import NoOriginal, Originals
from index.model import Entry
from index.snapshot.catalogue import read_catalogue
from index.snapshot.roots import Root
from index.snapshot.snapshot import hold
from index.source_paths import original_path, quoted
from tests.runtime.sources.conftest import World
from tests.runtime.sources.documents import LONG

PDF = original_path("handbook.pdf")


async def test_the_file_is_as_it_was(http: aiohttp.ClientSession, world: World) -> None:
    for name in (
        "handbook.pdf",
        "guide.md",
        "gate.html",
        "long.txt",
        "a folder/환불 규정 #1?.md",
        "a folder/100%25.md",
    ):
        async with http.get(original_path(name)) as response:
            assert response.status == 200, name
            assert await response.read() == (world.root / name).read_bytes()
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            tag, kind = response.headers["ETag"], response.headers["Content-Type"]
            policy, disposition = (
                response.headers[each] for each in ("Content-Security-Policy", "Content-Disposition")
            )
        assert kind.startswith("application/pdf" if name.endswith("pdf") else "text/")
        assert "default-src 'none'" in policy
        assert name.endswith("pdf") or policy.endswith("sandbox")
        assert disposition.startswith("inline" if name.endswith((".pdf", ".txt")) else "attachment")
        async with http.get(original_path(name), headers={"If-None-Match": f'"x", W/{tag}'}) as response:
            assert (response.status, await response.read()) == (304, b"")
        async with http.head(original_path(name)) as response:
            assert response.status == 200
            assert response.content_length == (world.root / name).stat().st_size


@pytest.mark.parametrize("source_id", ["../records/one", "published", "old.zip/inside.md"])
async def test_document_inside_a_container_file_has_no_original(http: aiohttp.ClientSession, source_id: str) -> None:
    async with http.get(f"/v1/sources/{quoted(source_id)}") as response:
        assert (await response.json())["original"] == ""
    async with http.get(original_path(source_id)) as response:
        assert (response.status, (await response.json())["code"]) == (404, "not_served")


async def test_groups_and_scopes_hold(locked: aiohttp.ClientSession, world: World) -> None:
    path = original_path("secret/board.md")
    for name, status in (("ann", 200), ("bob", 404), ("asker", 403), ("", 401)):
        async with locked.get(path, headers=world.bearer(name)) as response:
            assert response.status == status
            assert ("Zanzibar" in await response.text()) == (status == 200)


async def test_changed_file_is_not_served(http: aiohttp.ClientSession, world: World) -> None:
    path = world.root / "gate.html"
    before, status = path.read_bytes(), path.stat()
    path.write_bytes(before.replace(b"six", b"ten"))
    try:
        async with http.get(original_path("gate.html")) as response:
            found = await response.json()
            assert (response.status, found["detail"]) == (
                404,
                "the file of this document has changed since it was indexed",
            )
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    async with http.get(original_path("gate.html")) as response:
        assert response.status == 200


class Folder:
    """An index of a folder, and what its catalogue and its roots say."""

    def __init__(self, at: Path) -> None:
        self.root = at / "documents"
        (self.root / "below").mkdir(parents=True)
        self.elsewhere = at / "elsewhere"
        self.elsewhere.mkdir()
        self.file = self.root / "below" / "note.md"
        self.file.write_text("# Note\n\nThe note is about the pier.\n", encoding="utf-8")
        bring_in(at / "index", [str(self.root)], only=True, processes=1)
        handle = hold(at / "index")
        self.roots: tuple[Root, ...] = handle.manifest.roots
        self.entry: Entry = read_catalogue(handle.directory)["below/note.md"]
        handle.close()

    def read(self, entry: Entry | None = None) -> bytes:
        with Originals().opened(entry or self.entry, self.roots) as found:
            return found.file.read()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("originals"))


@pytest.fixture
def restored(folder: Folder) -> Iterator[Folder]:
    kept = folder.file.read_bytes()
    yield folder
    below = folder.root / "below"
    if below.is_symlink():
        below.unlink()
    below.mkdir(exist_ok=True)
    if os.path.lexists(folder.file):
        folder.file.unlink()
    folder.file.write_bytes(kept)


def test_unchanged_file_is_served(folder: Folder) -> None:
    assert folder.read() == folder.file.read_bytes()


def test_link_out_of_the_folder_is_refused(restored: Folder) -> None:
    secret = restored.elsewhere / "note.md"
    secret.write_bytes(restored.file.read_bytes())
    restored.file.unlink()
    restored.file.symlink_to(secret)
    with pytest.raises(NoOriginal, match="no longer below the folder"):
        restored.read()


def test_folder_replaced_by_a_link_is_refused(restored: Folder) -> None:
    shutil.copytree(restored.root / "below", restored.elsewhere / "below", dirs_exist_ok=True)
    shutil.rmtree(restored.root / "below")
    (restored.root / "below").symlink_to(restored.elsewhere / "below")
    with pytest.raises(NoOriginal, match="no longer below the folder"):
        restored.read()


def test_link_with_other_bytes_is_refused(restored: Folder) -> None:
    other = restored.root / "other.md"
    other.write_text("# Other\n", encoding="utf-8")
    restored.file.unlink()
    restored.file.symlink_to(other)
    with pytest.raises(NoOriginal, match="has changed"):
        restored.read()


def test_path_without_a_file_is_refused(restored: Folder) -> None:
    restored.file.unlink()
    with pytest.raises(NoOriginal, match="cannot be opened"):
        restored.read()
    os.mkfifo(restored.file)
    with pytest.raises(NoOriginal, match="no longer one that would be indexed"):
        restored.read()


@pytest.mark.parametrize(
    "origin", ["/etc/passwd", "-/stdin.md", "relative.md", "/proc/self/environ", "{root}/../elsewhere/note.md"]
)
def test_a_catalogue_that_lies_opens_nothing(folder: Folder, origin: str) -> None:
    (folder.elsewhere / "note.md").write_bytes(folder.file.read_bytes())
    entry = msgspec.structs.replace(folder.entry, origin=origin.format(root=folder.root))
    with pytest.raises(NoOriginal):
        folder.read(entry)


async def test_many_at_once(http: aiohttp.ClientSession) -> None:
    async def whole() -> bytes:
        async with http.get(original_path("long.txt")) as response:
            return await response.read()

    assert set(await asyncio.gather(*(whole() for _ in range(12)))) == {LONG.encode()}
