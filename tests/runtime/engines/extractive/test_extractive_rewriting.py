"""Follow-up questions: the subject is carried over, no content word is lost, and what stands alone stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.contracts import RewriteQuery, Turn
from runtime.engines.extractive.rewriting import loses, rewrite_query
from runtime.engines.extractive.topics import main_phrase


def rewritten(language: str, before: list[str], question: str) -> str:
    history = tuple(Turn(role="user", content=text) for text in before)
    reply = rewrite_query(RewriteQuery(current_query=question, conversation_history=history, language=language))
    assert reply.needs_rewrite == (reply.rewritten_query != question)
    assert bool(reply.rewrite_reason) == reply.needs_rewrite
    assert not loses(question, reply.rewritten_query, language)
    return reply.rewritten_query


@pytest.mark.parametrize(
    ("language", "before", "question", "expected"),
    [
        ("en", ["What is hay fever?"], "Is it contagious?", "Is hay fever contagious?"),
        ("en", ["Tell me about the Norwick ferry."], "Who built it?", "Who built the Norwick ferry?"),
        ("en", ["Tell me about the Norwick ferry."], "What are its costs?", "What are the Norwick ferry's costs?"),
        ("en", ["Tell me about hard hats."], "When must they be worn?", "When must hard hats be worn?"),
        (
            "en",
            ["What is the refund period for laptops?"],
            "What about tablets?",
            "What is the refund period for tablets?",
        ),
        ("en", ["What does an implant cost?"], "Which one is cheaper?", "Which implant is cheaper?"),
        ("en", ["What was the Varnholt Experiment?"], "Who ran the experiment?", "Who ran the Varnholt Experiment?"),
        ("en", ["Tell me about the Norwick ferry."], "What are the fares?", "What are the fares of the Norwick ferry?"),
        ("en", ["Which museums in San Olvido are free?"], "Are hotels there cheap?", "Are hotels in San Olvido cheap?"),
        ("en", ["Which museums in San Olvido are free?"], "Is there a fee?", "Is there a fee in the case of museums?"),
        (
            "fr",
            ["Quels sont les loyers à Varnes ?"],
            "Combien coûte la vie là-bas ?",
            "Combien coûte la vie à Varnes ?",
        ),
        ("ko", ["도쿄에서 가장 좋은 식당은 어디인가요?"], "거기 생활비는 얼마인가요?", "도쿄 생활비는 얼마인가요?"),
        ("ar", ["ما أفضل المطاعم في طوكيو؟"], "ما تكلفة المعيشة هناك؟", "ما تكلفة المعيشة في طوكيو؟"),
        ("ko", ["안전모 착용 기준을 알려주세요"], "그것은 의무인가요?", "안전모 착용은 의무인가요?"),
        ("ko", ["장영실은 누구인가요?"], "그는 무엇을 만들었나요?", "장영실은 무엇을 만들었나요?"),
        ("ko", ["근시의 증상은 무엇인가요?"], "치료는 어떻게 하나요?", "근시에 대해, 치료는 어떻게 하나요?"),
        (
            "ko",
            ["국내 주문의 환불 기간은 얼마인가요?"],
            "해외 주문은요?",
            "해외 주문의 환불 기간은 얼마인가요?",
        ),
        ("zh", ["近视的症状是什么？"], "它可以治疗吗？", "近视可以治疗吗？"),
        ("zh", ["介绍一下故宫"], "其建筑面积是多少？", "故宫的建筑面积是多少？"),
        ("zh", ["什么是低浓度阿托品？"], "有哪些副作用？", "关于低浓度阿托品，有哪些副作用？"),
        ("es", ["¿Qué es la miopía?"], "¿Cómo se trata?", "¿Cómo se trata, sobre la miopía?"),
        ("es", ["¿Qué museos hay en Toledo?"], "¿Son baratos los hoteles allí?", "¿Son baratos los hoteles en Toledo?"),
        (
            "es",
            ["¿Cuál es el plazo para la beca?"],
            "¿Y para la residencia?",
            "¿Cuál es el plazo para la residencia?",
        ),
        (
            "fr",
            ["Parle-moi de la bibliothèque universitaire."],
            "Quels sont les horaires ?",
            "Quels sont les horaires, concernant la bibliothèque universitaire ?",
        ),
        (
            "fr",
            ["Quel est le délai pour la bourse ?"],
            "Et pour le logement ?",
            "Quel est le délai pour le logement ?",
        ),
        ("ar", ["ما هي أعراض قصر النظر؟"], "كيف يتم علاجه؟", "كيف يتم علاجه بخصوص قصر النظر؟"),
        (
            "ar",
            ["ما هو الحد الأقصى لعدد الكتب؟"],
            "وماذا عن الطلاب الجدد؟",
            "وماذا عن الطلاب الجدد بخصوص الحد الأقصى لعدد الكتب؟",
        ),
    ],
)
def test_the_subject_is_carried_over(language: str, before: list[str], question: str, expected: str) -> None:
    assert rewritten(language, before, question) == expected


@pytest.mark.parametrize(
    ("language", "before", "question"),
    [
        ("en", ["What is hay fever?"], "How is hay fever treated?"),
        ("en", ["What is hay fever?"], "What is gout?"),
        ("en", ["What is hay fever?"], "Tell me about the Norwick ferry."),
        ("en", ["Thanks!"], "Is it contagious?"),
        ("ko", ["근시란 무엇인가요?"], "근시의 치료는 어떻게 하나요?"),
        ("zh", ["什么是近视？"], "近视可以治疗吗？"),
    ],
)
def test_a_question_that_stands_alone_stays(language: str, before: list[str], question: str) -> None:
    assert rewritten(language, before, question) == question


def test_the_topic_moves_with_the_conversation() -> None:
    before = ["Tell me about the Norwick ferry.", "How old is it?", "Tell me about Quay Street.", "How long is it?"]
    assert rewritten("en", before, "Who paved it?") == "Who paved Quay Street?"


def test_what_the_assistant_said_is_no_topic() -> None:
    history = (
        Turn(role="user", content="What is hay fever?"),
        Turn(role="assistant", content="The Norwick ferry carries forty cars [1]."),
    )
    reply = rewrite_query(RewriteQuery(current_query="Is it rare?", conversation_history=history, language="en"))
    assert reply.rewritten_query == "Is hay fever rare?"


@pytest.mark.parametrize(
    ("language", "text", "phrase"),
    [
        ("en", "What are the symptoms of hay fever?", "hay fever"),
        ("en", "How do you know that the garage door is broken?", "the garage door"),
        ("ko", "국내 주문의 환불 기간은 얼마인가요?", "국내 주문"),
        ("zh", "近视的症状是什么？", "近视"),
        ("fr", "Quels sont les frais de la cantine ?", "la cantine"),
        ("ar", "ما هي أسباب قصر النظر؟", "قصر النظر"),
        ("en", "Why?", ""),
    ],
)
def test_what_a_question_is_about(language: str, text: str, phrase: str) -> None:
    assert main_phrase(text, language) == phrase


@given(
    st.sampled_from(["ko", "en", "zh", "fr", "ar"]), st.lists(st.text(max_size=40), max_size=3), st.text(max_size=60)
)
def test_no_rewrite_loses_a_content_word(language: str, before: list[str], question: str) -> None:
    rewritten(language, before, question)
