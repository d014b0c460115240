"""Answer queries from the newest snapshot, from any number of threads, and swap snapshots while queries run."""

import contextlib
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from index.backend import Backend, CandidateQuery, Snapshots
from index.embedders.embedder import Embedder, Vectors
from index.embedders.pieces import Pieces
from index.embedders.reranker import Reranker
from index.errors import IndexProblem
from index.filters import Filter
from index.languages import UNDETERMINED
from index.languages.detection import detect_in_question
from index.languages.translation import translated
from index.model import Entry, Groups, Hit, Passage, indexed_text
from index.search import ranking, spelling
from index.search.local_backend import LocalSnapshots
from index.snapshot.roots import Root
from index.snapshot.views import Visible
from index.source_paths import without_surrogates
from index.text.coverage import TOPIC_SHARE, word_set
from index.text.crossing import crossed
from index.text.document_text import Stretch, page_stretch, stretch
from index.text.question_words import without_question_words

#: How many corrected words are kept, and how many characters of a query the backends read.
_MOST_WORDS, _LINE = 1_000, 1_000
#: Where a passage covers so much of a question, none of its words is misspelt.
_COVERED = 0.7
#: A topic is a few words.
_TOPIC_CHARS = 200
#: A list of results is ranked from LIST_DEPTH candidates of each side; where they are too few, others of DEEP follow.
LIST_DEPTH, DEEP = 10, 100
#: So many where no passage is in the question's language, since words in another language find them less surely; and of those
#: in other languages beside it, which nearness ranks.
FOREIGN_DEPTH, BESIDE_DEPTH = 100, 50


