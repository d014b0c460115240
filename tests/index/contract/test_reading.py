"""Hits and statistics of an index that no test changes, for each kind of caller."""

from contextlib import closing
from datetime import date

import pytest

from index.build.opening import Index
from index.filters import Filter
from index.model import Groups
from index.search.searcher import Searcher
from tests.index.conftest import update
from tests.index.contract.conftest import LIBRARY

PUBLIC = {document.source_id for document in LIBRARY if not document.metadata.groups}


@pytest.mark.parametrize(
    ("query", "language", "source_id"),
    [
        ("when is a refund paid: 환불 지급", "ko", "refund"),
        ("helmet in the foundry", "en", "helmet"),
        ("近视的孩子 户外活动", "zh", "eyes"),
        ("certificat médical absent à un examen", "fr", "examen"),
        ("تدفع الرسوم الدراسية", "ar", "fees-ar"),
        ("ISO-9001", "ko", "helmet"),
    ],
)
def test_each_language_finds_its_document_first(reader: Searcher, query: str, language: str, source_id: str) -> None:
    hits = reader.search(query, language=language)
    assert hits[0].source_id == source_id
    assert {hit.snapshot for hit in hits} == {reader.snapshot}
    assert all(0 <= hit.score <= 1 and hit.score_type == "fusion" for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_each_side_ranks_by_its_own_score(reader: Searcher) -> None:
    terms, vectors = (
        reader.search("a helmet for every visitor", bm25_k=bm25_k, vector_k=vector_k, threshold=-1)
        for bm25_k, vector_k in ((5, 0), (0, 5))
    )
    assert {hit.score_type for hit in terms} == {"bm25"}
    assert {hit.score_type for hit in vectors} == {"vector"}
    assert [hit.bm25_rank for hit in terms] == sorted(hit.bm25_rank or 0 for hit in terms)
    assert all(hit.score == hit.vector_score == hit.cosine and hit.bm25_score is None for hit in vectors)
    assert terms[0].source_id == vectors[0].source_id == "helmet"
    assert reader.search("a helmet for every visitor", bm25_k=0, vector_k=0) == []


def test_the_threshold_holds_for_vectors_alone(reader: Searcher) -> None:
    hits = reader.search("helmet", bm25_k=0, threshold=0.3, k=20, vector_k=20)
    assert hits
    assert all(hit.score >= 0.3 for hit in hits)
    assert reader.search("helmet", bm25_k=0, threshold=1.1) == []
    assert reader.search("helmet", threshold=1.1)[0].source_id == "helmet"


def test_topic_counts_less_than_the_question(reader: Searcher) -> None:
    assert reader.search("when is it replaced", topic="helmet of the foundry")[0].source_id == "helmet"
    for sides in ({}, {"bm25_k": 0}, {"vector_k": 0}):
        for topic in ("helmet", "? \ud800 " * 200):
            assert reader.search("reading room hours", topic=topic, **sides)[0].source_id == "library"


def test_near_duplicate_is_merged_into_the_first(reader: Searcher) -> None:
    hits = reader.search("who signs the register at the east gate", k=10)
    assert (hits[0].source_id, hits[0].also_in) == ("guard/a.md", ("guard/b.md",))
    assert "guard/b.md" not in [hit.source_id for hit in hits]


def test_names_are_translated_for_the_search(reader: Searcher) -> None:
    variants = reader.variants("Switzerland", "en")
    assert set(variants) <= set(reader.languages())
    assert variants["ko"] != variants["fr"] != "Switzerland"
    assert reader.variants("helmet", "en") == {}


@pytest.mark.parametrize(
    ("wanted", "passing"),
    [
        (Filter(path="board/**"), {"board/salary.md", "board/plan.md"}),
        (Filter(path="*.md"), {"board/salary.md", "board/plan.md", "guard/a.md", "guard/b.md", "long.md"}),
        (Filter(path="long.md"), {"long.md"}),
        (Filter(path="nothing/here"), set()),
        (Filter(tag="money"), {"board/salary.md"}),
        (Filter(tag=("NIGHT", "plans")), {"board/plan.md", "guard/a.md"}),
        (Filter(language="ko"), {"refund", "ship"}),
        (Filter(after=date(2025, 1, 31)), {"board/salary.md", "board/plan.md"}),
        (Filter(path="guard/*", after=date(2024, 1, 1)), {"guard/b.md"}),
    ],
)
def test_filter_passes_matching_documents(reader: Searcher, wanted: Filter, passing: set[str]) -> None:
    assert reader.passing(wanted) == len(passing)
    assert reader.passing(wanted, ()) == len(passing & PUBLIC)
    for sides in ({"bm25_k": 50}, {"vector_k": 50}, {"bm25_k": 0, "vector_k": 50}):
        for query in ("directors foundry guard machine", "환불 배송"):
            hits = reader.search(query, filter=wanted, k=50, threshold=-1, **sides)
            assert {hit.source_id for hit in hits} <= passing
    found = reader.search("directors foundry guard machine", filter=wanted, k=50, bm25_k=0, vector_k=50, threshold=-1)
    assert {name for hit in found for name in (hit.source_id, *hit.also_in)} == passing


@pytest.mark.parametrize(
    ("groups", "hidden"),
    [
        (None, set[str]()),
        (("board",), set[str]()),
        (("works",), {"board/salary.md"}),
        ((" works ", "nobody's"), {"board/salary.md"}),
        ((), {"board/salary.md", "board/plan.md"}),
    ],
)
def test_visibility_by_group(reader: Searcher, groups: Groups, hidden: set[str]) -> None:
    seen = {document.source_id for document in LIBRARY} - hidden
    assert {entry.source_id for entry in reader.entries(groups)} == seen
    for query in ("zirconium bonus of the directors", "the directors close the foundry"):
        for sides in ({}, {"bm25_k": 0, "vector_k": 50}, {"vector_k": 0, "bm25_k": 50}):
            hits = reader.search(query, k=50, threshold=-1, groups=groups, **sides)
            assert not {name for hit in hits for name in (hit.source_id, *hit.also_in)} & hidden
    listed, count, snapshot = reader.sources("", 50, groups)
    assert ([entry.source_id for entry in listed], count, snapshot) == (sorted(seen), len(seen), reader.snapshot)
    for name in hidden:
        assert reader.source(name, groups) is None
        assert reader.stretch(name, 0, 10, groups) is None
    assert all(reader.source(name, groups) is not None for name in seen)


def test_figures_exclude_hidden_documents(reader: Searcher, index: Index) -> None:
    update(index, [document for document in LIBRARY if not document.metadata.groups])
    words = ["zirconium", "directors", "helmet", "gate", "환불", "近视"]
    with closing(Searcher.open(index)) as without:
        assert reader.rarity(words, ()) == pytest.approx(without.rarity(words))
        assert {name: n for name, n in reader.languages(()).items() if n} == without.languages()
        assert reader.passing(Filter(path="*"), ()) == without.passing(Filter(path="*"))
        assert reader.rarity(words)[0] != reader.rarity(words, ())[0]


@pytest.mark.parametrize(("begin", "first"), [("환불", 0xAC00), ("近视", 0x4E00), ("환불 近视", 0x1F300)])
def test_distinct_characters_are_searched(reader: Searcher, begin: str, first: int) -> None:
    long = f"{begin} " + "".join(map(chr, range(first, first + 3900)))
    for sides in ({}, {"vector_k": 0}):
        for topic, groups in (("", None), (long, ())):
            assert reader.search(long, topic=topic, groups=groups, k=50, **sides)


def test_rarity_of_no_word_and_unknown_word(reader: Searcher) -> None:
    nothing, common, unknown = reader.rarity(["...", "the", "xylophone"])
    assert nothing == 0 < common < unknown <= 1


def test_documents_are_listed_by_id_in_pages(reader: Searcher) -> None:
    names: list[str] = []
    while page := reader.sources(names[-1] if names else "", 4)[0]:
        names += [entry.source_id for entry in page]
    assert names == sorted(document.source_id for document in LIBRARY)


def test_document_beginnings_are_first_passages(reader: Searcher) -> None:
    (entry,) = (entry for entry in reader.entries() if entry.source_id == "long.md")
    assert entry.count > 3
    first = reader.beginnings([entry], 2)
    assert [passage.number for passage in first] == [entry.first, entry.first + 1]
    assert first[0].char_start == 0
    assert len(reader.beginnings([entry], 10_000)) == entry.count


@pytest.mark.parametrize(("start", "end"), [(0, 50), (1700, 4000), (9_000, 10**9), (10**9, 2 * 10**9)])
def test_any_stretch_matches_the_document(reader: Searcher, start: int, end: int) -> None:
    (document,) = (one for one in LIBRARY if one.source_id == "long.md")
    found = reader.stretch("long.md", start, end)
    assert found is not None
    entry, stretch, snapshot = found
    assert (entry.source_id, snapshot, stretch.last_page) == ("long.md", reader.snapshot, 10)
    assert stretch.text == document.text[start:end]
    assert reader.stretch("nowhere.md", 0, 10) is None


def test_the_text_of_a_page(reader: Searcher) -> None:
    (document,) = (one for one in LIBRARY if one.source_id == "long.md")
    found = reader.stretch("long.md", 0, 10**6, page=3)
    assert found is not None
    assert found[1].text == document.text[3600:5400]
