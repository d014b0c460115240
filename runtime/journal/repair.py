"""Read the journal's files through before nats-server starts, and take out what is damaged.

nats-server itself cuts a block off at its first damaged record and says nothing; in a block without that record it finds all the
others. What was there is copied to `journal-damaged-<time>` first, with a report. Blocks that were sound and have not been
written to since are not read again.
"""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bus.subjects import RUNS, BadId, Key, parse

#: Where each account's streams are, below the folder of the stack.
ACCOUNTS = Path("jetstream")
REPORT = "report.json"
_SEEN = "journal-read.json"
_META = "journal-meta"


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """Damaged bytes of one block. Sequences between `after` and `before` are lost; `before` is 0 where the block ended with it.

    `subjects`: of the lost records, those that could still be read.
    """

    stream: str
    block: str
    size_bytes: int = 0
    after: int = 0
    before: int = 0
    subjects: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.size_bytes:
            return f"{self.stream}: {self.block} was damaged and is restored from its copy"
        upto = f"before {self.before}" if self.before else "to the end of the block"
        return (
            f"{self.stream}: {self.size_bytes} bytes of {self.block} are damaged; the records after sequence {self.after}"
            f" and {upto} are lost"
        )


def repair(folder: Path) -> list[Damage]:
    """Take damage out of the streams in a stack's folder; what it was. Raises OSError."""
    seen = _seen(folder)
    found: list[Damage] = []
    aside = folder / f"journal-damaged-{time.strftime('%Y%m%dT%H%M%S')}"
    for stream in _streams(folder):
        found += _mended_meta(folder, stream, aside)
        changed = [block for block in _blocks(stream) if seen.get(_name(folder, block)) != _stamp(block)]
        for block in changed:
            kept, damage = _damage(stream.name, block)
            if damage:
                found += damage
                _copy(block, aside / stream.name)
                # The block last: what a crash leaves undone before that is found again.
                _report(aside, found)
                (stream / "msgs" / "index.db").unlink(missing_ok=True)  # it lists what will no longer be there
                _write(block, kept)
            seen[_name(folder, block)] = _stamp(block)
    if found:
        _report(aside, found)
    there = {_name(folder, block) for stream in _streams(folder) for block in _blocks(stream)}
    if seen:
        _write(folder / _SEEN, msgspec.json.encode({name: stamp for name, stamp in seen.items() if name in there}))
    return found


def check(folder: Path) -> list[Damage]:
    """Read every block, whenever it was read last, and change nothing. Raises OSError."""
    return [each for stream in _streams(folder) for block in _blocks(stream) for each in _damage(stream.name, block)[1]]


def reports(folder: Path) -> Iterator[tuple[Path, list[Damage]]]:
    """What was repaired before, oldest first: the folder with the damaged files, and what was wrong with them."""
    for path in sorted(folder.glob(f"journal-damaged-*/{REPORT}")):
        try:
            yield path.parent, msgspec.json.decode(path.read_bytes(), type=list[Damage])
        except (OSError, msgspec.DecodeError):
            continue


def lost(folder: Path) -> list[Key]:
    """The records of RUNS that were lost to damage, as far as that is known."""
    found = []
    for _, damages in reports(folder):
        for subject in (name for each in damages if each.stream == RUNS for name in each.subjects):
            try:
                found.append(parse(subject))
            except BadId:
                continue
    return found


def _report(aside: Path, found: list[Damage]) -> None:
    aside.mkdir(exist_ok=True, mode=0o700)
    _write(aside / REPORT, msgspec.json.encode(found))


def _damage(stream: str, block: Path) -> tuple[bytes, list[Damage]]:
    """The block without its damage, and the damage."""
    from runtime.journal.blocks import read, without  # numpy is loaded only when there is a block to read

    data = block.read_bytes()
    entries, holes = read(data, stream, int(block.stem))
    return without(data, entries) if holes else data, [
        Damage(
            stream=stream,
            block=block.name,
            size_bytes=hole.end - hole.start,
            after=hole.after,
            before=hole.before,
            subjects=hole.subjects,
        )
        for hole in holes
    ]


def _mended_meta(folder: Path, stream: Path, aside: Path) -> list[Damage]:
    """Keep a copy of the stream's own description, and put it back where that does not match its checksum."""
    files, copies = [stream / "meta.inf", stream / "meta.sum"], folder / _META / stream.name
    if _described(stream):
        if not _described(copies) or any((copies / f.name).read_bytes() != f.read_bytes() for f in files):
            for file in files:
                _copy(file, copies)
        return []
    if not _described(copies):
        return []
    for file in files:
        if file.exists():
            _copy(file, aside / stream.name)
        shutil.copy2(copies / file.name, file)
    return [Damage(stream=stream.name, block="meta.inf")]


def _described(stream: Path) -> bool:
    from runtime.journal.highway_hash import hashes, key_of

    try:
        told = (stream / "meta.sum").read_text(encoding="ascii", errors="replace").strip()
        made = hashes(key_of(stream.name), [(stream / "meta.inf").read_bytes()])[0]
    except OSError:
        return False
    return told == made.to_bytes(8, "little").hex()


def _streams(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / ACCOUNTS).glob("*/streams/*") if path.is_dir())


def _blocks(stream: Path) -> list[Path]:
    return sorted((p for p in (stream / "msgs").glob("*.blk") if p.stem.isdigit()), key=lambda path: int(path.stem))


def _name(folder: Path, block: Path) -> str:
    return str(block.relative_to(folder / ACCOUNTS))


def _stamp(block: Path) -> tuple[int, int]:
    stat = block.stat()
    return stat.st_size, stat.st_mtime_ns


def _seen(folder: Path) -> dict[str, tuple[int, int]]:
    try:
        return msgspec.json.decode((folder / _SEEN).read_bytes(), type=dict[str, tuple[int, int]])
    except (OSError, msgspec.DecodeError):
        return {}


def _copy(file: Path, into: Path) -> None:
    for folder in (into.parent, into):
        folder.mkdir(exist_ok=True, mode=0o700)
    shutil.copy2(file, into / file.name)


def _write(file: Path, data: bytes) -> None:
    """Replace the file, whole or not at all."""
    new = file.with_name(f"{file.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)
