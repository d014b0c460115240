"""Merges what BM25 and the vectors found into one ranking.

The score of a candidate is the mean of five shares, each 0 to 1: its BM25 score of the best BM25 score, its cosine of the best
cosine, how much of the question it covers of the most that one covers, how much of the question's phrases it holds, and how
much of the question the lead of its document covers (coverage.py). Equal weights, for all languages and embedders: DECISIONS.md
has what each is worth. Reciprocal rank stays for rankings without comparable scores.
"""

from collections.abc import Hashable, Iterable, Mapping


def mean_of_shares(
    bm25: Mapping[int, float],
    cosines: Mapping[int, float],
    covered: Mapping[int, float],
    phrases: Mapping[int, float],
    leads: Mapping[int, float],
) -> list[tuple[int, float]]:
    """Every number of `covered` and its score, 0 to 1, best first; a side that does not know a number gives it 0.

    The best of a side is its best over all that the mapping holds, candidates or not.
    """
    best_bm25 = max(bm25.values(), default=0.0)
    best_cosine = max(cosines.values(), default=0.0)
    best_cover = max(covered.values(), default=0.0)
    scores = {
        number: (
            _share(bm25.get(number, 0.0), best_bm25)
            + _share(cosines.get(number, 0.0), best_cosine)
            + _share(cover, best_cover)
            + min(phrases.get(number, 0.0), 1.0)
            + min(leads.get(number, 0.0), 1.0)
        )
        / 5
        for number, cover in covered.items()
    }
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _share(score: float, best: float) -> float:
    return max(score, 0.0) / best if best > 0 else 0.0


def reciprocal_rank[T: Hashable](rankings: Iterable[Iterable[T]], k: int = 60) -> list[T]:
    """All that the rankings hold, by the sum of 1 / (k + rank) over them (Cormack, Clarke and Büttcher, 2009).

    Among equals the one that came first stays first.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda item: -scores[item])
