"""Every prompt is answered in its contract: the right type, inside every bound of its schema, the same on every machine."""

import os
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from index.languages import LANGUAGES
from prompts.contracts import (
    PROMPTS,
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
    Prompt,
    RewriteQuery,
    SelectEvidence,
    SubQuery,
    Turn,
    VerifyAnswer,
)
from prompts.library import Library
from prompts.vocabulary import Language
from runtime.engines.extractive.engine import RULES, ExtractiveEngine, reply_to
from runtime.engines.extractive.judging import judge_relevance
from runtime.engines.limits import misfit
from tests.runtime.engines.extractive.cases import ANSWERED, PASSAGES, chunks, evidence
from tests.runtime.engines.sample import collect, request


def variables(language: Language, *, times: int = 1) -> list[Prompt[Any]]:
    """One of each prompt; `times` makes every text that many times as long."""
    question = " ".join([next(q for code, q, _ in ANSWERED if code == language)] * times)
    history = (Turn(role="user", content=question), Turn(role="assistant", content=PASSAGES[language][1]))
    given = evidence(*(" ".join([text] * times) for text in PASSAGES[language]))
    sub = SubQuery(id="sq_1", statement=question, focus=question[:60])
    judge = JudgeRelevance(
        sub_query_id="sq_1",
        sub_query_statement=question,
        sub_query_focus=sub.focus,
        retrieved_chunks=chunks(language),
        language=language,
    )
    missing = SubQuery(id="sq_2", statement=f"{question} xylophone", focus="xylophone")
    return [
        ClassifyIntent(user_query=question, language=language, conversation_history=history, out_of_scope=("x" * 300,)),
        RewriteQuery(current_query=question, conversation_history=history, language=language),
        ClassifyQuery(original_query=question, language=language),
        DecomposeQuery(original_query=question, language=language),
        judge,
        JudgeSufficiency(
            original_query=question,
            sub_queries=(sub, missing),
            sub_query_analyses=(judge_relevance(judge),),
            language=language,
        ),
        SelectEvidence(original_query=question, retrieved_chunks=chunks(language), language=language),
        AnswerSimple(original_query=question, retrieved_chunks=given, language=language),
        AnswerReport(original_query=question, sub_query_analyses=(), evidence=given, language=language),
        AnswerSynthesis(query=question, evidence=given, language=language),
        AnswerStructured(question=question, contexts=given, language=language),
        AnswerHint(question=question, contexts=given, language=language),
        VerifyAnswer(answer=f"{PASSAGES[language][0]} 77777 [1]. 88888 [9].", evidence=given, language=language),
        GuardLanguage(text=PASSAGES[language][0], target_language="en"),
    ]


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def test_every_prompt_has_a_rule() -> None:
    assert RULES.keys() == {prompt.name for prompt in PROMPTS}


@pytest.mark.parametrize("times", [1, 12])
@pytest.mark.parametrize("language", LANGUAGES)
def test_replies_match_their_types_and_bounds(language: Language, times: int, library: Library) -> None:
    for given in variables(language, times=times):
        reply = reply_to(given)
        assert isinstance(reply, given.reply_type())
        schema = library.file(given.name).schema
        if schema is not None:
            raw = msgspec.json.decode(msgspec.json.encode(reply))
            assert misfit(raw, schema) == ""
            assert msgspec.convert(raw, given.reply_type()) == reply


@pytest.mark.parametrize("language", LANGUAGES)
async def test_deltas_join_to_the_text(language: Language) -> None:
    for given in variables(language):
        deltas, last = await collect(ExtractiveEngine(), request(given))
        assert "".join(deltas) == last.text
        if given.reply_type() is not str:
            assert msgspec.json.decode(last.text, type=given.reply_type()) == reply_to(given)


@pytest.mark.parametrize("cut", [1, 7, 10_000])
async def test_shown_text_is_not_repeated(cut: int) -> None:
    given = next(v for v in variables("en") if isinstance(v, AnswerSimple))
    whole = str(reply_to(given))
    deltas, last = await collect(ExtractiveEngine(), request(given, already_shown=whole[:cut]))
    assert "".join(deltas) == whole[cut:]
    assert last.text == whole


def everything() -> bytes:
    replies = [reply_to(given) for language in LANGUAGES for given in variables(language)]
    return msgspec.json.encode(replies)


def test_replies_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import sys; from tests.runtime.engines.extractive.test_extractive_contracts import everything; "
        "sys.stdout.buffer.write(everything())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop()
