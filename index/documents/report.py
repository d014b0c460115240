"""The result of reading files: the report of a build, and the unreadable files, kept in the index."""

import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from index.durable import replace_file
from index.readers import Unreadable

MAX_LISTED = 1000
_FILE = "skipped.json"


class Skip(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was skipped and why. `failed`: it should have been indexed but could not be. `origin` is its file, with the `stamp`
    that it had.
    """

    name: str
    reason: str
    failed: bool
    origin: str = ""
    stamp: str = ""


class Report(msgspec.Struct, kw_only=True):
    """`skipped` holds the first 1,000; `reasons` counts all. `megabytes` is the amount read, in 10^6 bytes.

    `left_out` counts files and folders that rules leave out, by rule. `note` is a line for the person, beyond the figures. `groups`
    counts the documents that each group sees; `access` are lines on documents without readers, and on useless rules of access.toml.
    """

    snapshot: str = ""
    files: int = 0
    unchanged_files: int = 0
    documents: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    left_out: dict[str, int] = {}
    passages: int = 0
    languages: dict[str, int] = {}
    megabytes: float = 0.0
    seconds: float = 0.0
    skipped: list[Skip] = []
    reasons: dict[str, int] = {}
    skipped_count: int = 0
    failed_count: int = 0
    note: str = ""
    groups: dict[str, int] = {}
    access: list[str] = []

    def skip(self, name: str, reason: Unreadable, origin: str = "", stamp: str = "") -> None:
        self.add(Skip(name, str(reason), reason.failed, origin, stamp))

    def add(self, skip: Skip) -> None:
        self.skipped_count += 1
        self.reasons[skip.reason] = self.reasons.get(skip.reason, 0) + 1
        self.failed_count += skip.failed
        if len(self.skipped) < MAX_LISTED:
            self.skipped.append(skip)


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were last found but not read; `files` holds the first 1,000 of `count`."""

    read_at: str = ""
    count: int = 0
    failed_count: int = 0
    files: list[Skip] = []


def read_skipped(index: Path) -> Skipped:
    """The unreadable files that were kept; empty without any."""
    try:
        return msgspec.json.decode((index / _FILE).read_bytes(), type=Skipped)
    except (OSError, msgspec.DecodeError):
        return Skipped()


def now_skipped(earlier: Skipped, report: Report, looked_at: set[str] | None) -> Skipped:
    """The skipped files after a build. `looked_at`: the files of this build, when others were skipped earlier; None for all."""
    still: list[Skip] = []
    if looked_at is not None:
        now = {skip.name for skip in report.skipped}
        still = [
            skip
            for skip in earlier.files
            if skip.origin not in looked_at and skip.name not in now and os.path.lexists(skip.origin)
        ]
    return Skipped(
        read_at=datetime.now(UTC).isoformat(timespec="seconds"),
        count=report.skipped_count + len(still),
        failed_count=report.failed_count + sum(skip.failed for skip in still),
        files=[*report.skipped, *still][:MAX_LISTED],
    )


def write_skipped(index: Path, skipped: Skipped) -> None:
    replace_file(index / _FILE, msgspec.json.format(msgspec.json.encode(skipped), indent=1), durable=False)
