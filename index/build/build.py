"""What changed in the documents of an index: which are put, which removed, moved or only seen by others.

Only what changed is written again (sink.py); the rest stays as the newest snapshot has it.
"""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Literal

import msgspec

from index.model import Entry, Groups
from index.sink import Sink
from index.snapshot.prepared import Prepared
from index.snapshot.roots import Root
from index.snapshot.snapshot import Manifest


class Change(msgspec.Struct, frozen=True):
    """What a build did to one document, which now has this many passages; `before` is the id of a moved one until then."""

    what: Literal["added", "changed", "moved", "removed"]
    source_id: str
    passages: int = 0
    before: str = ""


class Build:
    """One build: `put` and `remove` documents, then `publish`, and `close` in every case."""

    def __init__(self, sink: Sink) -> None:
        """Raises IndexProblem. It closes the sink."""
        self._sink = sink
        self._parent = sink.parent
        self.changes: list[Change] = []
        self.roots: tuple[Root, ...] = ()
        self._next = 0
        try:
            self.catalogue = sink.catalogue()
        except BaseException:
            sink.close()
            raise
        if self._parent is not None:
            self._next = self._parent.next_number
            self.roots = self._parent.roots

    def spooled(self, stream: IO[bytes]) -> Path:
        """A file with the stream, for a process to read; the caller deletes it."""
        with tempfile.NamedTemporaryFile(dir=self._sink.scratch, delete=False) as file:
            shutil.copyfileobj(stream, file)
        return Path(file.name)

    def warm_up(self) -> None:
        """Let what writes start, which takes a second, while documents are read."""
        self._sink.warm_up()

    @property
    def is_changed(self) -> bool:
        """Whether a new snapshot would say anything new."""
        return bool(self.changes) or (self._parent is not None and self.roots != self._parent.roots)

    def put(self, document: Prepared, origin: str = "", stamp: str = "", content: str = "", member: str = "") -> bool:
        """Add or update a document; False when the index already holds it unchanged."""
        known = self.catalogue.get(document.entry.source_id)
        source = {"origin": origin, "stamp": stamp, "content": content, "member": member}
        entry = msgspec.structs.replace(document.entry, first=self._next, **source)
        if known is not None and known.digest == entry.digest:
            self._keep(msgspec.structs.replace(known, url=entry.url, **source), known)
            if known.url == entry.url:
                return False
            self.changes.append(Change("changed", entry.source_id, known.count))
            return True
        if known is not None:
            self._sink.remove(known)
            entry = msgspec.structs.replace(entry, formerly=known.formerly, access=known.access)
        self.changes.append(Change("added" if known is None else "changed", entry.source_id, entry.count))
        self.catalogue[entry.source_id] = entry
        self._next += entry.count
        numbered = [msgspec.structs.replace(one, number=n) for n, one in enumerate(document.passages, entry.first)]
        self._sink.put(entry, numbered, document.hashes)
        return True

    def touch(self, source_id: str, stamp: str) -> None:
        """Note that the file of a document was looked at again and holds the same."""
        self.catalogue[source_id] = msgspec.structs.replace(self.catalogue[source_id], stamp=stamp)

    def regroup(self, access: Mapping[str, Groups]) -> None:
        """Note the groups of access.toml for these documents; their passages stay."""
        changed = {change.source_id for change in self.changes}
        for source_id, groups in access.items():
            known = self.catalogue[source_id]
            if known.access != groups:
                self._keep(msgspec.structs.replace(known, access=groups), known)
                if source_id not in changed:
                    self.changes.append(Change("changed", source_id, known.count))

    def move(self, ids: Mapping[str, str]) -> None:
        """Give documents other ids, all at once, keeping their passages. A document that had a new id before is removed."""
        moving = {new: self.catalogue.pop(old) for old, new in ids.items()}
        for new, known in moving.items():
            self.remove(new)
            formerly = (*known.formerly, known.source_id)
            self._keep(msgspec.structs.replace(known, source_id=new, formerly=formerly), known)
            self.changes.append(Change("moved", new, known.count, known.source_id))

    def _keep(self, entry: Entry, before: Entry) -> None:
        """An entry with passages that stay, though they were written under another id or URL."""
        self.catalogue[entry.source_id] = entry
        if (entry.source_id, entry.url, entry.groups) != (before.source_id, before.url, before.groups):
            self._sink.keep(entry, before)

    def remove(self, source_id: str) -> bool:
        """Remove a document; False when there is none with that id."""
        known = self.catalogue.pop(source_id, None)
        if known is None:
            return False
        self._sink.remove(known)
        self.changes.append(Change("removed", source_id))
        return True

    def publish(self) -> Manifest:
        """Make the new snapshot current; returns the parent's manifest when nothing changed."""
        if self._parent is not None and not self.is_changed:
            return self._parent
        return self._sink.publish(self.catalogue, self.roots)

    def close(self) -> None:
        self._sink.close()
