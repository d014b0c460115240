"""Contexts supplied with the question, used in place of search results."""

from bus.messages import Context, Passage


def given(contexts: tuple[Context, ...]) -> tuple[Passage, ...]:
    """The caller's contexts as passages, best score first; offsets count from the start of each context."""
    ranked = sorted(contexts, key=lambda context: -context.score)
    return tuple(
        Passage(
            source_id=context.metadata.source_id,
            title=context.metadata.title,
            url=context.metadata.url,
            score=context.score,
            score_type=context.score_type,
            text=context.content,
            char_start=0,
            char_end=len(context.content),
            language=context.metadata.language,
            snapshot="",
            page=context.metadata.page,
        )
        for context in ranked
    )
