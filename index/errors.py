"""The one exception by which an index reports that it cannot do what was asked."""

from pathlib import Path


class IndexProblem(Exception):
    """The problem of the index or its input, its place, and the likely remedy, in one line."""


class NotFetched(IndexProblem):
    """There is no snapshot yet: it is on its way from a bucket."""


def remedy(index: Path) -> str:
    """How to get an index where there is none; a folder of documents gets none inside it."""
    if index.is_dir() and any(index.iterdir()) and not (index / "snapshots").exists():
        return f"if these are documents, build one with `groundwire index build {index} --index {index.name}.index`"
    return f"build one with `groundwire index build PATH --index {index}`"
