"""From the candidates of a backend to hits: fusion, near-duplicates merged, and the text of a hit. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import batched, zip_longest
from typing import NamedTuple

import msgspec
import numpy as np

from index.backend import Candidate, CandidateQuery, Candidates, Rank
from index.embedders.reranker import Reranker
from index.languages import every, pattern
from index.languages.meaning import nearness
from index.model import Hit, ScoreType, all_headings, indexed_text, own_headings
from index.search.fusion import Covers, mean_of_shares
from index.snapshot.views import Visible
from index.text.codes import with_codes
from index.text.coverage import GramSet, cover, sets_of
from index.text.matching import content_words, terms_in
from index.text.near_duplicates import SKETCH_WIDTH, groups
from index.text.ngrams import encode_all


class Fused(NamedTuple):
    """A candidate with its score of both sides, 0 to 1, and the share of the question that it covers; for a question in another
    language its nearness in meaning.
    """

    candidate: Candidate
    score: float
    coverage: float
    nearness: float = 0.0


def fused(found: Candidates, asked: CandidateQuery, seen: Visible, foreign: str = "") -> list[Fused]:
    """The candidates of both sides, best first. A passage counts for the question or the variant of it that it covers best.

    `foreign`: the question, if no passage is in its language; nearness in meaning counts then.

    The topic counts for the text alone: around it and in phrases it would draw the passage that answered the question before.
    """
    candidates = sorted(found.candidates, key=lambda one: one.passage.number)
    covers = _covers(candidates, [text for text, _ in asked.terms], asked.topic, seen)
    near = {one.candidate.passage.number: one.nearness for one in _near(foreign, candidates)} if foreign else {}
    scores = mean_of_shares(
        {one.passage.number: one.bm25.score for one in candidates if one.bm25},
        {one.passage.number: one.cosine for one in candidates},
        covers,
        {one.passage.number for one in candidates if one.begins},
        found.best_cosine,
        near,
    )
    by_number = {one.passage.number: one for one in candidates}
    return [Fused(by_number[number], score, covers[number].text, near.get(number, 0.0)) for number, score in scores]


def room_for_others(question: str, ranked: Sequence[Fused]) -> tuple[int, float]:
    """How many candidates in other languages to add at most, and how near these are to the question in meaning: none where one of
    the first has all words of a question that has several, or one is near. Numbers have no meaning and count for neither.
    """
    first = [indexed_text(one.candidate.passage) for one in ranked[:_FIRST]]
    wanted = frozenset(term for term in content_words(question) if not term[0].isdigit())
    if len(wanted) > 1 and any(wanted <= terms_in(text) for text in first):
        return 0, 1.0
    own = max(nearness(_NUMBER.sub(" ", question), first, together=True), default=0.0)
    return _OTHERS if own < _RATHER_NEAR else _FEW if own < _NEAR and not _covered(ranked) else 0, own


def with_others(
    question: str, ranked: Sequence[Fused], others: Sequence[Candidate], most: int, own: float
) -> list[Fused]:
    """The candidates in turn with the `most` in other languages that are nearest in meaning; the nearer ones first, `own` being
    how near the candidates are. Nearness is the score of the others: they cover no word of the question.
    """
    near = sorted(_near(question, others), key=lambda one: -one.nearness)
    best = near[0].nearness if near else 0.0
    near = [one for one in near[:most] if one.nearness >= max(_LEAST, best - _BESIDE, _PART * own)]
    first, second = (near, ranked) if best > own and not _covered(ranked) else (ranked, near)
    turns = (one for pair in zip_longest(first, second) for one in pair if one is not None)
    return list({one.candidate.passage.number: one for one in turns}.values())


def _near(question: str, candidates: Sequence[Candidate]) -> list[Fused]:
    shares = nearness(question, [indexed_text(one.passage) for one in candidates], together=True)
    return [Fused(one, share, 0.0, share) for one, share in zip(candidates, shares, strict=True)]


def _covered(ranked: Sequence[Fused]) -> bool:
    return max((one.coverage for one in ranked[:_FIRST]), default=0.0) >= _COVERED


def by_nearness(question: str, found: Candidates) -> Candidates:
    """The candidates of the vectors, ranked by nearness in meaning instead of the cosine of whole texts."""
    near = sorted(_near(question, found.candidates), key=lambda one: -one.nearness)
    placed = (
        msgspec.structs.replace(one.candidate, vector=Rank(rank, one.nearness)) for rank, one in enumerate(near, 1)
    )
    return msgspec.structs.replace(found, candidates=list(placed))


def behind(first: Sequence[Fused], more: Sequence[Fused]) -> list[Fused]:
    """The candidates of `first`, and then those of `more` that are not among them, none with a higher score."""
    known = {one.candidate.passage.number for one in first}
    last = min((one.score for one in first), default=1.0)
    others = (one for one in more if one.candidate.passage.number not in known)
    return [*first, *(one._replace(score=min(one.score, last)) for one in others)]


def of_both_sides(ranked: Sequence[Fused], k: int, snapshot: str) -> list[Hit]:
    """The best `k`, near-duplicates merged."""
    coverage = {one.candidate.passage.number: one.coverage for one in ranked}
    scored = [(one.candidate, one.score) for one in ranked]
    return [
        msgspec.structs.replace(hit, coverage=coverage[one.passage.number], cosine=one.cosine)
        for one, hit in _hits(scored, k, "fusion", snapshot)
    ]


def of_one_side(found: Candidates, k: int, score_type: ScoreType, snapshot: str) -> list[Hit]:
    """The best `k` of the side that was asked alone, by its own score."""
    placed = [(one, one.bm25 if score_type == "bm25" else one.vector) for one in found.candidates]
    ordered = sorted(((one, position) for one, position in placed if position), key=lambda each: each[1].rank)
    return [hit for _, hit in _hits([(one, position.score) for one, position in ordered], k, score_type, snapshot)]


def reranked(reranker: Reranker, query: str, hits: list[Hit]) -> list[Hit]:
    """The hits by the reranker's scores, best first, equal ones as they came; all as they came where it has none."""
    scores = reranker.scores(query, [indexed_text(hit) for hit in hits]) if hits else None
    if scores is None:
        return hits
    scored = [msgspec.structs.replace(hit, rerank_score=score) for hit, score in zip(hits, scores, strict=True)]
    return [hit for _, hit in sorted(zip(scores, scored, strict=True), key=lambda pair: -pair[0])]


