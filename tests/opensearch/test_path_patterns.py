"""A filter's path means the same in OpenSearch's query language as here; read by the same Lucene, without a cluster."""

from functools import cache
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from index.filters import Filter, predicate
from index.java import jvm
from index.model import Entry
from index.opensearch.layout import path_of
from index.opensearch.queries import path_regexp

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
