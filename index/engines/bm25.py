"""BM25 by Pyserini: one Lucene index per language, each with that language's analyzer, in the folder `lucene` of a snapshot.

Needs the JVM.
"""

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import batched
from pathlib import Path
from typing import Any

import msgspec

from index.build_job import Job, Tell
from index.errors import IndexProblem
from index.java import jvm, lucene_call
from index.java.analyzers import analyzer_of
from index.languages import LANGUAGES, UNDETERMINED, of
from index.languages.words import written
from index.model import Passage, indexed_text
from index.snapshot.segment import Segment, read_codes
from index.snapshot.snapshot import link_tree
from index.snapshot.store import PassageStore
from index.snapshot.views import REMEMBERED, Allowed
from index.text.codes import joined, with_codes
from index.text.coverage import TOPIC_SHARE

#: A passage in no known language is split at white space and punctuation, unstemmed.
_PLAIN = ["-stemmer", "none", "-keepStopwords"]
_BATCH = 1000
#: What Lucene gathers in memory before it writes a segment, in megabytes; Java takes two to three times as much.
_BUFFER_MB = 128
OTHER_LANGUAGE = 0.7
#: BM25's parameters, as Anserini has them.
_K1, _B = 0.9, 0.4
#: The part of a question that is searched by terms; the longest question has 4,000 characters.
_QUERY_CHARS = 1200
#: Most terms that Lucene accepts in a query, by default 1,024: a Han or Hangul character may be several, and the topic has some.
_CLAUSES = 8 * _QUERY_CHARS
#: Lucene keeps which documents pass a filter; this many bytes of it per language.
_FILTER_BYTES = 32 * 2**20
#: From so many searches on, all languages are searched by one call of Java.
_OFTEN = 20
_LUCENE_SPECIAL = re.compile(r"[\x00-\x1f]+")


def warm_up() -> None:
    with contextlib.suppress(IndexProblem):  # `update` reports the problem
        jvm.start(build=True)
        jvm.detach()


def update(job: Job, tell: Tell) -> dict[str, float]:
    """Returns the passages per language after the work, keyed `language.LANGUAGE`, for languages that changed."""
    building = Path(job.building)
    parent = Path(job.parent) if job.parent else None
    added = [Segment(Path(path)) for path in job.new]
    total = sum(map(len, added))
    results: dict[str, float] = {}
    done = 0
    for language in sorted(job.languages.keys() | {name for segment in added for name in segment.languages}):
        directory = building / "lucene" / language
        if parent is not None and (parent / "lucene" / language).is_dir():
            link_tree(parent / "lucene" / language, directory)
        else:
            directory.mkdir(parents=True)
        removed = job.languages.get(language, [])
        here = any(language in segment.languages for segment in added)
        if here or removed:
            passages = _in_language(language, added, functools.partial(_tell, tell, done, total))
            results[f"language.{language}"], more = _update(directory, language, passages, removed)
            done += more
    tell("bm25", total, total)
    return results


def _tell(tell: Tell, before: int, total: int, done: int) -> None:
    tell("bm25", before + done, total)


def _in_language(language: str, segments: list[Segment], tell: Callable[[int], None]) -> Iterator[tuple[Passage, str]]:
    done = 0
    for segment in (one for one in segments if language in one.languages):
        opened = Segment(segment.path)  # again, so that its pages do not stay in memory
        codes = read_codes(segment.path)
        for position in opened.in_language(language).tolist():
            if done % 500 == 0:
                tell(done)
            yield opened.read(position), codes[position]
            done += 1