_FIRST = 5
#: From these nearnesses on, the first passages are near or rather near a question in their language; from this share of the
#: question on they cover it.
_NEAR, _RATHER_NEAR, _COVERED = 0.75, 0.57, 0.5
#: In another language from this nearness on, and so far below the nearest at most; so many at most, and so many beside some
#: that are rather near.
_LEAST, _BESIDE, _OTHERS, _FEW = 0.23, 0.13, 5, 2
#: And from this part on of the nearness of those in the question's language.
_PART = 0.6
_NUMBER = re.compile(r"\d+")
#: In the path of a copy: a packed file, what a language calls copies or drafts, a number that a browser adds.
_COPY = pattern(
    (
        r"\.(?:zip|tar|tgz|gz)/",
        r"\(\d+\)\.\w+$",
        *every(lambda language: [language.search.copies, language.terms.standing.draft]),
    )
)
_YEAR, _NO_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)"), 9999

#: The n-grams of headings, which come again from question to question; emptied when there are too many.
_HEADINGS: dict[str, GramSet] = {}
MOST_HEADINGS = 20_000


def _covers(candidates: Sequence[Candidate], askings: Sequence[str], topic: str, seen: Visible) -> dict[int, Covers]:
    if not candidates:
        return {}
    own = [own_headings(one.passage) for one in candidates]
    headings = [*(all_headings(one.passage, below) for one, below in zip(candidates, own, strict=True)), *own]
    by_heading = {text: known for text in dict.fromkeys(headings) if (known := _HEADINGS.get(text)) is not None}
    new = [text for text in dict.fromkeys(headings) if text not in by_heading]
    texts = [*map(with_codes, askings), *map(with_codes, new), with_codes(topic)]
    # Hashed together, which takes a tenth of the time that one after the other takes.
    sets, wanted_phrases = sets_of(encode_all(texts), len(askings))
    about, wanted = sets.pop() if topic else None, sets[: len(askings)]
    read = dict(zip(new, sets[len(askings) : len(askings) + len(new)], strict=True))
    if len(_HEADINGS) + len(read) > MOST_HEADINGS:
        _HEADINGS.clear()
    _HEADINGS.update(read)
    by_heading |= read
    texts_held = [one.grams for one in candidates]
    beside = [*(one.lead for one in candidates), *(by_heading[text] for text in headings)]
    phrases = [one.phrases for one in candidates]
    covers: dict[int, Covers] = {}
    for one_query, asked_phrases in zip(wanted, wanted_phrases, strict=True):
        if about is None:
            shares = cover(one_query, seen.rarity, [*texts_held, *beside])
        else:
            shares = cover(one_query, seen.rarity, texts_held, about) + cover(one_query, seen.rarity, beside)
        text, *others = batched(shares, len(candidates))
        together = cover(asked_phrases, seen.phrase_rarity, phrases)
        for one, *each in zip(candidates, text, together, *others, strict=True):
            covered = Covers(*each)
            if one.passage.number not in covers or covered.text > covers[one.passage.number].text:
                covers[one.passage.number] = covered
    return covers


