"""A judge's findings for one sub-query, limited to excerpts from its passages."""

from bus.wire.messages import Analysis, Extract, PassagesRetrieved
from prompts import contracts


def verbatim(message: PassagesRetrieved, reply: contracts.Relevance) -> Analysis:
    """The judge's analysis with only the verbatim excerpts of their chunk; the others are counted."""
    texts: dict[str, list[str]] = {}
    for passage in message.passages:
        texts.setdefault(passage.source_id, []).append(passage.text)
    extracts = tuple(
        Extract(source_file=e.source_file, excerpt=e.excerpt, relevance=e.relevance)
        for e in reply.relevant_extracts
        if e.excerpt.strip() and any(e.excerpt in text for text in texts.get(e.source_file, ()))
    )
    return Analysis(
        sub_query_id=message.sub_query.id,
        sub_query_statement=message.sub_query.statement,
        relevant_extracts=extracts,
        sub_answer=reply.sub_answer,
        confidence=reply.confidence,
        missing_aspects=reply.missing_aspects,
        dropped=len(reply.relevant_extracts) - len(extracts),
    )


def blank(message: PassagesRetrieved, *, judged: bool) -> Analysis:
    """The analysis of a lane without passages, or with passages that were not judged."""
    return Analysis(
        sub_query_id=message.sub_query.id,
        sub_query_statement=message.sub_query.statement,
        relevant_extracts=(),
        sub_answer="",
        confidence="low",
        missing_aspects=(message.sub_query.focus or message.sub_query.statement,) if judged else (),
        judged=judged,
    )
