"""Keep the passages of a lane that are relevant to its sub-query, with the words that show it.

PassagesRetrieved -> PassagesJudged        prompt: judge_relevance, once per lane

When the judge cannot answer, the passages go on unjudged: a doubtful passage costs less than a lost one. Those of the sources
that it named go on if it copied nothing letter by letter.
"""

from actors.evidence.lanes import blank, verbatim
from actors.evidence.prompt_evidence import chunks_of
from actors.outcome.closest import MOST
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import PassagesJudged, PassagesRetrieved, same_fields
from bus.wire.parts import Analysis, Extract, Passage
from prompts import contracts


def unjudged(message: PassagesRetrieved, failure: Failure) -> PassagesJudged:
    return judged(message, message.passages, blank(message, judged=False))


@actor(prompts=("judge_relevance",), fallback=unjudged)
async def judge_relevance(message: PassagesRetrieved, ask: Ask) -> PassagesJudged:
    if not message.passages:
        return judged(message, (), blank(message, judged=True))
    reply = await ask(
        contracts.JudgeRelevance(
            sub_query_id=message.sub_query.id,
            sub_query_statement=message.sub_query.statement,
            sub_query_focus=message.sub_query.focus,
            retrieved_chunks=chunks_of(message.passages, to_model=message.question.has_model),
            language=message.question.language,
        )
    )
    analysis = verbatim(message, reply)
    named = {extract.source_file for extract in reply.relevant_extracts}
    passages = keep(message.passages, analysis.relevant_extracts)
    return judged(message, passages or tuple(p for p in message.passages if p.source_id in named), analysis)


def keep(passages: tuple[Passage, ...], extracts: tuple[Extract, ...]) -> tuple[Passage, ...]:
    """The passages that an excerpt was taken from, in retrieval order."""
    return tuple(p for p in passages if any(e.source_file == p.source_id and e.excerpt in p.text for e in extracts))


def judged(message: PassagesRetrieved, passages: tuple[Passage, ...], analysis: Analysis) -> PassagesJudged:
    near = tuple(p for p in message.passages if p not in passages)[:MOST]
    same = same_fields(message, PassagesJudged) | {"passages": passages}
    return PassagesJudged(**same, analysis=analysis, near=near)
