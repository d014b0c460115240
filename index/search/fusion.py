"""Merge the results of BM25 and the vectors into one ranking.

A candidate's score is the mean of six shares, each 0 to 1: its BM25 score relative to the best, its cosine relative to the best,
its coverage of the question relative to the best, the share of the question's phrases it contains, and the shares of the
question that the lead of its document covers (coverage.py) and that its title, file name and headings cover. Two more count a
quarter: the share that the heading directly above it covers, and whether it begins its document. The weights are equal for all
languages and embedders; DECISIONS.md has the contribution of each share. For passages in another language than the question,
nearness in meaning (index/languages/meaning.py) counts ten times. Reciprocal rank remains for rankings without comparable scores.
"""

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import NamedTuple

_LIGHT = 0.25
_HEAVY = 10.0
#: Nearness in meaning up to which a passage is of something else, and from which it is of the same.
_FAR, _NEAR = 0.18, 0.48


class Covers(NamedTuple):
    """The shares of the question, 0 to 1, that a passage covers: itself, in phrases, and by the text around it."""

    text: float = 0.0
    phrases: float = 0.0
    lead: float = 0.0
    headings: float = 0.0
    own_headings: float = 0.0


def mean_of_shares[K: Hashable](
    bm25: Mapping[K, float],
    cosines: Mapping[K, float],
    covers: Mapping[K, Covers],
    beginnings: Set[K],
    best_cosine: float = 0.0,
    nearness: Mapping[K, float] | None = None,
) -> list[tuple[K, float]]:
    """Every key of `covers` and its score, 0 to 1, best first, equal ones as there; a side that lacks a key gives it 0.

    The best of a side is the best in its mapping, or `best_cosine`. `beginnings`: the passages that begin their document.
    `nearness`: in meaning, for a question in another language than the passages.
    """
    nearness = nearness or {}
    best_bm25 = max(bm25.values(), default=0.0)
    best_cosine = max(best_cosine, *cosines.values(), 0.0)
    best_cover = max((covered.text for covered in covers.values()), default=0.0)
    scores = {
        key: (
            _share(bm25.get(key, 0.0), best_bm25)
            + _share(cosines.get(key, 0.0), best_cosine)
            + _share(covered.text, best_cover)
            + min(covered.phrases, 1.0)
            + min(covered.lead, 1.0)
            + min(covered.headings, 1.0)
            + _LIGHT * min(covered.own_headings, 1.0)
            + _LIGHT * (key in beginnings)
            + _HEAVY * min(max((nearness.get(key, 0.0) - _FAR) / (_NEAR - _FAR), 0.0), 1.0)
        )
        / (6 + 2 * _LIGHT + (_HEAVY if nearness else 0.0))
        for key, covered in covers.items()
    }
    return sorted(scores.items(), key=lambda item: -item[1])


def _share(score: float, best: float) -> float:
    return max(score, 0.0) / best if best > 0 else 0.0


def reciprocal_rank[T: Hashable](rankings: Iterable[Iterable[T]], k: int = 60) -> list[T]:
    """All items of the rankings, by the sum of 1 / (k + rank) over them (Cormack, Clarke and Büttcher, 2009).

    Ties keep the order of first appearance.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda item: -scores[item])
