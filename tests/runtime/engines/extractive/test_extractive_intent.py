"""Intent: greetings, noise, questions without a subject, and scope words, in five languages."""

import pytest

from prompts.contracts import ClassifyIntent, Turn
from runtime.engines.extractive.intent import classify_intent


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("hello!", "greeting"),
        ("Hi there, thanks a lot!", "greeting"),
        ("안녕하세요", "greeting"),
        ("정말 감사합니다!", "greeting"),
        ("你好", "greeting"),
        ("谢谢！", "greeting"),
        ("Bonjour à tous", "greeting"),
        ("السلام عليكم", "greeting"),
        ("شكرا جزيلا", "greeting"),
        ("hello, what is the refund period?", "in_scope"),
        ("안녕하세요, 환불 규정이 궁금해요", "in_scope"),
        ("你好，退款要几天？", "in_scope"),
        ("asdfgh", "unclear"),
        ("ㅋㅋㅋㅋ", "unclear"),
        ("???", "unclear"),
        ("12345", "unclear"),
        ("aaaaaa", "unclear"),
        ("and that?", "unclear"),
        ("et ça ?", "unclear"),
        ("那个呢？", "unclear"),
        ("환불", "in_scope"),
        ("BMI", "in_scope"),
        ("What are the opening hours?", "in_scope"),
    ],
)
def test_without_a_scope_every_question_is_admitted(text: str, intent: str) -> None:
    assert classify_intent(ClassifyIntent(user_query=text, language="en")).intent == intent


@pytest.mark.parametrize(
    ("language", "text"), [("ko", "그건?"), ("ar", "وهذا؟"), ("zh", "它呢？"), ("fr", "et cela ?")]
)
def test_back_reference_is_unclear_without_a_conversation(language: str, text: str) -> None:
    alone = classify_intent(ClassifyIntent(user_query=text, language=language))
    history = (Turn(role="user", content="2024"),)
    follows = classify_intent(ClassifyIntent(user_query=text, language=language, conversation_history=history))
    assert (alone.intent, follows.intent) == ("unclear", "in_scope")
    assert alone.suggested_response


@pytest.mark.parametrize(
    ("text", "intent", "category"),
    [
        ("Can I return my order?", "in_scope", "orders"),
        ("Do you repair bicycles?", "edge_case", "bicycle"),
        ("Which shares should I buy?", "out_of_scope", "shares"),
        ("Which shares are in my order?", "in_scope", "orders"),
        ("Is the start free?", "in_scope", ""),
        ("환불은 언제 되나요?", "in_scope", "환불"),
        ("복권 번호를 알려 주세요", "out_of_scope", "복권"),
    ],
)
def test_words_in_scope_win_over_words_outside(text: str, intent: str, category: str) -> None:
    reply = classify_intent(
        ClassifyIntent(
            user_query=text,
            language="en",
            in_scope=("orders", "환불"),
            edge_scope=("bicycle",),
            out_of_scope=("shares", "art", "복권"),
        )
    )
    assert (reply.intent, reply.category) == (intent, category)
    assert bool(reply.suggested_response) == (intent == "out_of_scope")
