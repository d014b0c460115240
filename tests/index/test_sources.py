"""Where documents come from: ids that last, rules, archives, moved files, and nothing that is lost silently."""

import io
import json
import os
import stat
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.check import verify
from index.documents.files import Finder
from index.documents.report import read_skipped
from index.errors import IndexProblem
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.roots import Plan, Root, Rules, plan
from index.source_paths import printable
from tests.index.brought_in import bring_in, entries, follow
from tests.index.files import zipped


def write(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The file {name} says that the gate of {path.parent.name} opens at six.\n")
    return folder


def build(index: Path, *paths: Path | str, **rules: object) -> set[str]:
    bring_in(index, *paths, rules=Rules(**rules))  # type: ignore[arg-type]
    return set(entries(index))


def ids(planned: Plan) -> set[str]:
    return {found.source_id for found in Finder(planned).find() if found.problem is None}


TREE = (
    "docs/README.md", "docs/readme.md", "docs/guide/README.md", "docs/guide/install.md", "docs/api/README.md",
    "other/README.md", "a/docs/README.md", "b/docs/README.md", "b/guide/README.md",
)  # fmt: skip
DOCS = {name.removeprefix("docs/") for name in TREE if name.startswith("docs/")}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, *TREE)
    (tmp_path / "link").symlink_to("docs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["docs"], DOCS),
        (["docs/"], DOCS),
        (["./docs//."], DOCS),
        (["other/../docs"], DOCS),
        (["link"], DOCS),
        (["docs", "link"], DOCS),
        (["docs", "docs/guide", "docs/README.md"], DOCS),
        (["docs/**/*.md"], DOCS),
        (["docs/**"], DOCS),
        (["docs/*"], DOCS),
        (["docs/README.md", "docs/readme.md", "docs/guide", "docs/api"], DOCS),
        (["docs/guide/README.md", "docs/api/README.md"], {"guide/README.md", "api/README.md"}),
        (["docs/*/README.md"], {"guide/README.md", "api/README.md"}),
        (["docs/guide/install.md"], {"install.md"}),
        (["docs/guide", "docs/api"], {"guide/README.md", "guide/install.md", "api/README.md"}),
        (["a/docs", "b/docs"], {"a/docs/README.md", "b/docs/README.md"}),
        (["b/docs", "a/docs"], {"a/docs/README.md", "b/docs/README.md"}),
        (["other", "a/docs"], {"other/README.md", "docs/README.md"}),
        (["*/README.md"], {"docs/README.md", "other/README.md", "link/README.md"} - {"link/README.md"}),
    ],
)
def test_id_is_the_path_in_the_folder(tree: Path, paths: list[str], expected: set[str]) -> None:
    assert ids(plan(paths, [], anew=True)) == expected
    absolute = [str(tree / path) for path in paths]
    assert ids(plan(absolute, [], anew=True)) == expected


@pytest.mark.parametrize(("where", "path"), [("docs", "."), ("docs/guide", ".."), ("a", "../docs")])
def test_the_working_directory_makes_no_difference(
    tree: Path, monkeypatch: pytest.MonkeyPatch, where: str, path: str
) -> None:
    monkeypatch.chdir(tree / where)
    assert ids(plan([path], [], anew=True)) == DOCS


@pytest.mark.parametrize(
    ("built", "added", "expected"),
    [
        ("docs", "docs/guide/install.md", {"guide/install.md"}),
        ("docs", "docs/guide", {"guide/README.md", "guide/install.md"}),
        ("docs", "docs/**/install.md", {"guide/install.md"}),
        ("docs", "link/guide/install.md", {"guide/install.md"}),
        ("docs", "other", {"other/README.md"}),
        ("docs", "other/README.md", {"other/README.md"}),
        ("docs", "b/guide", {"b/guide/README.md"}),
        ("docs/guide", "docs", {"README.md", "install.md", "docs/README.md", "docs/readme.md", "docs/api/README.md"}),
        ("a/docs", "b/docs", {"docs/README.md"}),
        ("docs/guide/install.md", "docs/guide", {"README.md", "install.md"}),
    ],
)
def test_added_file_keeps_the_ids_of_its_root(tree: Path, built: str, added: str, expected: set[str]) -> None:
    first = plan([built], [], anew=True)
    second = plan([added], first.roots, anew=False)
    assert ids(second) == expected
    assert ids(plan([built], second.roots, anew=True)) == ids(first)


