"""The search process's answers about its index, and the index's hits in the form that the bus carries."""

import functools
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from groundwire.wire import About

from bus.journal.access import Groups
from bus.powers.served_index import ExampleQuestion, Held, HeldDocument, ServedIndex, SkippedFile
from bus.wire.errors import Unavailable
from bus.wire.parts import Collection, Passage
from index.check import formats_of
from index.documents.report import Skipped
from index.errors import IndexProblem
from index.languages.words import written_terms
from index.model import Hit
from index.search.searcher import Searcher
from index.source_paths import openable, source_path
from index.text.examples import examples


def passage_of(hit: Hit) -> Passage:
    """The hit; where its document is published nowhere, it opens on the page of its source here."""
    url = openable(hit.url) or source_path(hit.source_id, hit.char_start, hit.char_end)
    found = msgspec.convert(hit, Passage, from_attributes=True)
    return msgspec.structs.replace(found, url=url, about=about_of(hit))


def collection_of(searcher: Searcher, query: str, language: str, groups: Groups = None) -> Collection:
    """The index's statistics for a question of a caller in these groups."""
    variants = searcher.variants(query, language, groups)
    words = dict(written_terms(" ".join((query, *variants.values()))))
    rarities = searcher.rarity(list(words.values()), groups)
    return Collection(
        languages=searcher.languages(groups),
        rarity={term: round(rare, 3) for term, rare in zip(words, rarities, strict=True)},
        variants=variants,
    )


def about_of(hit: Hit) -> About:
    return msgspec.convert(hit.metadata, About, from_attributes=True)


_MOST_SKIPPED = 200
#: For how many sets of groups it is remembered what they find.
_REMEMBERED = 32
#: Limits for example questions: documents read, passages read of each, and questions returned; and how many titles go with them.
_DOCUMENTS, _PASSAGES, _EXAMPLES, _TITLES = 400, 6, 24, 8


def held(searcher: Searcher, groups: Groups) -> Held:
    """What callers in these groups find. Reads passages. Raises IndexProblem."""
    entries = searcher.entries(groups)
    step = max(1, len(entries) // _DOCUMENTS)
    found = examples(searcher.beginnings(entries[::step], _PASSAGES), _EXAMPLES)
    languages = searcher.languages(groups)
    told = entries[:: max(1, len(entries) // _TITLES)][:_TITLES]
    return Held(
        documents=len(entries),
        languages={name: count for name, count in languages.items() if count},
        titles=tuple(HeldDocument(source_id=entry.source_id, title=entry.title or entry.source_id) for entry in told),
        examples=msgspec.convert(found, tuple[ExampleQuestion, ...], from_attributes=True),
    )


class HeldFor:
    """`held` of the snapshot that is served, looked at once for callers in the same groups; for any number of threads."""

    def __init__(self, searcher: Callable[[], Searcher]) -> None:
        self._searcher = searcher
        self._made = functools.lru_cache(_REMEMBERED)(self._make)

    def __call__(self, groups: Groups) -> Held:
        """Raises Unavailable."""
        try:
            searcher = self._searcher()
            return self._made(searcher.snapshot, searcher.withheld, groups)
        except IndexProblem as problem:
            raise Unavailable(str(problem)) from problem

    def _make(self, snapshot: str, withheld: str, groups: Groups) -> Held:
        """`withheld`: why groups get no answer now, so that no earlier answer is reused."""
        with self._searcher().pinned(snapshot, groups) as searcher:
            return held(searcher, groups)


class Served:
    """Answers about the served snapshot; `take_up` changes to another one."""

    def __init__(self, searcher: Callable[[], Searcher], skipped: Callable[[], Skipped], name: str) -> None:
        """Both raise IndexProblem."""
        self._searcher = searcher
        self._skipped = skipped
        self._formats: tuple[str, dict[str, int]] = ("", {})  # of which snapshot
        self.take_up(name)

    def take_up(self, name: str) -> None:
        self._now = (name, datetime.now(UTC).isoformat(timespec="milliseconds"))

    def say(self) -> ServedIndex:
        """Reads files, or asks a cluster. Raises Unavailable."""
        name, since = self._now
        of, formats = self._formats
        try:
            with self._searcher().pinned(name) as searcher:
                manifest = searcher.backend.manifest
                if of != name:
                    formats = formats_of(searcher.entries())
                    self._formats = (name, formats)
            skipped = self._skipped()
        except IndexProblem as problem:
            raise Unavailable(str(problem)) from problem
        named = sorted(skipped.files, key=lambda skip: not skip.failed)[:_MOST_SKIPPED]
        return ServedIndex(
            snapshot=manifest.snapshot,
            served_since=since,
            created=manifest.created,
            documents=manifest.documents,
            passages=manifest.passages,
            languages={name: count for name, count in manifest.languages.items() if count},
            formats=formats,
            embedder=f"{manifest.embedder.name} {manifest.embedder.version}",
            read_at=skipped.read_at,
            skipped=tuple(SkippedFile(name=skip.name, reason=skip.reason, failed=skip.failed) for skip in named),
            skipped_count=skipped.count,
            failed_count=skipped.failed_count,
        )
