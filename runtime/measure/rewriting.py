"""How close rewritten follow-up questions come to those that people wrote."""

import re
from collections.abc import Sequence

import msgspec

from index.languages.detection import detect
from index.languages.scripts import HAN
from prompts.contracts import RewriteQuery, Turn
from runtime.engines.extractive.rewriting import loses, rewrite_query

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a rewriting set: a question, its history, and the stand-alone form that a person wrote."""

    id: str
    question: str
    rewrite: str
    history: tuple[Turn, ...] = ()
    language: str = ""


class Rewritten(msgspec.Struct, frozen=True, kw_only=True):
    """A rewritten question. `raw` and `recall`: the share of the human form's words in the question as asked and as rewritten."""

    id: str
    question: str
    rewritten: str
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
    changed_by_people: int
    lost_a_content_word: int


def rewrite(line: FollowUp) -> Rewritten:
    language = line.language or detect(line.question)
    reply = rewrite_query(
        RewriteQuery(current_query=line.question, conversation_history=line.history, language=language)
    )
    human, asked, made = words(line.rewrite), words(line.question), words(reply.rewritten_query)
    return Rewritten(
        id=line.id,
        question=line.question,
        rewritten=reply.rewritten_query,
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
        changed_by_people=sum(r.human != r.question for r in rewritten),
        lost_a_content_word=sum(r.lost_words for r in rewritten),
    )


def words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 1.0
