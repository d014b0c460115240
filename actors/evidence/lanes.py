"""What a round works on: its lanes, which of the found passages are read and as one ranking, a judge's findings, and contexts
supplied with the question.
"""

from groundwire.wire import Context
from msgspec.structs import replace

from actors.evidence.copied import as_written
from bus.powers.searching import SearchRequest
from bus.wire.messages import PassagesRetrieved, SubQueryPlanned
from bus.wire.parts import Analysis, Extract, Passage, Question, SubQuery
from bus.wire.subjects import is_id
from index.languages import UNDETERMINED
from index.search.fusion import reciprocal_rank
from index.source_paths import PATH, on_the_web
from prompts import contracts

#: So many found passages are always read, and of the others those with this part of the best score.
_FIRST, _NEAR = 5, 0.6
#: So many passages are read for a model's search words, in the question's language and in each other one.
_OWN, _OTHER = 5, 3


def usable_lanes(proposed: tuple[tuple[str, str, str], ...], prefix: str, most: int) -> tuple[SubQuery, ...]:
    """Sub-queries that have a statement, without repeats, renumbered where a model's id cannot be a lane."""
    lanes: list[SubQuery] = []
    for given, statement, focus in proposed:
        text = statement.strip()
        if not text or any(text == lane.statement for lane in lanes):
            continue
        name = given if given.startswith(f"{prefix}_") and is_id(given) else f"{prefix}_{len(lanes) + 1}"
        if any(name == lane.id for lane in lanes):
            name = f"{prefix}_{len(lanes) + 1}x"
        lanes.append(SubQuery(id=name, statement=text, focus=focus.strip()))
    return tuple(lanes[:most])


def is_foreign(question: Question, passage: Passage) -> bool:
    return passage.language not in (question.language, UNDETERMINED, "")


def near_the_best(question: Question, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """The first five, and of the others those with .6 of the best score; all of them if a reranker put them in order. Passages
    in another language than the question do not count among the five, since a search ranks them in another way.
    """
    if any(passage.rerank_score is not None for passage in passages):
        return passages
    own = [at for at, passage in enumerate(passages) if not is_foreign(question, passage)] or list(range(len(passages)))
    least = _NEAR * max((passages[at].score for at in own), default=0.0)
    last = own[:_FIRST][-1] if own else -1
    return tuple(passage for at, passage in enumerate(passages) if at <= last or passage.score >= least)


def by_words(message: SubQueryPlanned, request: SearchRequest) -> list[SearchRequest]:
    """The searches for a model's words: of one search its search words, in each language of the documents; of several the
    statement, behind which stand its words in the other languages, in these.
    """
    own, known = message.question.language, message.question.languages
    words = message.sub_query.statement if message.judged else message.sub_query.focus
    if not words or not known:
        return []
    languages = [each for each in dict.fromkeys((own, *known)) if each != own or not message.judged]
    return [
        replace(request, query=words, topic="", language=each, k=_OWN if each == own else _OTHER) for each in languages
    ]


def merge(lanes: tuple[tuple[Passage, ...], ...]) -> tuple[Passage, ...]:
    """Every passage once, by reciprocal rank over the lanes; ties go to earlier lanes."""
    first: dict[tuple[str, int, int], Passage] = {}
    rankings = [list(map(place_of, lane)) for lane in lanes]
    for ranking, lane in zip(rankings, lanes, strict=True):
        for key, passage in zip(ranking, lane, strict=True):
            first.setdefault(key, passage)
    return tuple(first[key] for key in reciprocal_rank(rankings))


def place_of(passage: Passage) -> tuple[str, int, int]:
    """What tells a passage from all others, whichever search found it."""
    return passage.source_id, passage.char_start, passage.char_end


def verbatim(message: PassagesRetrieved, reply: contracts.Relevance) -> Analysis:
    """The judge's analysis with the excerpts as their chunks have them; those that none has, or nearly, are counted."""
    texts: dict[str, list[str]] = {}
    for passage in message.passages:
        texts.setdefault(passage.source_id, []).append(passage.text)
    extracts = tuple(
        Extract(source_file=e.source_file, excerpt=excerpt, relevance=e.relevance)
        for e in reply.relevant_extracts
        if (excerpt := as_written(e.excerpt, texts.get(e.source_file, [])))
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
