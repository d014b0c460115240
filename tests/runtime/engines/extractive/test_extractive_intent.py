"""Intent: greetings, noise, questions without a subject, and scope words, in five languages."""

import pytest

from index.languages.detection import detect
from prompts.contracts import ClassifyIntent, Turn
from runtime.engines.extractive.queries import classify_intent


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("hello!", "greeting"),
        ("안녕하세요", "greeting"),
        ("정말 감사합니다!", "greeting"),
        ("你好", "greeting"),
        ("Bonjour à tous", "greeting"),
        ("السلام عليكم", "greeting"),
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
        ("嗯", "unclear"),
        ("음...", "unclear"),
        ("euh", "unclear"),
        ("嗯，退款要几天？", "in_scope"),
        ("환불", "in_scope"),
        ("BMI", "in_scope"),
        ("What are the opening hours?", "in_scope"),
    ],
)
def test_without_a_scope_every_question_is_admitted(text: str, intent: str) -> None:
    assert classify_intent(ClassifyIntent(user_query=text, language="en")).intent == intent


@pytest.mark.parametrize(
    ("text", "intent", "category"),
    [
        ("Thanks!", "greeting", "thanks"),
        ("감사합니다!", "greeting", "thanks"),
        ("谢谢！", "greeting", "thanks"),
        ("Muchas gracias", "greeting", "thanks"),
        ("Merci beaucoup !", "greeting", "thanks"),
        ("شكرا جزيلا", "greeting", "thanks"),
        ("Hi there, thanks a lot!", "greeting", "greeting"),
        ("What can you do?", "greeting", "abilities"),
        ("뭘 할 수 있어요?", "greeting", "abilities"),
        ("你能做什么？", "greeting", "abilities"),
        ("¿Qué puedes hacer?", "greeting", "abilities"),
        ("Que pouvez-vous faire ?", "greeting", "abilities"),
        ("ماذا يمكنك أن تفعل؟", "greeting", "abilities"),
        ("What documents are there?", "greeting", "abilities"),
        ("어떤 문서들이 있어?", "greeting", "abilities"),
        ("有哪些文档？", "greeting", "abilities"),
        ("¿Qué documentos hay?", "greeting", "abilities"),
        ("Quels documents as-tu ?", "greeting", "abilities"),
        ("ما هي الوثائق الموجودة؟", "greeting", "abilities"),
        ("What can you do about a burn?", "in_scope", ""),
        ("Translate that to French", "greeting", "needs_model"),
        ("Traduis ça en anglais", "greeting", "needs_model"),
        ("Summarise the lab manual", "in_scope", "needs_model"),
        ("실험실 안내서를 요약해 주세요", "in_scope", "needs_model"),
        ("请总结实验室手册", "in_scope", "needs_model"),
        ("Resume el manual del laboratorio", "in_scope", "needs_model"),
        ("Résume le manuel du laboratoire", "in_scope", "needs_model"),
        ("لخص دليل المختبر", "in_scope", "needs_model"),
        ("What does a translation cost?", "in_scope", ""),
        ("翻译费是多少？", "in_scope", ""),
        ("요약 시험은 언제인가요?", "in_scope", ""),
    ],
)
def test_small_talk_and_tasks_are_recognised(text: str, intent: str, category: str) -> None:
    found = classify_intent(ClassifyIntent(user_query=text, language=detect(text)))
    assert (found.intent, found.category) == (intent, category)


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
