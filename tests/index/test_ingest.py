"""Indexing files and keeping the index up to date, for any folder, under load too."""

import io
import json
import os
from pathlib import Path

import pytest

from index.build.ingest import take_out
from index.check import verify
from index.documents.files import Finder
from index.errors import IndexProblem
from index.reading.job import Limits
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.roots import plan
from tests.index import files
from tests.index.brought_in import bring_in, entries, follow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    (folder / "deep").mkdir(parents=True)
    (folder / "gate.md").write_text("# Gate\n\nThe gate opens at six in the morning.\n")
    (folder / "deep" / "canteen.txt").write_text("The canteen serves soup at noon.\n")
    (folder / "helmets.pdf").write_bytes(files.pdf([["Helmets are worn in the foundry."]]))
    return folder


def listed(index: Path) -> list[str]:
    return sorted(entries(index))


def test_second_build_touches_only_changes(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    first = bring_in(index, folder)
    assert (first.files, first.added, first.failed_count) == (3, 3, 0)
    assert listed(index) == ["deep/canteen.txt", "gate.md", "helmets.pdf"]
    second = bring_in(index, folder)
    assert (second.files, second.unchanged_files, second.snapshot) == (0, 3, first.snapshot)
    (folder / "gate.md").write_text("# Gate\n\nThe gate opens at seven.\n")
    (folder / "helmets.pdf").unlink()
    (folder / "new.txt").write_text("Parking is free on Sundays.")
    third = bring_in(index, folder)
    assert (third.files, third.added, third.changed, third.removed) == (2, 1, 1, 1)
    assert listed(index) == ["deep/canteen.txt", "gate.md", "new.txt"]
    searcher = Searcher.open(index)
    assert "seven" in searcher.search("when does the gate open")[0].text
    searcher.close()
    assert verify(index) == []


def test_add_keeps_and_remove_deletes(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    records = tmp_path / "more.jsonl"
    records.write_text(
        "".join(json.dumps({"source_id": f"r{n}", "text": f"Record number {n}."}) + "\n" for n in range(3))
    )
    bring_in(index, folder)
    bring_in(index, records, only=False)
    assert listed(index) == ["deep/canteen.txt", "gate.md", "helmets.pdf", "r0", "r1", "r2"]
    records.write_text(json.dumps({"source_id": "r1", "text": "Record number 1."}) + "\n")
    report = bring_in(index, records, only=False)
    assert (report.changed, report.removed) == (0, 2)
    report = take_out(index, ["gate.md", "r1"])
    assert (report.removed, report.documents) == (2, 2)
    with pytest.raises(IndexProblem, match="no document 'gone'"):
        take_out(index, ["helmets.pdf", "gone"])
    assert listed(index) == ["deep/canteen.txt", "helmets.pdf"]
    with pytest.raises(IndexProblem, match="empty"):
        take_out(index, ["deep/canteen.txt", "helmets.pdf"])


def test_bad_files_are_named_and_the_rest_indexed(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "empty.txt").touch()
    (folder / "film.mp4").write_bytes(b"\x89PNG")
    (folder / "line\nbreak.txt").write_text("A name with a line break in it.")
    (folder / "records.jsonl").write_text(
        '{"source_id":"ok","text":"fine"}\nrubbish\n{"source_id":"ok","text":"again"}\n'
    )
    (folder / ".hidden.txt").write_text("hidden")
    outside = tmp_path / "outside.txt"
    outside.write_text("not part of the folder")
    (folder / "leaves.txt").symlink_to(outside)
    (folder / "stays.txt").symlink_to(folder / "gate.md")
    (folder / "circle").symlink_to(folder)
    (folder / "dangling.txt").symlink_to(folder / "nothing")
    (folder / "pipe.txt").unlink(missing_ok=True)
    os.mkfifo(folder / "pipe.txt")
    report = bring_in(tmp_path / "index", folder)
    reasons = {skip.name: skip.reason for skip in report.skipped}
    assert "no readable PDF" in reasons["broken.pdf"]
    assert reasons["empty.txt"] == "empty"
    assert ".mp4" in reasons["film.mp4"]
    assert "leaves" in reasons["leaves.txt"]
    assert "not followed" in reasons["circle"]
    assert "nothing" in reasons["dangling.txt"]
    assert "regular" in reasons["pipe.txt"]
    assert "broken JSON" in reasons["records.jsonl line 2"]
    assert "given before" in reasons["records.jsonl line 3"]
    assert report.failed_count == 3
    names = listed(tmp_path / "index")
    assert names == ["deep/canteen.txt", "gate.md", "helmets.pdf", "line%0Abreak.txt", "ok", "stays.txt"]


@pytest.mark.parametrize("name", ["nothing-here", "*.none"])
def test_missing_path_is_one_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(IndexProblem, match="check the path"):
        bring_in(tmp_path / "index", tmp_path / name)
    assert not snapshot.exists(tmp_path / "index")


def test_empty_folder_keeps_the_index(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(IndexProblem, match="no index was made"):
        bring_in(tmp_path / "index", empty)
    first = bring_in(tmp_path / "index", folder)
    with pytest.raises(IndexProblem, match="as it was"):
        bring_in(tmp_path / "index", empty)
    assert snapshot.current(tmp_path / "index") == first.snapshot


def test_standard_input_globs_and_several_folders(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "gate.md").write_text("# Other gate\n\nThe other gate opens never.\n")
    stream = io.BytesIO(b'{"source_id":"s","text":"from the stream"}\n')
    bring_in(tmp_path / "index", folder, other, "-", stdin=stream)
    assert listed(tmp_path / "index") == [
        "documents/deep/canteen.txt",
        "documents/gate.md",
        "documents/helmets.pdf",
        "other/gate.md",
        "s",
    ]
    bring_in(tmp_path / "globbed", tmp_path / "**" / "*.md")
    assert listed(tmp_path / "globbed") == ["documents/gate.md", "other/gate.md"]
    bring_in(tmp_path / "text", "-", stdin=io.BytesIO(b"plain words"), stdin_name="note.txt")
    assert listed(tmp_path / "text") == ["note.txt"]


def test_oversized_file_is_named_without_reading(folder: Path) -> None:
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    found = {item.source_id: item.problem for item in Finder(plan([str(folder)], [], anew=True)).find()}
    assert "200 MB" in str(found["huge.txt"])


def test_empty_files_are_counted_and_some_named(folder: Path, tmp_path: Path) -> None:
    (folder / "crowd").mkdir()
    for number in range(1_100):
        (folder / "crowd" / f"{number}.txt").touch()
    report = bring_in(tmp_path / "index", folder)
    assert report.skipped_count == 1_100
    assert len(report.skipped) == 1000
    assert report.documents == 3


def test_relative_index_path_with_a_vector_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (json.dumps({"source_id": f"r{n}", "text": f"Paragraph {n} says {n * n}."}) for n in range(1_001))
    Path("rows.jsonl").write_text("\n".join(rows))
    assert bring_in(Path("index"), "rows.jsonl").passages == 1_001
    assert verify(Path("index")) == []


def test_oversized_document_keeps_its_old_version(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    bring_in(index, folder)
    (folder / "helmets.pdf").write_bytes(files.looping_pdf())
    (folder / "gate.md").write_text("# Gate\n\nThe gate opens at seven.\n")
    report = bring_in(index, folder, limits=Limits(seconds=1), pool=None)
    assert [(skip.name, skip.reason) for skip in report.skipped] == [
        ("helmets.pdf", "took longer than 1 s; split it; what was read of it before stays")
    ]
    assert (report.removed, report.failed_count) == (0, 1)
    assert listed(index) == ["deep/canteen.txt", "gate.md", "helmets.pdf"]
    assert [skip.name for skip in follow(index).report.skipped] == ["helmets.pdf"]
    searcher = Searcher.open(index)
    assert "Helmets" in searcher.search("who wears helmets")[0].text
    searcher.close()
    assert verify(index) == []
