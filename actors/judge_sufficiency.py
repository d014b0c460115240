"""Decide whether the passages of all lanes are enough, and if not, open a second round of lanes, at most once.

PassagesJudged, all lanes of a round -> QueryDecomposed (round 2) | PassagesReady        prompt: judge_sufficiency

When this cannot be judged, the run goes on with what it has.
"""

from msgspec import UNSET

from actors.evidence.lanes import merge, place_of, usable_lanes
from actors.evidence.prompt_evidence import analysis_to_prompt
from actors.outcome.closest import MOST
from actors.question.profile import profile_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import PassagesJudged, PassagesReady, QueryDecomposed
from bus.wire.parts import Collection
from prompts import contracts

ROUND_2 = "round2"


def as_found(lanes: tuple[PassagesJudged, ...], failure: Failure) -> PassagesReady:
    return ready(lanes, ())


@actor(prompts=("judge_sufficiency",), fallback=as_found, bound=1)
async def judge_sufficiency(lanes: tuple[PassagesJudged, ...], ask: Ask) -> QueryDecomposed | PassagesReady:
    last = max(lanes, key=lambda lane: lane.round)
    reply = await ask(
        contracts.JudgeSufficiency(
            original_query=last.question.text,
            sub_queries=tuple(contracts.SubQuery(id=q.id, statement=q.statement, focus=q.focus) for q in last.plan),
            sub_query_analyses=tuple(analysis_to_prompt(lane.analysis) for lane in lanes),
            language=last.question.language,
            last=UNSET if last.round == 1 and profile_of(last.question.profile).second_round else True,
        )
    )
    if reply.is_sufficient:
        return ready(lanes, ())
    profile = profile_of(last.question.profile)
    asked = tuple((q.id, q.statement, q.focus) for q in reply.additional_sub_queries)
    added = usable_lanes(asked, "sq_add", profile.retrieval.added_sub_queries)
    if last.round == 1 and added and profile.second_round:
        return QueryDecomposed(
            lane=ROUND_2,
            question=last.question,
            sub_queries=added,
            earlier=last.plan,
            round=2,
            snapshot=lanes[0].snapshot or UNSET,
        )
    return ready(lanes, reply.missing_critical_aspects)


def ready(lanes: tuple[PassagesJudged, ...], missing: tuple[str, ...]) -> PassagesReady:
    passages, all_near = merge(tuple(lane.passages for lane in lanes)), merge(tuple(lane.near for lane in lanes))
    kept = set(map(place_of, passages))  # another lane may have rejected the same passage
    return PassagesReady(
        question=lanes[0].question,
        passages=passages,
        analyses=tuple(lane.analysis for lane in lanes),
        missing=missing,
        complex=True,
        rounds=max(lane.round for lane in lanes),
        snapshot=max((lane.snapshot for lane in lanes), default=""),
        collection=known(lanes),
        near=tuple(each for each in all_near if place_of(each) not in kept)[:MOST],
    )


def known(lanes: tuple[PassagesJudged, ...]) -> Collection:
    """What the index knows of the terms of all lanes."""
    collections = [lane.collection for lane in lanes]
    return Collection(
        languages=max((each.languages for each in collections), key=len),
        rarity={term: rare for each in collections for term, rare in each.rarity.items()},
        variants={language: text for each in collections for language, text in each.variants.items()},
    )
