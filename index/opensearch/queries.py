"""Requests in OpenSearch's query language: terms, vectors, the documents of a snapshot and those that a caller may see."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from index.embedders.embedder import Vectors
from index.filters import Filter
from index.languages import UNDETERMINED
from index.model import Groups, group_name
from index.opensearch.layout import EF_SEARCH, State, field
from index.text.coverage import TOPIC_SHARE

type Json = dict[str, Any]

#: Lucene takes no more clauses in a query, at any depth.
CLAUSES = 1024
_PLACES = re.compile(r"\*|\?|\[(?:!.|[^!])[^\]]*\]|.", re.DOTALL)
_NOTHING = "([a]&[b])"
_BEST_FIRST = [{"_score": "desc"}, {"number": "asc"}]


def among_passages(state: State, groups: Groups, wanted: Filter | None, *, besides: str = "") -> list[Json]:
    """The conditions for a passage to be in this snapshot, to be seen by these groups, to pass the filter, and to be in another
    known language than `besides`.
    """
    left_out = [{"exists": {"field": f"terms.{field(language)}"}} for language in (besides, UNDETERMINED) if besides]
    others = [{"bool": {"must_not": left_out}}] if left_out else []
    return [*_written(state), *_without("edition", state.gone), *_seen(groups), *_passing(wanted), *others]


def among_entries(state: State, groups: Groups, wanted: Filter | None = None) -> list[Json]:
    """The same of a document. One dies when another takes its place, but not by a build that was given up."""
    died = {"bool": {"filter": [{"range": {"died": {"lte": state.build}}}, *_without("died", state.given_up)]}}
    return [*_written(state), {"bool": {"must_not": [died]}}, *_seen(groups), *_passing(wanted)]


def _written(state: State) -> list[Json]:
    return [{"range": {"born": {"lte": state.build}}}, *_without("born", state.given_up)]


def _without(name: str, values: Sequence[int | str]) -> list[Json]:
    return [{"bool": {"must_not": [{"terms": {name: list(values)}}]}}] if values else []


def _seen(groups: Groups) -> list[Json]:
    if groups is None:
        return []
    named = sorted({*map(group_name, groups)})
    return [{"bool": {"should": [{"term": {"everybody": True}}, {"terms": {"groups": named}}]}}]


def _passing(wanted: Filter | None) -> list[Json]:
    """As filters.predicate."""
    if wanted is None:
        return []
    results: list[Json] = []
    if wanted.path is not None:
        pattern = {"regexp": {"path": {"value": path_regexp(wanted.path), "flags": "INTERSECTION"}}}
        results.append({"bool": {"should": [{"term": {"source_id": wanted.path}}, pattern]}})
    if wanted.tag is not None:
        tags = (wanted.tag,) if isinstance(wanted.tag, str) else wanted.tag
        results.append({"terms": {"tags": [tag.casefold() for tag in tags]}})
    if wanted.language is not None:
        results.append({"term": {"language": wanted.language}})
    if wanted.after is not None:
        results.append({"range": {"day": {"gte": wanted.after.isoformat()}}})
    return results


def by_terms(
    languages: Mapping[str, tuple[float, Mapping[str, int], Mapping[str, int]]], k: int, among: list[Json]
) -> list[Json]:
    """The searches for a question: for each language what its passages' scores count, the question's terms in it and the topic's.

    Mostly one; a passage has terms of one language, so it is in the hits of one.
    """
    searches: list[list[Json]] = [[]]
    for language, (weight, wanted, topic) in languages.items():
        name = f"terms.{field(language)}"
        clauses = [_term(name, term, weight * count) for term, count in wanted.items()]
        clauses += [_term(name, term, weight * TOPIC_SHARE * count) for term, count in topic.items()]
        if len(searches[-1]) + len(clauses) > CLAUSES - 100:
            searches.append([])
        searches[-1] += clauses[: CLAUSES - 100]
    return [
        {
            "size": k,
            "_source": ["held"],
            "track_total_hits": False,
            "query": {"bool": {"should": clauses, "minimum_should_match": 1, "filter": among}},
            "sort": _BEST_FIRST,
        }
        for clauses in searches
        if clauses
    ]


def _term(name: str, term: str, boost: float) -> Json:
    return {"term": {name: {"value": term, "boost": boost}}}


def by_vector(vector: Vectors, k: int, among: list[Json]) -> Json:
    """The score is (1 + cosine) / 2."""
    near = {"vector": vector[0].tolist(), "k": max(k, EF_SEARCH), "filter": {"bool": {"filter": among}}}
    return {
        "size": k,
        "_source": ["held"],
        "track_total_hits": False,
        "query": {"knn": {"vector": near}},
        "sort": _BEST_FIRST,
    }


def path_regexp(pattern: str) -> str:
    """A filter's pattern as a regular expression of Lucene's over `path_of` (layout.py)."""
    names = [name for name in pattern.split("/") if name]
    if not names:
        return _NOTHING
    if "/" not in pattern.rstrip("/"):
        names.insert(0, "**")
    return "".join("([^/]+/)*" if name == "**" else f"{_name_regexp(name)}/" for name in names) + ".*"


def _name_regexp(name: str) -> str:
    """A name as fnmatch reads it. Several `*` and `?` in a row are one, or every one would double what the engine has to try."""
    parts: list[str] = []
    for wild, positions in groupby(_PLACES.findall(name), key=lambda place: place in "*?"):
        if wild:
            run = list(positions)
            least = run.count("?")
            parts.append(f"[^/]{{{least},}}" if "*" in run else f"[^/]{{{least}}}")
        else:
            parts += [_class(place) if len(place) > 1 else _plain(place) for place in positions]
    return "".join(parts)


def _class(place: str) -> str:
    """`[a-c]` or `[!a-c]`, of a single name."""
    inside, none = place[1:-1], place.startswith("[!")
    members = inside[1:] if none else inside
    ranges: list[str] = []
    at = 0
    while at < len(members):
        if at + 2 < len(members) and members[at + 1] == "-":
            ranges += _range(ord(members[at]), ord(members[at + 2]))
            at += 3
        else:
            ranges.append(_plain(members[at]))
            at += 1
    if none:
        return f"[^/{''.join(ranges)}]"
    return f"([{''.join(ranges)}]&[^/])" if ranges else _NOTHING


def _range(low: int, high: int) -> list[str]:
    """Lucene takes no escaped character as the end of a range, so those are terms of their own."""
    ends: list[str] = []
    while low <= high and len(_plain(chr(low))) > 1:
        ends.append(_plain(chr(low)))
        low += 1
    while low <= high and len(_plain(chr(high))) > 1:
        ends.append(_plain(chr(high)))
        high -= 1
    return [*ends, f"{chr(low)}-{chr(high)}"] if low <= high else ends


def _plain(character: str) -> str:
    return character if character.isalnum() or not character.isascii() else f"\\{character}"