class _OpenBackend:
    """A backend with its running queries counted; the last one to leave closes it."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.users = 1  # the searcher itself
        self.asked_at = time.monotonic()
        self._meant: dict[tuple[str, str, Groups], str] = {}

    def respelled(self, query: str, language: str, groups: Groups, texts: Sequence[str] = ()) -> str:
        """The query with the words that are in no text and in no passage replaced by those that were meant.

        Without texts, by those that were found before.
        """
        if len(self._meant) > _MOST_WORDS:
            self._meant.clear()
        for word in spelling.unknown(query, texts) if texts else ():
            if (word, language, groups) not in self._meant:
                self._meant[word, language, groups] = self._find_meant(word, language, groups)
        return spelling.replaced(query, lambda word: self._meant.get((word, language, groups), word))

    def _find_meant(self, word: str, language: str, groups: Groups) -> str:
        if not spelling.unknown(word, self._texts_with(word, language, groups)):
            return word
        near = spelling.neighbours(word)
        lines = textwrap.wrap(" ".join(sorted(near)), _LINE)
        return spelling.meant(word, near, (text for line in lines for text in self._texts_with(line, language, groups)))

    def _texts_with(self, words: str, language: str, groups: Groups) -> list[str]:
        """The best passages for these words."""
        request = CandidateQuery(
            terms=[(words, language)], topic="", vector=None, bm25_k=5, vector_k=0, threshold=0.0, groups=groups
        )
        return [indexed_text(one.passage) for one in self.backend.candidates(request).candidates]


class Searcher:
    """`open`, then `search` from any thread; each thread calls `jvm.detach` before it ends."""

    def __init__(
        self,
        snapshots: Snapshots,
        held: _OpenBackend,
        embedder: Embedder | None,
        reranker: Reranker | None,
        *,
        earlier: int = 0,
    ) -> None:
        self._snapshots = snapshots
        self._embedder = embedder
        self._reranker = reranker
        self._lock = threading.Lock()
        self._reloading = threading.Lock()
        self._held: _OpenBackend | None = held
        self._earlier: list[_OpenBackend] = []  # oldest first
        self._most_earlier = earlier
        #: Why callers in groups get no results: access rules are unknown. Empty: they are known.
        self.withheld = ""

    @classmethod
    def open(
        cls,
        index: Path | Snapshots,
        snapshot: str | None = None,
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        earlier: int = 0,
    ) -> "Searcher":
        """Open the current snapshot of an index or its folder, or a named one. Raises IndexProblem.

        `earlier`: so many snapshots stay open for `pinned` when it goes on with newer ones.
        """
        snapshots = LocalSnapshots(index) if isinstance(index, Path) else index
        opened = _OpenBackend(snapshots.open(snapshot, embedder))
        return cls(snapshots, opened, embedder, reranker, earlier=earlier)

    @contextlib.contextmanager
    def pinned(self, name: str = "", groups: Groups = None) -> Iterator["Searcher"]:
        """One snapshot for several questions of a caller in `groups`: that of this name while it is open, else the current one.

        After a change of groups, callers in groups get the current one.
        """
        with self._lock:
            current = self._current()
            access = current.backend.manifest.access
            allowed = (
                one
                for one in self._earlier
                if one.backend.manifest.snapshot == name and (groups is None or one.backend.manifest.access == access)
            )
            opened = next(allowed, current)
            opened.users += 1
            opened.asked_at = time.monotonic()
        try:
            fixed = Searcher(self._snapshots, opened, self._embedder, self._reranker)
            fixed._lock, fixed.withheld = self._lock, self.withheld
            yield fixed
        finally:
            self._leave(opened)

    def forget(self, unasked_s: float = 0.0) -> None:
        """Close earlier snapshots that had no search for so long."""
        before = time.monotonic() - unasked_s
        with self._lock:
            old = [one for one in self._earlier if one.asked_at <= before]
            self._earlier = [one for one in self._earlier if one.asked_at > before]
        for one in old:
            self._leave(one)

    @property
    def backend(self) -> Backend:
        """The open snapshot. Raises IndexProblem once closed."""
        return self._current().backend

    @property
    def snapshot(self) -> str:
        return self.backend.manifest.snapshot

    @property
    def access(self) -> str:
        """Which groups see which document, as a digest."""
        return self.backend.manifest.access

    @property
    def roots(self) -> tuple[Root, ...]:
        """The folders that the snapshot was built from."""
        return self.backend.manifest.roots

    def _current(self) -> _OpenBackend:
        if self._held is None:
            raise IndexProblem(f"the index {self._snapshots} has been closed")
        return self._held

    @contextlib.contextmanager
    def _entered(self, groups: Groups) -> Iterator[_OpenBackend]:
        """The open snapshot, which stays open. Raises IndexProblem where `withheld`."""
        with self._lock:
            opened = self._current()
            opened.users += 1
        try:
            if groups is not None and self.withheld:
                raise IndexProblem(self.withheld)
            yield opened
        finally:
            self._leave(opened)

    def _leave(self, held: _OpenBackend) -> None:
        with self._lock:
            held.users -= 1
            last = held.users == 0
        if last:
            held.backend.close()

    def search(
        self,
        query: str,
        *,
        topic: str = "",
        language: str | None = None,
        k: int = 5,
        bm25_k: int = 5,
        vector_k: int = 5,
        threshold: float | None = None,
        filter: Filter | None = None,
        rerank: bool = True,
        groups: Groups = None,
        as_list: bool = False,
    ) -> list[Hit]:
        """The best `k` passages, best first; none for a query without a letter or digit.

        `bm25_k` and `vector_k` candidates are fused; `threshold` is the cosine below which a vector hit is dropped,
        by default the embedder's own. If one of the two is 0, the other search ranks alone, by its own score (the built-in
        vectors by nearness in meaning). Both look only at the documents that pass `filter` and that a caller in `groups` sees
        (None: every document), so neither costs hits. With a reranker all candidates are scored and the best `k` by that kept,
        unless `rerank` is false. `topic`: words of the conversation that the query belongs to, which count TOPIC_SHARE
        (coverage.py). `as_list`: the number of candidates is fixed, so that a longer list begins with the shorter one. Raises
        IndexProblem once closed.
        """
        if as_list:
            bm25_k = vector_k = LIST_DEPTH
        query, topic = without_surrogates(query), without_surrogates(topic)[:_TOPIC_CHARS]
        if not any(map(str.isalnum, query)):
            return []
        language = language or detect_in_question(query)
        deep = self._reranker is not None and rerank
        with self._entered(groups) as opened:
            backend = opened.backend
            seen = backend.seen(groups)
            terms = _terms(query, language, seen, variants=vector_k > 0)
            foreign = terms[0][0] if language not in seen.languages and len(terms) > 1 else ""
            depth = FOREIGN_DEPTH if foreign or not bm25_k else 0
            request = CandidateQuery(
                terms=terms if bm25_k else (),
                topic=topic,
                vector=_vector(backend.embedder, query, topic) if vector_k else None,
                bm25_k=max(bm25_k, depth),
                vector_k=max(vector_k, depth),
                threshold=threshold
                if threshold is not None
                else 0.0
                if foreign
                else backend.manifest.embedder.threshold,
                filter=filter,
                groups=groups,
            )
            result = backend.candidates(request)
            most = bm25_k + vector_k if deep else k
            rest: list[Hit] = []
            if bm25_k and vector_k:
                ranked = ranking.fused(result, request, seen, foreign)
                # A word of another language is not misspelt.
                if not foreign and max((one.coverage for one in ranked), default=0.0) < _COVERED:
                    texts = [indexed_text(one.candidate.passage) for one in ranked]
                    meant = opened.respelled(query, language, groups, texts or ("",))
                    if meant != query:
                        terms = _terms(meant, language, seen, variants=True)
                        vector = _vector(backend.embedder, meant, topic)
                        request = msgspec.structs.replace(request, terms=terms, vector=vector)
                        ranked = ranking.fused(backend.candidates(request), request, seen)
                asked = request.terms[0][0]
                others = seen.languages.keys() - {language, UNDETERMINED} if not foreign else ()
                room, own = ranking.room_for_others(asked, ranked) if others else (0, 0.0)
                if room:
                    beside = msgspec.structs.replace(
                        request, terms=(), bm25_k=0, vector_k=BESIDE_DEPTH, threshold=0.0, besides=language
                    )
                    ranked = ranking.with_others(asked, ranked, backend.candidates(beside).candidates, room, own)
                hits = ranking.of_both_sides(ranked, most, backend.manifest.snapshot)
                if as_list and len(hits) < k:
                    deeper = msgspec.structs.replace(request, bm25_k=DEEP, vector_k=DEEP)
                    more = ranking.behind(ranked, ranking.fused(backend.candidates(deeper), deeper, seen, foreign))
                    rest = ranking.of_both_sides(more, k, backend.manifest.snapshot)[len(hits) :]
            else:
                if not bm25_k and isinstance(backend.embedder, Pieces):
                    result = ranking.by_nearness(query, result)
                hits = ranking.of_one_side(result, most, "bm25" if bm25_k else "vector", backend.manifest.snapshot)
        if self._reranker is not None and rerank:
            hits = ranking.reranked(self._reranker, f"{query} {topic}".strip(), hits)
        return [*hits, *rest][:k]

    def passing(self, filter: Filter, groups: Groups = None) -> int:
        """How many of the documents that a caller in `groups` sees pass. Raises IndexProblem once closed."""
        with self._entered(groups) as opened:
            return opened.backend.passing(filter, groups)

    def rarity(self, words: Sequence[str], groups: Groups = None) -> list[float]:
        """How rare each word is in the documents that a caller in `groups` sees, by its rarest piece: 0 (in all passages, or no
        word at all) to 1 (in none).
        """
        with self._entered(groups) as opened:
            weights = opened.backend.seen(groups).rarity
            rarest = float(weights.max())
            sets = [word_set(word) for word in words]
            return [float(weights[opened].max()) / rarest if len(opened) else 0.0 for opened in sets]

    def languages(self, groups: Groups = None) -> dict[str, int]:
        """How many passages a caller in `groups` sees in each language."""
        with self._entered(groups) as opened:
            return dict(opened.backend.seen(groups).languages)

    def entries(self, groups: Groups = None) -> tuple[Entry, ...]:
        """The documents that a caller in `groups` sees."""
        with self._entered(groups) as opened:
            return tuple(opened.backend.entries(groups))

    def beginnings(self, entries: Iterable[Entry], count: int) -> list[Passage]:
        """The first passages of these documents, at most `count` of each."""
        with self._entered(None) as opened:
            return [passage for entry in entries for passage in opened.backend.passages(entry, 0, count)]

    def variants(self, query: str, language: str, groups: Groups = None) -> dict[str, str]:
        """The query with its names, or all its words where no passage is in its language, as the other languages that a caller in
        `groups` sees have them; in its own language with the spelling that the last search corrected.
        """
        with self._entered(groups) as opened:
            meant = opened.respelled(query, language, groups)
        other = _variants(without_question_words(meant), language, self.languages(groups))
        return other if meant == query else {language: meant, **other}

    def source(self, source_id: str, groups: Groups = None) -> Entry | None:
        """A document by its id, or by an id from before its file was moved; None where a caller in `groups` sees none.

        Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            return opened.backend.source(source_id, groups)

    def stretch(
        self, source_id: str, start: int, end: int, groups: Groups = None, *, page: int | None = None
    ) -> tuple[Entry, Stretch, str] | None:
        """A stretch of a document's text, or that of a page instead, and the snapshot that it is from; None as for `source`.

        Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            entry = opened.backend.source(source_id, groups)
            if entry is None:
                return None
            if page is not None:
                begin, stop = page_stretch(opened.backend.passages, entry, page)
                start, end = begin, min(stop, begin + end - start)
            return entry, stretch(opened.backend.passages, entry, start, end), opened.backend.manifest.snapshot

    def sources(self, after: str, most: int, groups: Groups = None) -> tuple[list[Entry], int, str]:
        """The first documents with an id behind `after`, by id, that a caller in `groups` sees; how many they see in all, and the
        snapshot. Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            return (
                opened.backend.sources(after, most, groups),
                opened.backend.seen(groups).documents,
                opened.backend.manifest.snapshot,
            )

    def swap_to(self, name: str | None = None) -> bool:
        """Go on with that snapshot, or the current one; running queries finish in the old one. True when it is another.

        Raises IndexProblem.
        """
        if name is None and self._snapshots.newest() == self.snapshot:
            return False
        with self._reloading:
            fresh = _OpenBackend(self._snapshots.open(name, self._embedder))
            with self._lock:
                old, self._held = self._current(), fresh
                old.asked_at = time.monotonic()
                kept = [
                    one for one in self._earlier if one.backend.manifest.snapshot != fresh.backend.manifest.snapshot
                ]
                if old.backend.manifest.snapshot != fresh.backend.manifest.snapshot:
                    kept.append(old)
                before, self._earlier = self._earlier, kept[-self._most_earlier :] if self._most_earlier else []
                dropped = [one for one in (*before, old) if one not in self._earlier]
            for one in dropped:
                self._leave(one)
            return fresh.backend.manifest.snapshot != old.backend.manifest.snapshot

    def close(self) -> None:
        with self._lock:
            old, self._held = self._held, None
        if old is not None:
            self._leave(old)
        self.forget()


def _terms(query: str, language: str, seen: Visible, *, variants: bool) -> list[tuple[str, str]]:
    """The queries by terms: with vectors too, without question words, and with the variants of other languages."""
    if not variants:
        return [(query, language)]
    request = without_question_words(query)
    others = _variants(request, language, seen.languages)
    return [(request, language), *((variant, other) for other, variant in others.items())]


def _variants(request: str, language: str, into: Mapping[str, int]) -> dict[str, str]:
    """By language, the request with its names as that language writes them; where no passage is in its own, its words too."""
    names = crossed(request, language, into)
    if language in into:
        return names
    words = ((other, translated(request, language, other)) for other in into)
    return {other: text for other, text in words if text} | names


def _vector(embedder: Embedder, query: str, topic: str) -> Vectors:
    """The whole question's, with its question words, which a neural embedder needs."""
    vector = embedder.embed([query], query=True)
    if not topic:
        return vector
    mixed = vector + TOPIC_SHARE * embedder.embed([topic], query=True)
    return np.asarray(mixed / max(float(np.linalg.norm(mixed)), 1e-9), dtype=np.float32)
