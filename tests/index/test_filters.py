"""Filters: which documents pass, and that both searches find the best of those, however few they are."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from index.filters import Filter, narrowed, predicate, words_of
from index.java import jvm
from index.languages.toml_check import problems
from index.model import Document, Entry, Hit, Metadata
from index.search.local_backend import LocalBackend
from index.search.searcher import Searcher
from index.snapshot.views import Allowed
from tests.index.conftest import DOCUMENTS, opened_by, update

_SYLLABLES = [a + b for a in "bcdfghjklmnprstvz" for b in "aeiou"]


class Corpus:
    """Texts of invented words with the frequencies of a language; the same seed gives the same."""

    def __init__(self, seed: int = 1, words: int = 20_000) -> None:
        self._random = random.Random(seed)
        self._words = ["".join(self._random.choices(_SYLLABLES, k=self._random.randint(2, 4))) for _ in range(words)]
        self._weights = [1 / (rank + 3) for rank in range(words)]

    def sentence(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=words)).capitalize() + "."

    def document(self, name: str) -> Document:
        return Document(
            source_id=name, title=self.sentence(3), text=" ".join(self.sentence(12) for _ in range(10)), language="en"
        )

    def question(self) -> str:
        return " ".join(self._random.choices(self._words[50:], self._weights[50:], k=7))


def entry(source_id: str = "a.md", language: str = "en", **metadata: object) -> Entry:
    about = Metadata(**metadata)  # type: ignore[arg-type]
    return Entry(source_id, "", "", "", "", "", 0, 1, 1, language, about)


IDS = (
    "guide/a.md", "guide/b/c.md", "other/guide/x.md", "a.md", "guidebook/a.md", "https://x.org/a/b", "[x].md", "!y.md", "#z.md",
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "passing"),
    [
        ("guide/**", ["guide/a.md", "guide/b/c.md"]),
        ("guide", ["guide/a.md", "guide/b/c.md", "other/guide/x.md"]),
        ("/guide/", ["guide/a.md", "guide/b/c.md"]),
        ("guide/a.md", ["guide/a.md"]),
        ("a.md", ["guide/a.md", "a.md", "guidebook/a.md"]),
        ("/a.md", ["a.md"]),
        ("**/x.md", ["other/guide/x.md"]),
        ("guide*/*.md", ["guide/a.md", "guidebook/a.md"]),
        ("https://x.org/**", ["https://x.org/a/b"]),
        ("[x].md", ["other/guide/x.md", "[x].md"]),  # the pattern, and the very name
        ("!y.md", ["!y.md"]),
        ("#z.md", ["#z.md"]),
        ("*", list(IDS)),
        ("**", list(IDS)),
        ("guide/**/c.md", ["guide/b/c.md"]),
        ("**/b/**", ["guide/b/c.md", "https://x.org/a/b"]),
        ("guide/?.md", ["guide/a.md"]),
        ("g*e/[!b].md", ["guide/a.md"]),
        ("guid", []),
        ("[", []),
        ("/", []),
    ],
)
def test_path_has_gitignore_syntax(path: str, passing: list[str]) -> None:
    passes = predicate(Filter(path=path))
    assert [name for name in IDS if passes(entry(name))] == passing


@pytest.mark.parametrize(
    ("wanted", "one", "passes"),
    [
        (Filter(tag="billing"), entry(tags=("Billing", "x")), True),
        (Filter(tag=("billing", "환불")), entry(tags=("환불",)), True),
        (Filter(tag="bill"), entry(tags=("billing",)), False),
        (Filter(tag="billing"), entry(), False),
        (Filter(language="ko"), entry(language="ko"), True),
        (Filter(language="ko"), entry(language="KO-kr"), True),
        (Filter(language="ko"), entry(language="en"), False),
        (Filter(after=date(2026, 1, 31)), entry(date="2026-01-31"), True),
        (Filter(after=date(2026, 1, 31)), entry(date="2026-01-31T23:00:00+09:00"), True),
        (Filter(after=date(2026, 1, 31)), entry(date="2026-01-30"), False),
        (Filter(after=date(2026, 1, 31)), entry(), False),
        (Filter(after=date(2026, 1, 31)), entry(date="last week"), False),
        (Filter(path="a.md", tag="x", language="en", after=date(2026, 1, 1)), entry(tags=("x",), date="2026-02-01"), True),
        (Filter(path="a.md", tag="y", language="en", after=date(2026, 1, 1)), entry(tags=("x",), date="2026-02-01"), False),
        (Filter(), entry(), True),
    ],
)  # fmt: skip
def test_document_matches_every_field(wanted: Filter, one: Entry, passes: bool) -> None:
    assert predicate(wanted)(one) is passes


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"after": "yesterday"}, "after: expected a date like 2026-01-31"),
        ({"after": "2026-02-30"}, "after: expected a date like 2026-01-31"),
        ({"language": "eng"}, "language: unknown value 'eng'; did you mean 'en'?"),
        ({"tags": ["a"]}, "tags: unknown key; did you mean 'tag'?"),
        ({"tag": []}, "tag: expected an array of length >= 1"),
        ({"path": ""}, "path: expected a string of length >= 1"),
    ],
)
def test_a_wrong_field_is_one_line(fields: dict[str, object], line: str) -> None:
    assert problems(fields, Filter) == [line]


def test_request_overrides_each_default_field() -> None:
    default, asked = Filter(path="guide/**", tag="a"), Filter(tag=("b", "c"))
    assert narrowed(default, asked) == Filter(path="guide/**", tag=("b", "c"))
    assert narrowed(default, None) == default
    assert narrowed(None, asked) == asked
    assert narrowed(None, Filter()) is narrowed(None, None) is None
    assert words_of(Filter(path="guide/**", tag=("b", "c"), after=date(2026, 1, 31))) == (
        "path guide/**, tag b / c, after 2026-01-31"
    )


TAGS = {"most": 0.9, "half": 0.5, "few": 0.03, "none": 0.0}


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Documents of several passages, with tags on some of them, among documents in other languages."""
    random, corpus = np.random.default_rng(7), Corpus(words=400)
    documents = [
        Document(
            source_id=f"folder{n % 7}/{n}.md",
            title=corpus.sentence(3),
            text=" ".join(corpus.sentence(12) for _ in range(25)),
            language="en",
            metadata=Metadata(
                author="Kim",
                date=f"20{n % 26:02d}-06-01",
                tags=tuple(tag for tag, share in TAGS.items() if random.random() < share),
            ),
        )
        for n in range(150)
    ]
    index = tmp_path_factory.mktemp("filters") / "index"
    update(index, [*documents, *DOCUMENTS])
    update(index, [msgspec.structs.replace(documents[n], text=corpus.sentence(300)) for n in (3, 4)], ["folder5/5.md"])
    searcher = Searcher.open(index)
    yield searcher
    searcher.close()


