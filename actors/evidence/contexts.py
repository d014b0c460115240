"""Contexts supplied with the question, used in place of search results."""

from bus.wire.messages import Context, Passage
from index.source_paths import PATH, on_the_web


def given(contexts: tuple[Context, ...]) -> tuple[Passage, ...]:
    """The caller's contexts as passages, best score first; offsets count from the start of each context."""
    ranked = sorted(contexts, key=lambda context: -context.score)
    return tuple(
        Passage(
            source_id=context.metadata.source_id,
            title=context.metadata.title,
            url=_opens(context.metadata.url),
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


def _opens(url: str) -> str:
    """The address of a context, which may be a hit that the caller was given before; empty for what no client should open."""
    return url if PATH.fullmatch(url) else on_the_web(url)
