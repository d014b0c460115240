"""Visibility of documents: rules of access.toml, front matter and records, and when they apply."""

import json
import os
import tarfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.access import ACCESS_FILE, AccessRules
from index.errors import IndexProblem
from index.model import Groups, counted, narrowed
from index.readers import Source, Unreadable, read
from index.search.searcher import Searcher
from index.snapshot import snapshot
from tests.index.brought_in import bring_in, entries, follow
from tests.index.files import zipped


def seen(index: Path) -> dict[str, Groups]:
    return {entry.source_id: entry.groups for entry in entries(index).values()}


def rules(folder: Path, table: Mapping[str, object]) -> Path:
    """Write an access.toml."""
    lines = [f"{json.dumps(pattern, ensure_ascii=False)} = {json.dumps(said)}" for pattern, said in table.items()]
    path = folder / ACCESS_FILE
    path.write_text("\n".join(["[groups]", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in ("a.md", "finance/q3.md", "finance/board/minutes.md", "public/news.md"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n\nThe gate of {path.parent.name} opens at six.\n")
    return tmp_path / "docs"


@pytest.mark.parametrize(
    ("table", "groups"),
    [
        ({"finance/**": ["finance", "board"]}, {"finance/q3.md": ("finance", "board")}),
        ({"finance": "finance"}, {"finance/q3.md": ("finance",), "finance/board/minutes.md": ("finance",)}),
        ({"FINANCE/*.MD": "finance"}, {"finance/q3.md": ("finance",), "a.md": None}),
        ({"/finance/board/": "board", "*.md": ["staff", "board"]}, {
            "finance/board/minutes.md": ("board",), "a.md": ("staff", "board")}),
        ({"*.md": ["staff", "board"], "/finance/board/": "board"}, {"finance/board/minutes.md": ("board",)}),
        ({"*": "staff", "board/": "board"}, {"finance/board/minutes.md": (), "finance/q3.md": ("staff",)}),
        ({"q?.md": " é\u0301quipe  A"}, {"finance/q3.md": ("é́quipe A",)}),
    ],
)  # fmt: skip
def test_every_rule_that_matches_narrows(docs: Path, table: dict[str, object], groups: dict[str, Groups]) -> None:
    rules(docs, table)
    found = AccessRules()
    assert {name: found.groups_for(docs / name) for name in groups} == groups


names = st.none() | st.lists(st.sampled_from("abcd"), max_size=3, unique=True).map(tuple)


@given(st.lists(names, max_size=4), names)
def test_additional_rule_never_shows_more(said: list[Groups], more: Groups) -> None:
    before, after = narrowed(said), narrowed([*said, more])
    for one in "abcd":
        if before is not None and one not in before:
            assert after is not None
            assert one not in after
    assert {*(narrowed(reversed(said)) or ())} == {*(before or ())}


def test_file_applies_to_all_folders_below(docs: Path, tmp_path: Path) -> None:
    rules(tmp_path, {"docs/**": ["staff", "board"]})
    rules(docs, {"finance/": ["finance", "board"]})
    rules(docs / "finance", {"board/*": "board"})
    bring_in(tmp_path / "index", docs)
    assert seen(tmp_path / "index") == {
        "a.md": ("staff", "board"),
        "public/news.md": ("staff", "board"),
        "finance/q3.md": ("board",),
        "finance/board/minutes.md": ("board",),
    }
    bring_in(tmp_path / "part", docs / "finance" / "q3.md", docs / "public")
    assert seen(tmp_path / "part")["finance/q3.md"] == ("board",)


BAD = [
    ("", "groups"),
    ("[groups]\n", "names no rule"),
    ('[group]\n"a" = "b"\n', "did you mean 'groups'?"),
    ('groups = ["a"]\n', "groups"),
    ('[groups]\n"a" = []\n', "length >= 1"),
    ('[groups]\n"a" = ""\n', "length >= 1"),
    ('[groups]\n"a" = [" "]\n', "not blank"),
    ('[groups]\n"a" = "b, c"\n', "no comma"),
    ('[groups]\n"a" = 3\n', "groups"),
    ('[groups]\n"" = "a"\n', "no pattern"),
    ('[groups]\n"!a" = "a"\n', "no pattern"),
    ('[groups]\n"#a" = "a"\n', "no pattern"),
    ('[groups]\n"../a" = "a"\n', "no pattern"),
    ('[groups]\n"./a" = "a"\n', "no pattern"),
    ("[groups]\n'a\\b' = \"a\"\n", "no pattern"),
    ('[groups]\n"a" = "b"\n"a" = "c"\n', "overwrite"),
    ("\0\1", "access.toml"),
    ("x" * 5000, "access.toml"),
]


@pytest.mark.parametrize(("text", "says"), BAD)
def test_bad_file_is_refused_in_one_line(docs: Path, text: str, says: str) -> None:
    (docs / "finance" / ACCESS_FILE).write_text(text)
    with pytest.raises(IndexProblem, match=r"finance/access\.toml: ") as told:
        AccessRules().check([docs / "finance" / "board"])
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_bad_file_keeps_the_index(docs: Path, tmp_path: Path) -> None:
    bring_in(tmp_path / "index", docs)
    before = snapshot.current(tmp_path / "index")
    (docs / "finance" / ACCESS_FILE).write_text("[groups]\n")
    with pytest.raises(IndexProblem, match="names no rule"):
        bring_in(tmp_path / "index", docs)
    with pytest.raises(IndexProblem, match="names no rule"):
        follow(tmp_path / "index")
    assert snapshot.current(tmp_path / "index") == before


def test_unreadable_or_misnamed_file_is_refused(docs: Path, tmp_path: Path) -> None:
    path = docs / ACCESS_FILE
    path.symlink_to(docs / "nowhere.toml")
    with pytest.raises(IndexProblem, match=r"access\.toml: is no file"):
        bring_in(tmp_path / "index", docs)
    path.unlink()
    path.write_bytes(b'[groups]\n"\xff" = "a"\n')
    with pytest.raises(IndexProblem, match="utf-8"):
        bring_in(tmp_path / "index", docs)
    path.unlink()
    rules(docs, {"*": "a"}).rename(docs / "Access.TOML")
    with pytest.raises(IndexProblem, match=r"Access\.TOML: name it access\.toml"):
        bring_in(tmp_path / "index", docs)


def test_it_is_never_a_document(docs: Path, tmp_path: Path) -> None:
    path = rules(docs, {"finance/": "finance"})
    (docs / ".groundwireignore").write_text("!access.toml\n*.toml\n")
    bring_in(tmp_path / "index", docs, path)
    assert seen(tmp_path / "index") == {
        "a.md": None, "public/news.md": None, "finance/q3.md": ("finance",), "finance/board/minutes.md": ("finance",),
    }  # fmt: skip


def test_change_applies_at_the_next_update(docs: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    bring_in(index, docs)
    searcher = Searcher.open(index)
    found = len(searcher.search("gate opens", k=10, groups=()))
    path = rules(docs, {"finance/": "finance"})
    updated = follow(index)
    assert (updated.report.files, updated.report.changed, len(updated.changes)) == (0, 2, 2)
    assert searcher.swap_to()
    assert len(searcher.search("gate opens", k=10, groups=())) == found - 2
    assert len(searcher.search("gate opens", k=10, groups=("finance",))) == found

    assert follow(index).changes == []
    path.unlink()
    assert bring_in(index, docs).changed == 2
    assert set(seen(index).values()) == {None}
    searcher.close()


def test_absent_folder_shows_nothing_new(docs: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    rules(docs, {"finance/": "finance"})
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("The bell rings at noon.\n")
    bring_in(index, docs)
    docs.rename(tmp_path / "away")
    bring_in(index, other, only=False)
    assert seen(index)["finance/q3.md"] == ("finance",)


def test_document_groups_narrow_the_folder_rule(docs: Path, tmp_path: Path) -> None:
    rules(docs, {"finance/": ["finance", "board"], "*.jsonl": ["staff", "hr"]})
    (docs / "finance" / "q3.md").write_text("---\ngroups: [board, staff]\n---\nRevenue rose by two percent.\n")
    (docs / "finance" / "q4.md").write_text("---\ngroups: staff\n---\nRevenue fell by two percent.\n")
    (docs / "public" / "page.html").write_text(
        "---\ngroups: [a, b]\n---\n<html><head><meta name='groups' content='b, c'></head><body><p>Hello there.</p></body></html>"
    )
    (docs / "public" / "odd.md").write_text("---\ngroups: {a: b}\n---\nThe bell rings.\n")
    (docs / "faq.jsonl").write_text(
        '{"source_id": "all", "text": "The bell rings at noon."}\n'
        '{"source_id": "hr", "text": "The bell rings at one.", "groups": ["hr", "board"]}\n'
        '{"source_id": "bad", "text": "The bell rings at two.", "groups": {"hr": true}}\n'
        '{"source_id": "open", "text": "The bell rings at three.", "groups": []}\n'
    )
    report = bring_in(tmp_path / "index", docs)
    found = seen(tmp_path / "index")
    assert found["finance/q3.md"] == ("board",)
    assert found["finance/q4.md"] == ()
    assert found["public/page.html"] == ("b",)
    assert (found["all"], found["hr"], found["open"]) == (("staff", "hr"), ("hr",), ("staff", "hr"))
    assert "bad" not in found
    assert [skip.name for skip in report.skipped] == ["faq.jsonl line 3", "public/odd.md"]
    assert report.access == ["no group sees finance/q4.md: what names groups for it agrees on none"]
    assert report.groups == counted(found.values())
    assert report.groups["(nobody)"] == 1

    stamp = (docs / "finance" / "q4.md").stat().st_mtime_ns + 10**9
    (docs / "finance" / "q4.md").write_text("---\ngroups: finance\n---\nRevenue fell by two percent.\n")
    os.utime(docs / "finance" / "q4.md", ns=(stamp, stamp))
    follow(tmp_path / "index")
    assert seen(tmp_path / "index")["finance/q4.md"] == ("finance",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "---\ngroups: {sales: yes}\n---\nThe bell rings.\n"),
        ("a.md", "---\ngroups:\n  - [sales]\n---\nThe bell rings.\n"),
        ("a.md", "---\ngroups: sales\nThe bell rings and no rule ends this.\n"),
        ("a.md", "+++\ngroups = true\n+++\nThe bell rings.\n"),
        ("a.md", '{"groups": ["sales"], \nThe bell rings.\n'),
        ("a.html", "---\nGroups: {a: b}\n---\n<p>The bell rings.</p>\n"),
        ("a.html", "---\ngroups: a\n---\n<meta name=groups content=b><p>The bell rings.</p>\n"),
    ],
)
def test_unreadable_groups_exclude_the_document(name: str, text: str) -> None:
    with pytest.raises(Unreadable, match="group"):
        read(Source(text.encode(), name, "a", Path(name).suffix))


def test_archive_and_mailbox_members_inherit_groups(docs: Path, tmp_path: Path) -> None:
    box = {
        "in/a.md": "# A\n\nThe bell rings.\n",
        "board/b.md": "# B\n\nThe bell rings twice.\n",
        "board/c.jsonl": '{"source_id": "r1", "text": "The bell rings thrice."}\n',
    }
    (docs / "box.zip").write_bytes(zipped(box))
    ruled = {"access.toml": '[groups]\n"*" = "x"\n', "d.md": "# D\n\nThe bell is silent.\n"}
    (docs / "ruled.zip").write_bytes(zipped(ruled))
    (docs / "mail.mbox").write_text("From a@b Mon Jan  1 00:00:00 2024\nSubject: Pay\n\nThe raise is four percent.\n")
    with tarfile.open(docs / "ruled.tar", "w") as tar:
        tar.add(rules(tmp_path, {"docs": "staff"}), "deep/Access.toml")
        tar.add(docs / "a.md", "a.md")
    report = bring_in(tmp_path / "index", docs)
    assert {name: seen(tmp_path / "index").get(name) for name in ("box.zip/in/a.md", "r1", "mail.mbox")} == {
        "box.zip/in/a.md": ("staff",), "r1": ("staff",), "mail.mbox": ("staff",)}  # fmt: skip
    assert {skip.name for skip in report.skipped} == {"ruled.zip", "ruled.tar"}
    rules(docs, {"board/": ["board", "staff"], "mail.mbox": "hr", "in": "staff"})
    rules(tmp_path, {"docs": ["staff", "board", "hr"]})
    bring_in(tmp_path / "index", docs)
    found = seen(tmp_path / "index")
    assert found["box.zip/in/a.md"] == ("staff",)
    assert found["mail.mbox"] == ("hr",)
    assert {*(found["box.zip/board/b.md"] or ())} == {*(found["r1"] or ())} == {"staff", "board"}


def test_link_has_the_rule_of_its_target(docs: Path, tmp_path: Path) -> None:
    rules(docs, {"finance/": "finance", "public/": ["staff", "finance"]})
    (docs / "public" / "copy.md").symlink_to(docs / "finance" / "q3.md")
    bring_in(tmp_path / "index", docs)
    assert seen(tmp_path / "index")["public/copy.md"] == ("finance",)


def test_names_match_in_any_unicode_form(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / unicodedata.normalize("NFD", "재무 Équipe\u200b")
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("The bell rings.\n")
    rules(tmp_path / "docs", {"재무 équipe\u200b/": "재무"})
    bring_in(tmp_path / "index", tmp_path / "docs")
    assert list(seen(tmp_path / "index").values()) == [("재무",)]


def test_unmatched_rule_is_reported(docs: Path, tmp_path: Path) -> None:
    path = rules(docs, {"finnance/": "finance", "public/": "staff"})
    assert bring_in(tmp_path / "index", docs).access == [f'{path}: "finnance/" matches no document']