filters = st.builds(
    Filter,
    path=st.sampled_from([None, "folder1/**", "folder?", "refund", "nothing"]),
    tag=st.sampled_from([None, "most", "half", "few", ("few", "none")]),
    language=st.sampled_from([None, "en", "ko"]),
    after=st.sampled_from([None, date(2004, 1, 1), date(2020, 1, 1)]),
)
queries = st.builds(lambda seed: Corpus(seed, 400).question() + " 환불", st.integers(1, 50))


def allowed_by(opened: LocalBackend, wanted: Filter) -> set[int]:
    """The passages of the documents that pass."""
    passes = predicate(wanted)
    return {n for one in opened.catalogue.values() if passes(one) for n in range(one.first, one.first + one.count)}


@settings(max_examples=15)
@given(filters, queries, st.integers(1, 12))
def test_both_searches_return_the_best_matches(tagged: Searcher, wanted: Filter, query: str, k: int) -> None:
    opened = opened_by(tagged)
    numbers = allowed_by(opened, wanted)
    allowed = Allowed(1, np.array(sorted(numbers), dtype=np.int64))
    everything = opened.bm25.search(query, "en", 10_000)
    best = [(number, score) for number, score in everything if number in numbers][:k]
    assert opened.bm25.search(query, "en", k, allowed) == best

    vector = opened.embedder.embed([query], query=True)
    cosines = dict(zip(sorted(numbers), opened.vectors.cosines(vector, sorted(numbers)), strict=True))
    found = opened.vectors.search(vector, k, allowed)
    assert list(found.values()) == pytest.approx(sorted(cosines.values(), reverse=True)[:k], abs=1e-6)
    assert found == pytest.approx({number: cosines[number] for number in found}, abs=1e-6)


