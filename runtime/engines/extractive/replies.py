"""The table from each prompt's variables to the rule that answers them."""

from collections.abc import Callable
from typing import Any

from prompts.contracts import (
    AnswerHint,
    AnswerReport,
    AnswerSimple,
    AnswerStructured,
    AnswerSynthesis,
    ClassifyIntent,
    ClassifyQuery,
    DecomposeQuery,
    GuardLanguage,
    JudgeRelevance,
    JudgeSufficiency,
    Part,
    Prompt,
    RewriteQuery,
    SelectEvidence,
    VerifyAnswer,
)
from runtime.engines.extractive.answers import answer_simple, answer_structured, answer_synthesis
from runtime.engines.extractive.checking import guard_language, verify_answer
from runtime.engines.extractive.evidence import select_evidence
from runtime.engines.extractive.hints import answer_hint
from runtime.engines.extractive.intent import classify_intent
from runtime.engines.extractive.judging import judge_relevance, judge_sufficiency
from runtime.engines.extractive.queries import classify_query, decompose_query
from runtime.engines.extractive.report import answer_report
from runtime.engines.extractive.rewriting import rewrite_query

# Each value takes the key's type, which Python's types cannot express for a table.
REPLIES: dict[type[Prompt[Any]], Callable[..., Part | str]] = {
    ClassifyIntent: classify_intent,
    RewriteQuery: rewrite_query,
    ClassifyQuery: classify_query,
    DecomposeQuery: decompose_query,
    JudgeRelevance: judge_relevance,
    JudgeSufficiency: judge_sufficiency,
    SelectEvidence: select_evidence,
    AnswerSimple: answer_simple,
    AnswerReport: answer_report,
    AnswerSynthesis: answer_synthesis,
    AnswerStructured: answer_structured,
    AnswerHint: answer_hint,
    VerifyAnswer: verify_answer,
    GuardLanguage: guard_language,
}


def reply_to(variables: Prompt[Any]) -> Part | str:
    """The reply, of the prompt's `reply` type. Raises KeyError for a prompt that is not in `prompts.contracts`."""
    return REPLIES[type(variables)](variables)