def _update(
    directory: Path, language: str, passages: Iterable[tuple[Passage, str]], removed: Sequence[int]
) -> tuple[int, int]:
    """Update one language's Lucene index in place; returns how many passages it then holds, and how many were added.

    With each passage come its codes, in a form that no analyzer splits.

    Existing files may be hard links into an older snapshot, which is safe: Lucene never changes a file that it has
    written.
    """
    jvm.start(build=True)  # not `brief`, which would double the time of 100,000 passages
    exists = any(directory.glob("segments_*"))
    if exists and removed:
        _delete(directory, removed)
    analyzer = ["-language", of(language).identity.analyzer] if language in LANGUAGES else _PLAIN
    # Pyserini's LuceneIndexer is this class with these arguments; importing it costs a second for pandas. One thread, because
    # with more the order of equal scores would vary.
    args = ["-input", "", "-collection", "JsonCollection", "-threads", "1", "-memoryBuffer", str(_BUFFER_MB), *analyzer]
    indexer = jvm.java_class("io.anserini.index.SimpleIndexer")(
        [*args, "-index", str(directory.absolute()), *(["-append"] if exists else [])]
    )
    added = 0
    try:
        for batch in batched((_document(passage, codes) for passage, codes in passages), _BATCH):
            indexer.addRawDocuments(list(batch))
            added += len(batch)
    finally:
        indexer.close()
    (directory / "write.lock").unlink(missing_ok=True)
    return count(directory), added


def _name(number: int) -> str:
    """Lucene's id of a passage; as texts, ids have the order of the numbers."""
    return f"{number:012d}"


def _document(passage: Passage, codes: str) -> str:
    text = joined(indexed_text(passage), codes)
    return msgspec.json.encode({"id": _name(passage.number), "contents": text}).decode()


def _open_directory(directory: Path) -> Any:
    # Java resolves a relative path against the folder that it was started in.
    return jvm.java_class("org.apache.lucene.store.FSDirectory").open(
        jvm.java_class("java.nio.file.Paths").get(str(directory.absolute()))
    )


def count(directory: Path) -> int:
    """How many passages one language's Lucene index holds; the JVM must be running."""
    opened = _open_directory(directory)
    reader = jvm.java_class("org.apache.lucene.index.DirectoryReader").open(opened)
    count = int(reader.numDocs())
    reader.close()
    opened.close()
    return count


def _delete(directory: Path, numbers: Sequence[int]) -> None:
    bytes_ref = jvm.java_class("org.apache.lucene.util.BytesRef")
    terms = jvm.java_class("java.util.ArrayList")()
    for number in numbers:
        terms.add(bytes_ref(_name(number).encode()))
    opened = _open_directory(directory)
    writer = jvm.java_class("org.apache.lucene.index.IndexWriter")(
        opened, jvm.java_class("org.apache.lucene.index.IndexWriterConfig")()
    )
    try:
        writer.deleteDocuments(jvm.java_class("org.apache.lucene.search.TermInSetQuery")("id", terms))
        writer.commit()
    finally:
        writer.close()
        opened.close()


def problems(snapshot: Path, languages: Mapping[str, int]) -> list[str]:
    """Starts the Java machine. Raises IndexProblem."""
    jvm.start()
    wrong: list[str] = []
    for language, expected in sorted(languages.items()):
        try:
            result = count(snapshot / "lucene" / language)
        except jvm.java_error() as error:
            wrong.append(str(error))
            continue
        if result != expected:
            wrong.append(f"Lucene index {language} holds {result} passages, not {expected}")
    return wrong