@settings(max_examples=12)
@given(filters, queries)
def test_search_returns_all_matches_up_to_k(tagged: Searcher, wanted: Filter, query: str) -> None:
    opened = opened_by(tagged)
    numbers = allowed_by(opened, wanted)
    hits = tagged.search(query, language="en", filter=wanted, k=5, bm25_k=10, vector_k=10, threshold=-1)
    assert {hit.passage for hit in hits} <= numbers
    assert len(hits) >= min(5, len(numbers)) - sum(len(hit.also_in) for hit in hits)
    assert (tagged.passing(wanted) == 0) == (not numbers)


def test_concurrent_first_searches_agree(tagged: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    question = Corpus(5, 400).question()
    expected = tagged.search(question)
    monkeypatch.setattr("index.engines.bm25._OFTEN", 0)
    opened = [Searcher.open(opened_by(tagged).handle.directory.parents[1]) for _ in range(6)]

    def ask(number: int) -> list[Hit]:
        try:
            return opened[number // 2].search(question)
        finally:
            jvm.detach()

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(ask, range(12)))
    for each in opened:
        each.close()
    assert found == [expected] * 12


def test_concurrent_searches_are_independent(tagged: Searcher) -> None:
    corpus = Corpus(words=400)
    asked = [(corpus.question(), corpus.question(), Filter(path=f"folder{number}/**")) for number in range(4)]

    def found(number: int) -> list[Hit]:
        question, topic, only = asked[number]
        return tagged.search(question, topic=topic, filter=only, bm25_k=9, vector_k=0)

    wrong = list[int]()

    def ask(number: int) -> None:
        wrong.extend(number for _ in range(40) if found(number) != alone[number])
        jvm.detach()

    alone = [found(number) for number in range(4)]
    assert all(alone)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(4)))
    assert wrong == []


def test_hit_has_the_metadata_of_its_document(tagged: Searcher) -> None:
    (hit, *_) = tagged.search(Corpus(3, 400).question(), filter=Filter(path="folder1/8.md"))
    assert (hit.metadata.author, hit.metadata.date) == ("Kim", "2008-06-01")


@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "?", "a*", "[ab]", "[!a]"]), min_size=1, max_size=5),
    st.booleans(),
    st.lists(st.lists(st.sampled_from(["a", "b", "ab", "ba"]), min_size=1, max_size=5), min_size=1, max_size=5),
)
def test_path_matches_like_git(pattern: list[str], from_root: bool, ids: list[list[str]]) -> None:
    path = ("/" if from_root else "") + "/".join(pattern)
    passes, git = predicate(Filter(path=path)), GitIgnoreSpec.from_lines([path])
    for names in ids:
        source_id = "/".join(names)
        if pattern[-1] != "**":  # to git, a folder is no part of itself
            assert passes(entry(source_id)) == git.match_file(source_id), (path, source_id)


def test_many_wildcards_are_fast() -> None:
    began = time.process_time()
    for path in ("*?" * 200 + "x", "**/*/" * 80 + "x"):
        assert not predicate(Filter(path=path))(entry("a" * 250 + "/b" * 60))
    assert time.process_time() - began < 1