def _in_use(same: Sequence[Candidate]) -> Candidate:
    """Of those with the text of the very first, the first with the latest year in its path or none; copies and drafts last."""
    words = same[0].passage.text.split()
    copies = [each for each in same if each.passage.text.split() == words]
    return min(copies, key=lambda each: _out_of_use(each.passage.source_id))


def _out_of_use(path: str) -> tuple[int, int]:
    return len(_COPY.findall(path)), -max(map(int, _YEAR.findall(path)), default=_NO_YEAR)


def _hits(
    ranked: Sequence[tuple[Candidate, float]], k: int, score_type: ScoreType, snapshot: str
) -> Iterator[tuple[Candidate, Hit]]:
    """Near-duplicates are merged into the first of them, or into one of the same text where a person keeps what is in use."""
    sketches = np.array([one.sketch for one, _ in ranked], dtype=np.uint32).reshape(-1, SKETCH_WIDTH)
    first_of = groups(sketches)
    firsts = [position for position, first in enumerate(first_of) if first == position]
    for first in firsts[:k]:
        best, score = ranked[first]
        same = [ranked[at][0] for at in range(first, len(ranked)) if first_of[at] == first]
        one = _in_use(same) if len(same) > 1 else best
        passage = one.passage
        rank_b, score_b = one.bm25 or (None, None)
        rank_v, score_v = one.vector or (None, None)
        hit = Hit(
            source_id=passage.source_id,
            title=passage.title,
            url=passage.link,
            score=score,
            score_type=score_type,
            text=passage.text,
            char_start=passage.char_start,
            char_end=passage.char_end,
            language=passage.language,
            snapshot=snapshot,
            passage=passage.number,
            page=passage.page,
            headings=passage.headings,
            blocks=passage.blocks,
            intros=passage.intros,
            metadata=one.metadata,
            bm25_rank=rank_b,
            vector_rank=rank_v,
            bm25_score=score_b,
            vector_score=score_v,
            raw_score=score_b if score_b is not None else score_v or 0.0,
            cosine=score_v,
            also_in=tuple(
                dict.fromkeys(each.passage.source_id for each in same if each.passage.source_id != passage.source_id)
            ),
        )
        yield one, hit
