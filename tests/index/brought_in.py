"""Files brought into an index and followed, by reading processes that the tests of a run share."""

from functools import cache
from pathlib import Path

from index.build import ingest
from index.documents.report import Report
from index.model import Entry
from index.reading.pool import Pool
from index.snapshot import snapshot
from index.snapshot.catalogue import read_catalogue


@cache
def readers() -> Pool:
    """One process, which starts with the first file and ends with the session."""
    return Pool(processes=1)


def bring_in(index: Path, *paths: Path | str, only: bool = True, **options: object) -> Report:
    options = {"pool": readers()} | options
    return ingest.bring_in(index, [str(path) for path in paths], only=only, **options)  # type: ignore[arg-type]


def follow(index: Path) -> ingest.UpdateResult:
    return ingest.follow(index, pool=readers())


def entries(index: Path) -> dict[str, Entry]:
    with snapshot.hold(index) as handle:
        return read_catalogue(handle.directory)


def gate_index(folder: Path, *hours: str) -> Path:
    """An index of a folder `docs` with one document: of a snapshot for each hour at which the gate opens."""
    (folder / "docs").mkdir(exist_ok=True)
    for hour in hours:
        (folder / "docs" / "gate.md").write_text(f"# Gate\n\nThe gate opens at {hour} in the morning.\n")
        bring_in(folder / "index", folder / "docs")
    return folder / "index"
