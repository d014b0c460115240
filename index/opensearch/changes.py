"""What a build changes of a generation, from the catalogue before it and the one after."""

from collections.abc import Container, Iterable
from typing import NamedTuple

from index.model import Entry
from index.opensearch.layout import asked_of, edition_of


class KnownEntry(NamedTuple):
    """A document of the catalogue before: its entry, the edition of its passages, and the id of what holds the entry."""

    entry: Entry
    edition: str
    name: str


class EntryChange(NamedTuple):
    """A document of the catalogue after, and the edition of its passages.

    `before` is what it takes the place of. `entered`: the entry is to be written. `fresh`: its passages are new ones.
    `again`: they are those of `before`, to be written again, as something is asked of them that is another now.
    """

    entry: Entry
    edition: str
    before: KnownEntry | None
    entered: bool = False
    fresh: bool = False
    again: bool = False


class WritePlan(NamedTuple):
    """`dead` are the entries that are replaced or removed; `gone` those with passages that are removed, too."""

    changes: list[EntryChange]
    dead: list[KnownEntry]
    gone: list[KnownEntry]


def plan(
    known: Iterable[KnownEntry], after: Iterable[Entry], fresh: Container[int], build: int, *, afresh: bool
) -> WritePlan:
    """`fresh`: the first numbers of documents with new passages. `afresh`: everything is written again."""
    before = list(known)
    by_number = {one.entry.first: one for one in before if one.entry.count}
    by_id = {one.entry.source_id: one for one in before}
    changes: list[EntryChange] = []
    kept: set[str] = set()
    staying: set[str] = set()
    for entry in after:
        change = _change(entry, by_number, by_id, fresh, build, afresh=afresh)
        changes.append(change)
        if change.before is not None:
            if not change.entered:
                staying.add(change.before.name)
            if change.edition == change.before.edition:
                kept.add(change.edition)
    return WritePlan(
        changes,
        [one for one in before if one.name not in staying],
        [one for one in before if one.entry.count and one.edition not in kept],
    )


def _change(
    entry: Entry,
    by_number: dict[int, KnownEntry],
    by_id: dict[str, KnownEntry],
    fresh: Container[int],
    build: int,
    *,
    afresh: bool,
) -> EntryChange:
    edition = edition_of(entry, build)
    before = by_number.get(entry.first) if entry.count else by_id.get(entry.source_id)
    if before is None or entry.first in fresh or before.entry.count != entry.count:
        return EntryChange(entry, edition, None, entered=True, fresh=entry.count > 0)
    if afresh or _shown(entry) != _shown(before.entry):
        return EntryChange(entry, edition, before, entered=True, again=entry.count > 0)
    return EntryChange(entry, before.edition, before, entered=entry != before.entry)


def _shown(entry: Entry) -> object:
    return entry.title, entry.url, entry.metadata, asked_of(entry)
