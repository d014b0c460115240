"""How close rewritten follow-up questions come to those that people wrote, in their words and in what they find."""

import re
from collections.abc import Sequence

import msgspec

from index.languages.detection import detect
from index.languages.scripts import HAN
from index.search.searcher import Searcher
from prompts.contracts import RewriteQuery, Turn
from runtime.engines.extractive.rewriting import loses, rewrite_query
from runtime.measure import rankings

FORMS = ("as asked", "rewritten", "by people")
R_K, MRR_K = 5, 10

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a rewriting set: a question, its history, and the stand-alone form that a person wrote."""

    id: str
    question: str
    rewrite: str
    history: tuple[Turn, ...] = ()
    language: str = ""
    source_ids: tuple[str, ...] = ()  # which of them answer it; where retrieval is measured


class Rewritten(msgspec.Struct, frozen=True, kw_only=True):
    """A rewritten question, and the words of the conversation that are searched for with it.

    `raw` and `recall`: the share of the human form's words in the question as asked, and as rewritten with its topic.
    """

    id: str
    language: str
    question: str
    rewritten: str
    topic: str
    human: str
    raw: float
    recall: float
    precision: float
    lost_words: bool


class RewritingFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the questions with a history. `closed`: the share of the gap from raw to human that was closed, 0 to 1."""

    questions: int
    raw_recall: float
    rewritten_recall: float
    closed: float
    precision: float
    changed: int
    with_a_topic: int
    changed_by_people: int
    lost_a_content_word: int


def rewrite(line: FollowUp) -> Rewritten:
    language = line.language or detect(line.question)
    reply = rewrite_query(
        RewriteQuery(current_query=line.question, conversation_history=line.history, language=language)
    )
    human, asked = words(line.rewrite), words(line.question)
    made = words(f"{reply.rewritten_query} {reply.topic}")
    return Rewritten(
        id=line.id,
        language=language,
        question=line.question,
        rewritten=reply.rewritten_query,
        topic=reply.topic,
        human=line.rewrite,
        raw=_share(asked & human, human),
        recall=_share(made & human, human),
        precision=_share(made & human, made),
        lost_words=loses(line.question, reply.rewritten_query, language),
    )


def figures(rewritten: Sequence[Rewritten]) -> RewritingFigures:
    """The figures of `rewritten`, which must not be empty."""
    count = len(rewritten)
    raw, recall = sum(r.raw for r in rewritten) / count, sum(r.recall for r in rewritten) / count
    return RewritingFigures(
        questions=count,
        raw_recall=raw,
        rewritten_recall=recall,
        closed=(recall - raw) / (1 - raw) if raw < 1 else 1.0,
        precision=sum(r.precision for r in rewritten) / count,
        changed=sum(r.rewritten != r.question for r in rewritten),
        with_a_topic=sum(bool(r.topic) for r in rewritten),
        changed_by_people=sum(r.human != r.question for r in rewritten),
        lost_a_content_word=sum(r.lost_words for r in rewritten),
    )


def retrieval(
    searcher: Searcher, rewritten: Sequence[Rewritten], relevant: dict[str, tuple[str, ...]]
) -> dict[str, dict[str, dict[str, float]]]:
    """R@5 and MRR@10 of the question as asked, as rewritten, and as a person wrote it, for each language and for `all`.

    `relevant`: the source ids by question id; questions that are not in it do not count.
    """
    judged = [one for one in rewritten if relevant.get(one.id)]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for form in FORMS:
        asked = [_as(form, one, relevant[one.id]) for one in judged]
        ranked = rankings.run(searcher, asked, "fusion", MRR_K)
        for language in ("all", *sorted({one.language for one in judged})):
            these = [one for one in asked if language in ("all", one.language)]
            measures = (
                rankings.report({form: ranked}, these, R_K)[form],
                rankings.report({form: ranked}, these, MRR_K)[form],
            )
            found.setdefault(language, {})[form] = {
                f"R@{R_K}": round(measures[0][f"R@{R_K}"].mean, 5),
                f"MRR@{MRR_K}": round(measures[1][f"MRR@{MRR_K}"].mean, 5),
            }
    return found


def _as(form: str, one: Rewritten, source_ids: tuple[str, ...]) -> rankings.Question:
    text = {"as asked": one.question, "rewritten": one.rewritten, "by people": one.human}[form]
    return rankings.Question(
        id=one.id,
        question=text,
        source_ids=source_ids,
        language=one.language,
        topic=one.topic if form == "rewritten" else "",
    )


def words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 1.0
