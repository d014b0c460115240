"""The same documents give the same hits, scores and path filters from a folder and from OpenSearch."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index.filters import Filter, predicate
from index.java import jvm
from index.model import Entry, Hit
from index.opensearch.layout import path_of
from index.opensearch.queries import path_regexp
from index.search.searcher import Searcher
from tests.index import conftest as small
from tests.opensearch.building import place, searching, update
from tests.opensearch.cluster import Cluster

QUESTIONS = (
    "환불은 며칠 안에 신청하나요", "helmet ISO-9001", "近视 每天户外活动", "Quand ferme l'inscription à l'université ?",
    "متى يجب على الطالب الحضور", "who opens the reading room of the reading room", "Article L. 123-4", "“”!",
)  # fmt: skip
OPTIONS = ({}, {"vector_k": 0}, {"bm25_k": 0}, {"topic": "a helmet"}, {"bm25_k": 2, "vector_k": 1})
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Both:
    local: Searcher
    remote: Searcher


@pytest.fixture(scope="module")
def both(running_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder: Path = tmp_path_factory.mktemp("same") / "index"
    small.update(folder, small.DOCUMENTS)
    where = place(running_cluster, f"same-{folder.parent.name}-{id(folder)}")
    with running_cluster.together():
        update(where, small.DOCUMENTS)
        local = Searcher.open(folder)
        with searching(where) as remote:
            yield Both(local, remote)
        local.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_hits_are_the_same(both: Both, cluster: Cluster, question: str) -> None:
    for options in OPTIONS:
        expected = [told(hit) for hit in both.local.search(question, **options)]
        found = [told(hit) for hit in both.remote.search(question, **options)]
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            for field, value in other.items():
                same = pytest.approx(value, abs=TOLERANCE) if isinstance(value, float) else value
                assert one[field] == same, (question, options, field)


def told(hit: Hit) -> dict[str, object]:
    """All of a hit but its snapshot."""
    fields = {name: getattr(hit, name) for name in hit.__struct_fields__}
    del fields["snapshot"]
    return fields


def test_statistics_match_the_local_index(both: Both, cluster: Cluster) -> None:
    local, remote = both.local, both.remote
    assert remote.languages() == local.languages()
    assert remote.rarity(["helmet", "환불", "unheard"]) == pytest.approx(local.rarity(["helmet", "환불", "unheard"]))
    assert sorted(e.source_id for e in remote.entries()) == sorted(e.source_id for e in local.entries())
    assert remote.source("refund") == local.source("refund")
    assert remote.source("nobody's") is None
    listed = [(entries, total) for entries, total, _ in (remote.sources("exam", 3), local.sources("exam", 3))]
    assert listed[0] == listed[1]
    beginnings = [{one.text for one in s.beginnings(s.entries(), 1)} for s in (remote, local)]
    assert beginnings[0] == beginnings[1]


PARTS = st.text(alphabet='ab.-[]!*?^&~#@"\\<>|+{}()/', min_size=1, max_size=8)
IDS = st.text(alphabet='ab.-[]!^&~#@"\\/é', min_size=1, max_size=10)


@given(pattern=PARTS, source_id=IDS)
@example(pattern="guide/**", source_id="guide/a/b.md")
@example(pattern="*.pdf", source_id="a/b.pdf")
@example(pattern="a/**/b", source_id="a/b")
@example(pattern="[!a]", source_id="a/b")
@example(pattern="[]", source_id="[]")
@example(pattern="[!]", source_id="[!]")
@example(pattern="[]-a]b", source_id="^b")
@example(pattern="/", source_id="a")
def test_path_patterns_match_like_local_ones(pattern: str, source_id: str) -> None:
    entry = Entry(source_id, "", "", "", "", "", 0, 0, 0)
    expected = predicate(Filter(path=pattern))(entry)
    assert (source_id == pattern or _lucene(path_regexp(pattern), path_of(source_id))) == expected


def _lucene(regexp: str, text: str) -> bool:
    made = _java("RegExp")(regexp, _java("RegExp").INTERSECTION)
    automaton = _java("Operations").determinize(made.toAutomaton(), 10_000)
    return bool(_java("CharacterRunAutomaton")(automaton).run(text))


@cache
def _java(name: str) -> Any:
    jvm.start()
    return jvm.java_class(f"org.apache.lucene.util.automaton.{name}")