class Bm25:
    """Searches the Lucene indexes of one snapshot; safe for any number of threads, each of which detaches at its end."""

    def __init__(self, directory: Path, languages: Mapping[str, int], store: PassageStore) -> None:
        """`languages`: the languages in the index and the number of passages of each. Raises IndexProblem."""
        jvm.start()
        jvm.java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(_CLAUSES)
        self._store = store
        self._json = json = _json()
        self._asked = 0
        self._readers: dict[str, _Reader] = {}
        try:
            for language in sorted(languages, key=lambda name: -languages[name]):
                own = functools.partial(self._own, language, languages[language])
                self._readers[language] = _Reader(directory / language, language, own, json)
        except jvm.java_error() as error:
            raise IndexProblem(
                f"{directory} cannot be read as a Lucene index ({error}); build the index again"
            ) from error

    def _own(self, language: str, count: int, allowed: Allowed) -> list[int] | None:
        """The passages of a language that are allowed; None when all `count` are."""
        own = self._store.within(allowed.numbers, language)
        return None if len(own) == count else own.tolist()

    def search(
        self, query: str, language: str, k: int, allowed: Allowed | None = None, *, topic: str = ""
    ) -> list[tuple[int, float]]:
        """Passage numbers and BM25 scores, best first, of those allowed.

        The query goes to the index of its own language and, with their analyzers, to the others, without function words:
        names and codes are the same in all. Hits from the others count for less, since a word of one language that is rare
        in another seems weightier than it is. Words of `topic` count TOPIC_SHARE.
        """
        about = query_text(topic) if topic else ""
        texts, weights = query_texts(query, language, list(self._readers))
        if not any(texts) or k < 1:
            return []
        self._asked += 1
        every: Iterable[list[tuple[int, float]]]
        if allowed is None and not about and self._readers and self._asked > _OFTEN:
            every = map(_scores, _tops(self._at_once(texts, k)))
        else:
            readers = zip(texts, self._readers.values(), strict=True)
            every = (reader.search(text, k, allowed, about) for text, reader in readers)
        hits: list[tuple[int, float]] = []
        for weight, result in zip(weights, every, strict=True):
            hits.extend((number, score * weight) for number, score in result)
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return hits[:k]

    @functools.cached_property
    def _at_once(self) -> Callable[[Sequence[str], int], str]:
        """Search in all languages, each with its text, without a filter or topic; of each what `_Reader.search` decodes."""
        readers = list(self._readers.values())
        one = readers[0]
        return lucene_call.composed(
            one.queries, self._json, one.sort, [(each.analyzer, each.searcher) for each in readers]
        )

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()


def _json() -> Any:
    """Java's writer of JSON, set to fields and no getters: a getter would add the sort order of each result."""
    mapper = jvm.java_class("com.fasterxml.jackson.databind.ObjectMapper")()
    accessor = jvm.java_class("com.fasterxml.jackson.annotation.PropertyAccessor")
    nothing = jvm.java_class("com.fasterxml.jackson.annotation.JsonAutoDetect$Visibility").NONE
    for name in ("GETTER", "IS_GETTER"):
        mapper.setVisibility(accessor.valueOf(name), nothing)
    mapper.disable(jvm.java_class("com.fasterxml.jackson.databind.SerializationFeature").FAIL_ON_EMPTY_BEANS)
    return mapper


class _Bytes(msgspec.Struct):
    data: bytes = msgspec.field(name="bytes")
    offset: int
    length: int


class _Scored(msgspec.Struct):
    """`fields` are what hits are sorted by: the score, and then the id."""

    fields: tuple[float, _Bytes]


class _Top(msgspec.Struct):
    found: list[_Scored] = msgspec.field(name="scoreDocs")


_top = msgspec.json.Decoder(_Top).decode
_tops = msgspec.json.Decoder(list[_Top]).decode


def _scores(top: _Top) -> list[tuple[int, float]]:
    return [
        (int(name.data[name.offset : name.offset + name.length]), score)
        for score, name in (hit.fields for hit in top.found)
    ]


