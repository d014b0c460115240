"""Turn question sets into the examples that weights are fitted on: each question with what the search finds for it."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from actors.choosing.asked import read_question
from actors.evidence.lanes import near_the_best
from actors.question.profile import profile_of
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from index.languages.detection import detect
from index.search.searcher import Searcher
from prompts.contracts import RewriteQuery, Turn
from runtime.engines.extractive.rewriting import rewrite_query
from runtime.measure.questions import GoldQuestion
from runtime.processes.served import collection_of, passage_of
from tests.bench.fitting.choosing import Example, passage_holds_gold

SEED = 0


class SetLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a question set: GoldQuestion's fields, or `answers` in place of `gold`."""

    id: str
    question: str
    language: str = ""
    kind: str = ""
    collection: str = ""
    history: tuple[msgspec.Raw, ...] = ()
    answerable: bool = True
    gold: tuple[str, ...] = ()
    gold_also: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


def gold_of(line: SetLine, name: str) -> GoldQuestion:
    """`name`: the collection of a set that names none."""
    fields = msgspec.structs.asdict(line)
    answers = fields.pop("answers")
    fields |= {"gold": line.gold or answers, "collection": line.collection or name}
    fields["history"] = [msgspec.json.decode(turn) for turn in line.history]
    return msgspec.convert(fields, GoldQuestion)


def sampled(questions: Sequence[GoldQuestion], most: int | None) -> list[GoldQuestion]:
    """At most `most` of each collection, drawn with a fixed seed."""
    by_collection: dict[str, list[GoldQuestion]] = {}
    for asked in questions:
        by_collection.setdefault(asked.collection, []).append(asked)
    draw = random.Random(SEED)
    return [
        asked
        for found in by_collection.values()
        for asked in (found if most is None or len(found) <= most else draw.sample(found, most))
    ]


def searched(questions: Sequence[GoldQuestion], places: dict[str, Path]) -> Iterator[tuple[Searcher, GoldQuestion]]:
    """The questions whose collection has an index, with its searcher. Raises IndexProblem."""
    for folder in dict.fromkeys(places.values()):
        searcher = Searcher.open(folder)
        try:
            yield from ((searcher, asked) for asked in questions if places.get(asked.collection) == folder)
        finally:
            searcher.close()


def examples(questions: Sequence[GoldQuestion], places: dict[str, Path], weight: float = 1.0) -> Iterator[Example]:
    """The examples of the questions whose collection has an index. Raises IndexProblem."""
    return (example(searcher, asked, weight) for searcher, asked in searched(questions, places))


def example(searcher: Searcher, gold: GoldQuestion, weight: float) -> Example:
    """A question with its passages as the actors would get them without a model."""
    question = resolved(QuestionAsked(question=gold.question))
    text, topic = alone(gold, question.language)
    question = msgspec.structs.replace(question, text=text, topic=topic)
    wanted = profile_of(question.profile).retrieval
    words = f"{question.text} {question.topic}".strip()
    hits = searcher.search(
        question.text,
        topic=question.topic,
        language=question.language,
        k=wanted.k,
        bm25_k=wanted.bm25_k,
        vector_k=wanted.vector_k,
    )
    passages = near_the_best(question, tuple(map(passage_of, hits)))
    hidden = tuple(p for p in passages if not passage_holds_gold(gold, p)) if gold.answerable else ()
    return Example(
        question=gold,
        collection=gold.collection,
        asked=read_question(question, collection_of(searcher, words, question.language)),
        passages=passages,
        hidden=hidden if len(hidden) < len(passages) else (),
        weight=weight,
    )


def alone(gold: GoldQuestion, language: str = "") -> tuple[str, str]:
    """The question as it is searched for, complete without its history, and its topic."""
    if not gold.history:
        return gold.question, ""
    history = tuple(
        said
        for turn in gold.history
        for said in (Turn(role="user", content=turn.q), Turn(role="assistant", content=turn.a))
    )
    asked_in = language or detect(gold.question)
    reply = rewrite_query(RewriteQuery(current_query=gold.question, conversation_history=history, language=asked_in))
    return reply.rewritten_query, reply.topic
