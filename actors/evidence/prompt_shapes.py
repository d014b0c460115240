"""Convert bus structs into prompt structs: same fields, but separate types, since neither layer knows the other."""

from bus.messages import Analysis, Passage, Span
from prompts import contracts


def chunk_of(passage: Passage) -> contracts.Chunk:
    return contracts.Chunk(source_file=passage.source_id, score=passage.score, content=passage.text)


def analysis_to_prompt(analysis: Analysis) -> contracts.Relevance:
    return contracts.Relevance(
        sub_query_id=analysis.sub_query_id,
        sub_query_statement=analysis.sub_query_statement,
        relevant_extracts=tuple(
            contracts.Extract(source_file=e.source_file, excerpt=e.excerpt, relevance=e.relevance)
            for e in analysis.relevant_extracts
        ),
        sub_answer=analysis.sub_answer,
        confidence=analysis.confidence,
        missing_aspects=analysis.missing_aspects,
    )


def evidence_of(spans: tuple[Span, ...]) -> tuple[contracts.Evidence, ...]:
    """What an answering prompt sees: the span's text only, never the whole passage."""
    return tuple(
        contracts.Evidence(n=span.n, source_id=span.source_id, title=span.title, text=span.text) for span in spans
    )