class _Reader:
    """One language's index. Results come from Java as one JSON text, since reading each Java object separately costs 20 µs.

    pyjnius keeps a method's object with the class, for all threads, from where the method is named until it is called. So no Java
    call is among another's arguments, where a second thread could take its turn and name the method of an object of its own.
    """

    def __init__(self, directory: Path, language: str, own: Callable[[Allowed], list[int] | None], json: Any) -> None:
        """`own`: the passages of this language that are allowed, None when all are. `json`: what `_json` makes."""
        self.analyzer = analyzer_of(language)
        self._directory = _open_directory(directory)
        self._reader = jvm.java_class("org.apache.lucene.index.DirectoryReader").open(self._directory)
        self.searcher = jvm.java_class("org.apache.lucene.search.IndexSearcher")(self._reader)
        similarity = jvm.java_class("org.apache.lucene.search.similarities.BM25Similarity")(_K1, _B)
        self.searcher.setSimilarity(similarity)
        self.queries = jvm.java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
        self._json = json
        sort_field = jvm.java_class("org.apache.lucene.search.SortField")
        by_id = sort_field("id", jvm.java_class("org.apache.lucene.search.SortField$Type").STRING_VAL)
        # So the result names each passage, and equal scores come by number, however Lucene has merged its segments.
        self.sort = jvm.java_class("org.apache.lucene.search.Sort")([sort_field.FIELD_SCORE, by_id])
        self._own = own
        some_bytes = jvm.java_class("org.apache.lucene.util.BytesRef")()
        kind = some_bytes.getClass()
        self._bytes_of = self._json.readerForListOf(kind)
        self._filter_of = functools.lru_cache(REMEMBERED)(self._make_filter)
        self._keep_filters()
        self.search("a", 1)  # loads now what the first query would otherwise wait for

    def _keep_filters(self) -> None:
        """Lucene by itself keeps a filter's documents only for more than 10,000; without, a wide filter doubles the time."""
        never = jvm.java_class("java.util.function.Predicate").isEqual(None)
        kept = jvm.java_class("org.apache.lucene.search.LRUQueryCache")(
            REMEMBERED, _FILTER_BYTES, never.negate(), float(2**30)
        )
        self.searcher.setQueryCache(kept)

    def _make_filter(self, allowed: Allowed) -> Any:
        """The query for the passages of this language that are allowed; None when all are, False when none is."""
        numbers = self._own(allowed)
        if not numbers:
            return None if numbers is None else False
        # All in one JSON text, as results are: an object at a time would cost 40 µs a passage.
        names = [_name(number).encode() for number in numbers]
        terms = msgspec.json.encode([_Bytes(name, 0, len(name)) for name in names]).decode()
        return jvm.java_class("org.apache.lucene.search.TermInSetQuery")("id", self._bytes_of.readValue(terms))

    def search(self, text: str, k: int, allowed: Allowed | None = None, topic: str = "") -> list[tuple[int, float]]:
        """The filter does not change a score: rarity and length are those of the whole index."""
        only = None if allowed is None else self._filter_of(allowed)
        if only is False:
            return []
        query = self.queries.buildQuery("contents", self.analyzer, text)
        if topic:
            about = self.queries.buildQuery("contents", self.analyzer, topic)
            less = jvm.java_class("org.apache.lucene.search.BoostQuery")(about, TOPIC_SHARE)
            query = self._both(query, "SHOULD", less, "SHOULD")
        if only is not None:
            query = self._both(query, "MUST", only, "FILTER")
        match = self.searcher.search(query, k, self.sort)
        return _scores(_top(self._json.writeValueAsString(match)))

    def _both(self, one: Any, as_one: str, other: Any, as_other: str) -> Any:
        """One query of two, each with the role that Lucene's `Occur` names."""
        occur = jvm.java_class("org.apache.lucene.search.BooleanClause$Occur")
        roles = [occur.valueOf(as_one), occur.valueOf(as_other)]
        builder = jvm.java_class("org.apache.lucene.search.BooleanQuery$Builder")()
        for query, role in zip((one, other), roles, strict=True):
            builder.add(query, role)
        return builder.build()

    def close(self) -> None:
        self._reader.close()
        self._directory.close()


def query_texts(query: str, own: str, languages: Sequence[str]) -> tuple[list[str], list[float]]:
    """What is searched for in each of the languages, in others than its `own` without function words, and what hits count.

    Rows of names and numbers have no language, and count in full.
    """
    whole = query_text(query)
    if len(languages) == 1:
        return [whole], [1.0]
    bare = query_text(" ".join(written(query)))
    weights = [1.0 if each in (own, UNDETERMINED) else OTHER_LANGUAGE for each in languages]
    return [whole if each == own else bare for each in languages], weights


def query_text(query: str) -> str:
    cleaned = _LUCENE_SPECIAL.sub(" ", query)[:_QUERY_CHARS].strip()
    return with_codes(cleaned)