NAMES = st.sampled_from(["a", "b", "docs", "a-2"])
FILES = st.sets(
    st.builds("/".join, st.lists(NAMES, min_size=1, max_size=3)).map(lambda path: f"{path}/x.md"), min_size=1
)


@settings(max_examples=30)
@given(FILES, st.data())
def test_files_and_ids_correspond_one_to_one(
    tmp_path_factory: pytest.TempPathFactory, files: set[str], data: st.DataObject
) -> None:
    top = write(tmp_path_factory.mktemp("tree"), *files)
    ways = {*files, *(str(folder) for name in files for folder in Path(name).parents), "**/*.md", "*/*"}
    asked = st.lists(st.sampled_from(sorted(ways - {"."})), min_size=1, max_size=3)
    roots: tuple[Root, ...] = ()
    known: dict[str, str] = {}
    for anew in (True, False, False):
        patterns = [str(top / one) for one in data.draw(asked)]
        try:
            planned = plan(patterns, roots, anew=anew)
        except IndexProblem:
            continue  # a glob without a match
        for found in Finder(planned).find():
            assert known.setdefault(found.origin, found.source_id) == found.source_id
        assert len(set(known.values())) == len(known)
        roots = planned.roots


def test_equal_names_are_two_documents(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs")
    report = bring_in(index, "a/docs/README.md", "b/docs/README.md", only=False)
    assert (report.added, report.changed, report.removed) == (2, 0, 0)
    top = tree.resolve().name
    assert set(entries(index)) == DOCS | {f"{top}/a/docs/README.md", f"{top}/b/docs/README.md"}
    assert verify(index) == []


def test_taken_id_is_named_and_nothing_replaced(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    records = write(tmp_path / "records", "more.jsonl") / "more.jsonl"
    build(index, "docs")
    records.write_text(json.dumps({"source_id": "guide/install.md", "text": "Quite another text."}) + "\n")
    report = bring_in(index, records, only=False)
    assert "given before" in report.skipped[0].reason
    assert (report.failed_count, report.changed, report.removed) == (1, 0, 0)
    bring_in(index, "other", only=False)
    write(tree, "docs/other/README.md")
    report = bring_in(index, "docs", only=False)
    assert [skip.name for skip in report.skipped] == ["other/README.md"]
    assert entries(index)["other/README.md"].origin == str(tree.resolve() / "other" / "README.md")


def test_a_moved_file_keeps_its_passages(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs", base_url="https://example.org/")
    before = entries(index)["guide/install.md"]
    (tree / "docs/setup").mkdir()
    (tree / "docs/guide/install.md").rename(tree / "docs/setup/install.md")
    report = bring_in(index, "docs")
    assert (report.moved, report.added, report.removed, report.files) == (1, 0, 0, 1)
    after = entries(index)["setup/install.md"]
    assert (after.first, after.formerly) == (before.first, ("guide/install.md",))
    searcher = Searcher.open(index)
    hits = {hit.source_id: hit for hit in searcher.search("what says the file install.md", k=10)}
    searcher.close()
    assert "guide/install.md" not in hits
    assert hits["setup/install.md"].url == "https://example.org/setup/install"
    assert verify(index) == []
    (tree / "docs/setup/install.md").rename(tree / "docs/guide/later.md")
    report = bring_in(index, "docs/guide", only=False)
    assert (report.moved, report.removed) == (1, 0)
    assert entries(index)["guide/later.md"].formerly == ("guide/install.md", "setup/install.md")
    assert verify(index) == []


def test_build_of_another_folder_moves_common_files(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    assert build(index, "docs/guide") == {"README.md", "install.md"}
    report = bring_in(index, "docs")
    assert set(entries(index)) == DOCS
    assert (report.moved, report.removed, report.unchanged_files) == (2, 0, 2)
    assert entries(index)["guide/README.md"].formerly == ("README.md",)
    assert verify(index) == []


def test_unchanged_bytes_are_not_read_again(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs")
    for name in DOCS:
        os.utime(tree / "docs" / name, (1, 1))
    report = bring_in(index, "docs")
    assert (report.files, report.unchanged_files) == (0, len(DOCS))
    assert len(snapshot.names(index)) == 1


def test_unlistable_folder_loses_nothing(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs")
    if os.geteuid() == 0:
        pytest.skip("the superuser may list every folder")
    (tree / "docs/guide").chmod(0)
    try:
        report = bring_in(index, "docs")
    finally:
        (tree / "docs/guide").chmod(0o755)
    assert "cannot be listed" in report.skipped[0].reason
    assert set(entries(index)) == DOCS


@pytest.mark.parametrize(
    ("rules", "ignore", "expected"),
    [
        ({}, {}, DOCS),
        ({"exclude": ("guide/",)}, {}, DOCS - {"guide/README.md", "guide/install.md"}),
        ({"exclude": ("/README.md", "inst*")}, {}, DOCS - {"README.md", "guide/install.md"}),
        ({"include": ("guide/", "/readme.md")}, {}, {"readme.md", "guide/README.md", "guide/install.md"}),
        ({"include": ("guide/",), "exclude": ("README.md",)}, {}, {"guide/install.md"}),
        ({}, {".groundwireignore": "# no\nREADME.md\n!/api/README.md\n"}, {"readme.md", "guide/install.md", "api/README.md"}),
        ({}, {"guide/.groundwireignore": "/README.md\n"}, DOCS - {"guide/README.md"}),
        ({}, {".groundwireignore": "README.md", "api/.groundwireignore": "!README.md"},
         {"readme.md", "guide/install.md", "api/README.md"}),
        ({"exclude": ("!README.md",)}, {".groundwireignore": "*.md"}, {name for name in DOCS if "README" in name}),
        ({}, {".groundwireignore": "api/", "api/.groundwireignore": "!README.md"}, DOCS - {"api/README.md"}),
        ({}, {".gitignore": "README.md"}, {"readme.md", "guide/install.md"}),
        ({}, {".gitignore": "*.md", ".groundwireignore": "!api/*.md"}, {"api/README.md"}),
    ],
)  # fmt: skip
def test_rules_leave_files_out(
    tree: Path, rules: dict[str, tuple[str, ...]], ignore: dict[str, str], expected: set[str]
) -> None:
    for name, text in ignore.items():
        (tree / "docs" / name).write_text(text)
    for paths in (["docs"], ["docs/**/*.md"], [f"docs/{name}" for name in DOCS]):
        assert ids(plan(paths, [], Rules(**rules), anew=True)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["👩🏽\u200d💻", "نمی\u200cخواهم", "資料\u3000一覧", "a\u00a0b", "❤\ufe0f", "क\u094d\u200dष", "[x]"]
)
def test_folder_name_may_have_any_script(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}/a.md", "other/a.md")
    assert ids(plan([str(tmp_path / name)], [], anew=True)) == {"a.md"}
    both = ids(plan([str(tmp_path / name), str(tmp_path / "other")], [], anew=True))
    assert both == {f"{printable(name)}/a.md", "other/a.md"}


@pytest.mark.parametrize("mark", ["\x1b[2J", "\n", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028"])
def test_folder_with_terminal_controls_is_refused(tmp_path: Path, mark: str) -> None:
    write(tmp_path, f"a{mark}/a.md")
    with pytest.raises(IndexProblem, match="has control characters; rename it") as refused:
        plan([str(tmp_path / f"a{mark}")], [], anew=True)
    assert str(refused.value).isprintable()
    assert ids(plan([str(tmp_path)], [], anew=True)) == {f"{printable(f'a{mark}')}/a.md"}


def test_temporary_editor_files_are_skipped(tree: Path) -> None:
    write(tree, "docs/.#a.md", "docs/~$b.md", "docs/c.md~", "docs/#d.md#", "docs/.hidden/e.md", "docs/f.tmp")
    assert ids(plan(["docs"], [], anew=True)) == DOCS
    assert ids(plan(["docs"], [], Rules(exclude=("!.hidden",)), anew=True)) == DOCS | {".hidden/e.md"}
    assert ids(plan(["docs/.#a.md"], [], anew=True)) == {".#a.md"}


def test_folders_that_programs_fill_are_left_out(tree: Path) -> None:
    write(
        tree, "docs/node_modules/a.md", "docs/app/target/b.md", "docs/app/Cargo.toml", "docs/env/pyvenv.cfg", "docs/env/c.md",
    )  # fmt: skip
    write(tree, "docs/target/plan.md", "docs/vendor/offers.md")
    finder = Finder(plan(["docs"], [], anew=True))
    kept = {file.source_id for file in finder.find() if file.problem is None and file.source_id.endswith(".md")}
    assert kept == DOCS | {"target/plan.md", "vendor/offers.md"}
    assert finder.left_out == {"node_modules folders": 1, "target folders": 1, "env folders": 1}
    write(tree, "docs/.groundwireignore")
    (tree / "docs/.groundwireignore").write_text("!node_modules/")
    assert ids(plan(["docs"], [], anew=True)) >= {"node_modules/a.md"}


def test_rules_are_remembered_until_replaced(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    without = DOCS - {"guide/README.md", "guide/install.md"}
    assert build(index, "docs", exclude=("guide/",)) == without
    assert build(index, "docs") == without
    report = bring_in(index, "docs/guide/install.md", only=False)
    assert "left out by the rules" in report.skipped[0].reason
    assert build(index, "docs", exclude=("api/",)) == DOCS - {"api/README.md"}
    assert build(index, "docs", exclude=("",)) == DOCS


@pytest.mark.parametrize("line", ["!", "[z-a]"])
def test_meaningless_rule_is_one_error(tree: Path, line: str) -> None:
    with pytest.raises(IndexProblem, match="--exclude"):
        ids(plan(["docs"], [], Rules(exclude=(line,)), anew=True))


@pytest.mark.parametrize(
    ("inside", "url"),
    [
        ("README.md", "https://example.org/d/"),
        ("guide/index.html", "https://example.org/d/guide/"),
        ("guide/install.md", "https://example.org/d/guide/install"),
        ("guide/v1.2.md", "https://example.org/d/guide/v1.2"),
        ("notes.txt", "https://example.org/d/notes.txt"),
        ("guide/price list.pdf", "https://example.org/d/guide/price%20list.pdf"),
        ("안내.md", "https://example.org/d/%EC%95%88%EB%82%B4"),
        ("what?.md", "https://example.org/d/what%3F"),
    ],
)
def test_document_has_the_address_of_its_page(inside: str, url: str) -> None:
    for base in ("https://example.org/d", "https://example.org/d/"):
        assert Root(folder="/x", base_url=base).url_of(inside) == url
    assert Root(folder="/x").url_of(inside) == ""


def test_folders_of_one_address_are_below_it(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs/guide", "docs/api", base_url="https://example.org")
    assert entries(index)["guide/install.md"].url == "https://example.org/guide/install"
    first = entries(index)["guide/install.md"].first
    build(index, "docs/guide", "docs/api", base_url="")
    assert (entries(index)["guide/install.md"].url, entries(index)["guide/install.md"].first) == ("", first)


def tarred(path: Path, members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> None:
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


INSIDE = {
    "guide/install.md": b"# Install\n\nThe pump is bolted to the floor.\n",
    "../../etc/odd.md": b"A path that climbs is harmless.",
    "/root.txt": b"A path from the root is harmless, too.",
    "more.jsonl": b'{"source_id":"r1","text":"A record in an archive."}\n',
    "inner.zip": b"PK",
    "film.mp4": b"PNG",
    ".hidden.md": b"hidden",
}
OUTSIDE = {"a{0}/guide/install.md", "a{0}/etc/odd.md", "a{0}/root.txt", "r1"}


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz", ".tgz"])
def test_archive_is_read_like_a_folder(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    path = folder / f"a{suffix}"

    def pack() -> None:
        if suffix == ".zip":
            path.write_bytes(zipped(INSIDE))
        else:
            link = tarfile.TarInfo("link.md")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tarred(path, [*((tarfile.TarInfo(name), data) for name, data in INSIDE.items()), (link, b"")])

    pack()
    expected = {name.format(suffix) for name in OUTSIDE}
    report = bring_in(tmp_path / "index", folder, rules=Rules(base_url="https://example.org"))
    assert set(entries(tmp_path / "index")) == expected
    assert entries(tmp_path / "index")[f"a{suffix}/guide/install.md"].url == "https://example.org/guide/install"
    reasons = {skip.name: skip.reason for skip in report.skipped}
    assert "archive in an archive" in reasons[f"a{suffix}/inner.zip"]
    assert ".mp4" in reasons[f"a{suffix}/film.mp4"]
    assert suffix == ".zip" or "link" in reasons[f"a{suffix}/link.md"]
    again = bring_in(tmp_path / "index", folder)
    assert (again.files, again.unchanged_files, again.snapshot) == (0, 1, report.snapshot)
    original = INSIDE["guide/install.md"]
    try:
        INSIDE["guide/install.md"] = b"# Install\n\nThe pump hangs from the ceiling.\n"
        pack()
    finally:
        INSIDE["guide/install.md"] = original
    changed = bring_in(tmp_path / "index", path, only=False)
    assert (changed.changed, changed.added, changed.removed) == (1, 0, 0)
    path.rename(folder / f"b{suffix}")
    moved = bring_in(tmp_path / "index", folder)
    assert (moved.moved, moved.added, moved.removed) == (3, 0, 0)
    assert verify(tmp_path / "index") == []


def test_rules_hold_in_archives_too(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    members = {"guide/install.md": b"The pump.", "guide/notes.txt": b"The notes.", "draft.md": b"A draft."}
    (folder / "a.zip").write_bytes(zipped(members))
    names = build(tmp_path / "index", folder, include=("*.md",), exclude=("draft*",))
    assert names == {"a.zip/guide/install.md"}
    assert build(tmp_path / "other", folder, include=("guide/",)) == {"a.zip/guide/install.md", "a.zip/guide/notes.txt"}
    with pytest.raises(IndexProblem, match="nothing to index"):
        build(tmp_path / "none", folder, exclude=("*.zip",))


def test_archives_that_harm_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", "fine.md")
    (folder / "bomb.zip").write_bytes(zipped({"a.txt": b"\0" * 60_000_000}))
    tarred(folder / "bomb.tgz", [(tarfile.TarInfo("a.txt"), b"\0" * 60_000_000)])
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 nothing")
    (folder / "broken.tar.gz").write_bytes(b"\x1f\x8b nothing")
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("twice.md", "The first of two.")
        archive.writestr(zipfile.ZipInfo("./twice.md"), "The second of two.")
    data = bytearray(whole.getvalue())
    (folder / "odd.zip").write_bytes(data)
    at = data.rfind(b"PK\x01\x02", 0, data.find(b"twice.md", data.find(b"PK\x01\x02")))
    data[at + 8] |= 1  # the bit for an encrypted member
    (folder / "locked.zip").write_bytes(data)
    report = bring_in(tmp_path / "index", folder)
    reasons = {skip.name: skip.reason for skip in report.skipped}
    assert "bomb" in reasons["bomb.zip"]
    assert "bomb" in reasons["bomb.tgz"]
    assert "damaged" in reasons["broken.zip"]
    assert "damaged" in reasons["broken.tar.gz"]
    assert "link" in reasons["odd.zip/link.md"]
    assert "given before" in reasons["odd.zip/twice.md"]
    assert "encrypted" in reasons["locked.zip/twice.md"]
    assert "fine.md" in entries(tmp_path / "index")
    kept = read_skipped(tmp_path / "index")
    assert (kept.count, kept.failed_count) == (report.skipped_count, report.failed_count)


def test_archive_names_in_other_encodings_are_read(tmp_path: Path) -> None:
    name = "안내서와 설치 방법.md"
    raw = name.encode("cp949")
    stand_in = "x" * len(raw)
    (tmp_path / "a.zip").write_bytes(zipped({stand_in: b"The pump is bolted to the floor."}))
    packed = (tmp_path / "a.zip").read_bytes().replace(stand_in.encode(), raw)
    (tmp_path / "a.zip").write_bytes(packed)
    assert build(tmp_path / "index", tmp_path / "a.zip") == {f"a.zip/{name}"}


def test_skips_of_earlier_runs_are_kept(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    (tree / "docs/bad.pdf").write_bytes(b"nothing")
    build(index, "docs")
    bring_in(index, "other", only=False)
    assert [skip.name for skip in read_skipped(index).files] == ["bad.pdf"]
    (tree / "docs/bad.pdf").unlink()
    bring_in(index, "docs", only=False)
    assert read_skipped(index).count == 0


def test_older_index_format_is_built_again(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs/guide", "docs/api")
    old = snapshot.current(index)
    manifest = index / "snapshots" / old / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 3}))
    for refused in (lambda: Searcher.open(index), lambda: bring_in(index, "other", only=False)):
        with pytest.raises(IndexProblem, match=r"format 3 .* older version.*index build PATH --index"):
            refused()
    report = bring_in(index, "docs/guide")
    assert report.note == "format 3 is of an older version; everything is read again"
    assert set(entries(index)) == {"guide/README.md", "guide/install.md"}
    assert snapshot.names(index) == [old, report.snapshot]
    assert verify(index) == []


def test_following_reads_only_changes(tree: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build(index, "docs", "other")
    bring_in(index, "-", only=False, stdin=io.BytesIO(b'{"source_id":"s","text":"from the stream"}\n'))
    write(tree, "docs/new.md")
    (tree / "docs/api/README.md").unlink()
    (tree / "other/README.md").write_text("The other gate opens never.")
    report, changes, _ = follow(index)
    assert {(change.what, change.source_id) for change in changes} == {
        ("added", "docs/new.md"), ("removed", "docs/api/README.md"), ("changed", "other/README.md")
    }  # fmt: skip
    assert (report.files, report.failed_count) == (2, 0)
    assert "s" in entries(index)
    (tree / "other/README.md").unlink()
    before = snapshot.current(index)
    with pytest.raises(IndexProblem, match=r"other is empty; the index keeps its 1 documents"):
        follow(index)
    (tree / "docs").rename(tree / "elsewhere")
    with pytest.raises(IndexProblem, match="docs is gone"):
        follow(index)
    assert snapshot.current(index) == before


def test_index_inside_the_folder_is_skipped(tree: Path) -> None:
    index = tree / "docs" / "index"
    bring_in(index, "docs")
    report = bring_in(index, "docs")
    assert (report.skipped_count, report.documents) == (0, len(DOCS))
