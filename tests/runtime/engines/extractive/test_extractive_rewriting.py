"""Follow-up questions: what they depend on is searched for as well, and the question itself changes only where that is certain."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.languages import pattern, spoken
from index.languages.characters import fold
from index.languages.words import stem, terms
from prompts.contracts import RewriteQuery, RewrittenQuery, Turn
from runtime.engines.extractive.rewriting import rewrite_query


def loses(question: str, rewritten: str, language: str) -> bool:
    """Whether the rewrite lacks a content word of the question, pronouns aside."""
    kept = rewritten.casefold()
    plain = pattern(spoken(language).followups.pointing.pronouns).sub(" ", question)
    words = re.findall(r"[^\W_]+", plain.casefold())
    return any(word not in kept and stem(fold(word)) not in kept for word in words if terms(word))


def reply(language: str, before: list[str], question: str) -> RewrittenQuery:
    """`before`: the turns, a question and an answer alternately."""
    history = tuple(Turn(role="assistant" if place % 2 else "user", content=text) for place, text in enumerate(before))
    found = rewrite_query(RewriteQuery(current_query=question, conversation_history=history, language=language))
    assert found.needs_rewrite == (found.rewritten_query != question)
    assert bool(found.rewrite_reason) == found.needs_rewrite
    assert not loses(question, found.rewritten_query, language)
    return found


@pytest.mark.parametrize(
    ("language", "before", "question", "expected"),
    [
        ("en", "What is the Norwick ferry?", "Who built it?", "Who built the Norwick ferry?"),
        ("en", "Tell me about the Norwick ferry.", "What are its costs?", "What are the Norwick ferry's costs?"),
        ("en", "Who was Ada Norwick?", "Where did she live?", "Where did Ada Norwick live?"),
        ("ko", "장영실에 대해 알려주세요", "그는 무엇을 만들었나요?", "장영실은 무엇을 만들었나요?"),
        ("ko", "근시란 무엇인가요?", "그것을 고칠 수 있나요?", "근시를 고칠 수 있나요?"),
        ("ko", "안전모에 대해 알려주세요", "그것은 의무인가요?", "안전모는 의무인가요?"),
        ("zh", "什么是近视？", "它可以治疗吗？", "近视可以治疗吗？"),
        ("zh", "介绍一下故宫", "其建筑面积是多少？", "故宫的建筑面积是多少？"),
        ("fr", "C'est quoi la médiation ?", "et ça coûte combien ?", "et la médiation coûte combien ?"),
        ("es", "¿Qué es la beca Erasmus?", "¿y eso se paga cada mes?", "¿y la beca Erasmus se paga cada mes?"),
    ],
)
def test_unambiguous_pronoun_is_replaced_by_a_name(language: str, before: str, question: str, expected: str) -> None:
    assert reply(language, [before], question).rewritten_query == expected


@pytest.mark.parametrize(
    ("language", "before", "question"),
    [
        ("en", "What is wrong?", "Is it serious?"),
        ("en", "What is the price of a ticket to Norwick?", "Is it refunded?"),
        ("en", "What are the symptoms?", "Can it go away?"),
        ("en", "What is the Norwick ferry?", "Does the captain know it and its crew?"),
        ("en", "What is the Norwick ferry?", "Does the old captain like it?"),
        ("ko", "프랑스의 수도는 무엇인가요?", "그것은 어디에 있나요?"),
        ("zh", "症状是什么？", "它在哪里？"),
        ("ar", "ما هو قصر النظر؟", "كيف يتم علاجه؟"),
    ],
)
def test_uncertain_rewrite_keeps_the_question(language: str, before: str, question: str) -> None:
    assert reply(language, [before], question).rewritten_query == question


@pytest.mark.parametrize(
    ("language", "before", "question", "topic"),
    [
        ("en", ["What is hay fever?"], "Is it contagious?", "hay fever"),
        ("en", ["What does an implant cost?"], "Which one is cheaper?", "implant cost"),
        ("en", ["How do I return laptops?"], "What about tablets?", "return laptops"),
        ("en", ["What is hay fever?", "An allergy.", "Is it rare?", "No."], "And how is it treated?", "rare hay fever"),
        ("en", ["What does reverse_proxy do?"], "And by default?", "reverse_proxy"),
        (
            "en",
            ["What is hay fever?", "An allergy.", "What are the signs?", "Tears."],
            "Can it go away?",
            "signs hay fever",
        ),
        ("en", ["What is hay fever?"], "What are the risks?", "hay fever"),
        ("ko", ["근시란 무엇인가요?"], "증상은 뭐예요?", "근시"),
        ("zh", ["什么是近视？"], "症状是什么？", "近视"),
        # A word that an answer repeats is its subject.
        ("en", ["Who runs it?", "The Norwick ferry: Norwick Lines [1]."], "And who built it?", "runs Norwick"),
        ("fr", ["Parlez-moi du logement étudiant."], "Et la caution ?", "logement étudiant"),
        ("es", ["¿Qué es la miopía?"], "¿Y cómo se trata?", "miopía"),
        ("ko", ["근시의 증상은 무엇인가요?"], "치료는요?", "근시 증상"),
        ("zh", ["什么是低浓度阿托品？"], "那副作用呢？", "低浓度阿托品"),
        ("ar", ["ما هي أعراض قصر النظر؟"], "وكيف يتم علاجه؟", "أعراض قصر النظر"),
        # It does not refer back, but is too short to be complete.
        ("en", ["How do I return laptops?"], "How long does a refund take?", "return laptops"),
    ],
)
def test_topic_has_the_words_a_question_depends_on(language: str, before: list[str], question: str, topic: str) -> None:
    assert reply(language, before, question).topic == topic


@pytest.mark.parametrize(
    ("language", "before", "question"),
    [
        ("en", ["What is hay fever?"], "What is gout?"),
        ("en", ["What is hay fever?"], "Who runs the Norwick ferry?"),
        (
            "en",
            ["What is hay fever?"],
            "Which documents must a foreign student bring when applying for a library card in winter?",
        ),
        ("en", [], "Is it contagious?"),
        ("ko", ["근시란 무엇인가요?"], "KeepAlive 설정 방법"),
        ("zh", ["什么是近视？"], "什么是散光？"),
        ("fr", ["C'est quoi la médiation ?"], "Qu'est-ce que le prêt sur gage ?"),
        ("es", ["¿Qué es la miopía?"], "¿Qué es el astigmatismo?"),
        ("ar", ["ما هو قصر النظر؟"], "من هو ابن الهيثم؟"),
    ],
)
def test_complete_question_has_no_topic(language: str, before: list[str], question: str) -> None:
    found = reply(language, before, question)
    assert (found.rewritten_query, found.topic) == (question, "")


@given(
    st.sampled_from(["ko", "en", "zh", "fr", "ar", "es"]),
    st.lists(st.text(max_size=40), max_size=3),
    st.text(max_size=60),
)
def test_no_rewrite_loses_a_content_word(language: str, before: list[str], question: str) -> None:
    reply(language, before, question)
