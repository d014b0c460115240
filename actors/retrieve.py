"""Find the passages of one sub-query: in the index, or among the contexts supplied with the question.

SubQueryPlanned -> PassagesRetrieved (to be judged) | PassagesReady (the simple path) | AnswerSettled        power: search

A filter that no document passes settles the question at once. An overview without a model searches once more; so does a question
whose best passage is from a file with a date or version in its name, for later files of that name; and so do a model's search
words, in each language of the documents. The search is retried until the deadline; an index that cannot be reached by then
ends the run with `timeout`.
"""

from groundwire.wire import Source

from actors.choosing.aliases import with_other_names
from actors.evidence.lanes import by_words, given, merge, near_the_best
from actors.evidence.standing import later, with_later
from actors.outcome.refusals import fail, refuse
from actors.question.profile import profile_of
from actors.question.resolved import remember_languages
from actors.selecting.overview import wider
from bus.delivery.actor import actor
from bus.powers.events import Sources
from bus.powers.protocols import Emit, Search
from bus.powers.searching import SearchRequest
from bus.wire.errors import Failure
from bus.wire.messages import AnswerSettled, PassagesReady, PassagesRetrieved, SubQueryPlanned, same_fields
from bus.wire.parts import Collection, Passage
from index.filters import narrowed, words_of
from index.masking import masked
from prompts import notices


def out_of_reach(message: SubQueryPlanned, failure: Failure) -> AnswerSettled:
    return fail(message.question, "timeout", str(failure))


@actor(fallback=out_of_reach)
async def retrieve(
    message: SubQueryPlanned, search: Search, emit: Emit
) -> PassagesRetrieved | PassagesReady | AnswerSettled:
    question = message.question
    if question.contexts is not None:
        passages, snapshot, collection = given(question.contexts), "", Collection()
    else:
        profile = profile_of(question.profile)
        wanted, only = profile.retrieval, narrowed(profile.filter, question.filter)
        request = SearchRequest(
            query=with_other_names(message.sub_query.statement, profile.synonyms),
            language=question.language,
            k=wanted.k,
            bm25_k=wanted.bm25_k,
            vector_k=wanted.vector_k,
            filter=only,
            rerank=wanted.rerank,
            topic=question.topic if message.judged else f"{question.topic} {message.sub_query.focus}".strip(),
            snapshot=message.snapshot or "",
        )
        hits = await search(request)
        remember_languages(hits.collection.languages)
        if only is not None and hits.none_passes:
            notice = notices.none_passes(question.language, words_of(only))
            return refuse(question, "no_results", text=notice, snapshot=hits.snapshot)
        passages, snapshot, collection = near_the_best(question, hits.passages), hits.snapshot, hits.collection
        if not message.judged and (rest := wider(question, passages, request)) is not None:
            passages = (await search(rest)).passages or passages
        passages = merge((passages, *[(await search(each)).passages for each in by_words(message, request)]))
        if (same_name := later(passages, request)) is not None:
            passages = with_later(passages, (await search(same_name)).passages)
    if question.events == "all":
        items = tuple(Source(source_id=p.source_id, title=p.title, url=p.url, score=p.score) for p in passages)
        await emit.aside(Sources(items=masked(items) if question.masked else items))
    return next_step(message, passages, snapshot, collection)


def next_step(
    message: SubQueryPlanned, passages: tuple[Passage, ...], snapshot: str, collection: Collection
) -> PassagesRetrieved | PassagesReady:
    if message.judged:
        same = same_fields(message, PassagesRetrieved) | {"snapshot": snapshot}
        return PassagesRetrieved(**same, passages=passages, collection=collection)
    return PassagesReady(question=message.question, passages=passages, snapshot=snapshot, collection=collection)
