"""Select the verbatim sentences that answer a question; none if the passages do not answer it."""

from prompts.contracts import EvidencePick, PickedSpan, SelectEvidence
from runtime.engines.extractive.answerable import LEAST_SHARED, lack
from runtime.engines.extractive.queries import parts_of
from runtime.engines.extractive.ranking import Ranked, rank

#: The contract's bounds on the reply.
MOST_SPANS, LONGEST_SPAN = 8, 800
#: Sentences for each part of a question with several parts.
MOST_OF_A_PART = 2


def select_evidence(prompt: SelectEvidence) -> EvidencePick:
    """What the rules chose already; without that, spans, best first, adjacent sentences joined; empty if the passages do not
    contain what is asked.

    A question of several parts gets the evidence of each part that the passages answer.
    """
    if prompt.suggested:
        return EvidencePick(spans=prompt.suggested)
    passages = tuple(chunk.content for chunk in prompt.retrieved_chunks)
    units = tuple(chunk.units for chunk in prompt.retrieved_chunks)
    rankings = [rank(part, passages, units) for part in parts_of(prompt.original_query, prompt.language)]
    answered = [ranking for ranking in rankings if not lack(ranking)]
    if answered and len(rankings) > 1:
        # If one part is answered, the passages are the right ones, and other parts get the benefit of the doubt.
        answered = [
            r for r in rankings if r in answered or (not lack(r, lenient=True) and r.ranked[0].covered >= LEAST_SHARED)
        ]
    chosen: dict[tuple[int, int], Ranked] = {}
    for ranking in answered:
        best = ranking.best() if len(rankings) == 1 else ranking.best()[:MOST_OF_A_PART]
        for r in best:
            chosen.setdefault((r.read.passage, r.read.position), r)
    return EvidencePick(
        spans=tuple(
            PickedSpan(passage=passage + 1, text=passages[passage][start:end][:LONGEST_SPAN].rstrip())
            for passage, start, end in joined(list(chosen.values()))[:MOST_SPANS]
        )
    )


def joined(best: list[Ranked]) -> list[tuple[int, int, int]]:
    """`(passage, start, end)` of the sentences, short neighbours joined, ordered by the better of each."""
    groups: list[list[Ranked]] = []
    for r in best:
        beside = next(
            (g for g in groups if any(_neighbours(r, other) for other in g) and _length([*g, r]) <= LONGEST_SPAN), None
        )
        if beside is None:
            groups.append([r])
        else:
            beside.append(r)
    return [(g[0].read.passage, min(r.read.start for r in g), max(r.read.end for r in g)) for g in groups]


def _neighbours(one: Ranked, other: Ranked) -> bool:
    return one.read.passage == other.read.passage and abs(one.read.position - other.read.position) == 1


def _length(group: list[Ranked]) -> int:
    return max(r.read.end for r in group) - min(r.read.start for r in group)
