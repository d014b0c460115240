"""What the extractive engine says in its own words, in five languages; everything else it says is a quotation."""

from typing import Final

from runtime.engines.extractive.asked import kind_of

LANGUAGES: Final = ("ko", "en", "zh", "fr", "ar")


def say[T](texts: dict[str, T], language: str) -> T:
    """The text in `language`, in English for a language outside the five."""
    return texts.get(language, texts["en"])


NOT_IN_EVIDENCE = {
    "ko": "제공된 자료에서 이 질문에 대한 답을 찾을 수 없습니다.",
    "en": "The documents do not contain an answer to this question.",
    "zh": "现有资料中没有这个问题的答案。",
    "fr": "Les documents ne contiennent pas de réponse à cette question.",
    "ar": "لا تحتوي المستندات على إجابة عن هذا السؤال.",
}
NO_SUCH_KIND = {
    "person": {
        "ko": "자료에 질문한 인물이나 이름이 나오지 않습니다.",
        "en": "The documents name no such person.",
        "zh": "资料中没有提到所问的人物。",
        "fr": "Les documents ne nomment pas la personne demandée.",
        "ar": "لا تذكر المستندات الشخص المطلوب.",
    },
    "time": {
        "ko": "자료에 질문한 날짜나 시기가 나오지 않습니다.",
        "en": "The documents give no such date or time.",
        "zh": "资料中没有提到所问的时间。",
        "fr": "Les documents ne donnent pas la date demandée.",
        "ar": "لا تذكر المستندات التاريخ أو الوقت المطلوب.",
    },
    "count": {
        "ko": "자료에 질문한 수량이 나오지 않습니다.",
        "en": "The documents give no such number or amount.",
        "zh": "资料中没有提到所问的数字。",
        "fr": "Les documents ne donnent pas le nombre ou le montant demandé.",
        "ar": "لا تذكر المستندات العدد أو المقدار المطلوب.",
    },
    "place": {
        "ko": "자료에 질문한 장소가 나오지 않습니다.",
        "en": "The documents name no such place.",
        "zh": "资料中没有提到所问的地点。",
        "fr": "Les documents n'indiquent pas le lieu demandé.",
        "ar": "لا تذكر المستندات المكان المطلوب.",
    },
    "reason": {
        "ko": "자료에 질문한 이유가 나오지 않습니다.",
        "en": "The documents do not state the reason.",
        "zh": "资料中没有说明原因。",
        "fr": "Les documents n'en donnent pas la raison.",
        "ar": "لا تذكر المستندات السبب.",
    },
}


def say_not_in_evidence(language: str) -> str:
    return say(NOT_IN_EVIDENCE, language)


def refusal(lacking: str, question: str, language: str) -> str:
    """Why the evidence does not answer: the missing kind of thing by name, or that nothing of it is said."""
    kind = kind_of(question)
    if lacking == "kind" and kind in NO_SUCH_KIND:
        return say(NO_SUCH_KIND[kind], language)
    return say(NO_RELATION if lacking == "relation" else NOT_IN_EVIDENCE, language)


NO_RELATION = {
    "ko": "자료가 이 주제를 다루지만, 질문한 내용은 나오지 않습니다.",
    "en": "The documents speak of the subject, but not of what is asked about it.",
    "zh": "资料提到了这个主题，但没有说明所问的内容。",
    "fr": "Les documents parlent du sujet, mais pas de ce qui est demandé.",
    "ar": "تتناول المستندات الموضوع، لكنها لا تذكر ما سئل عنه.",
}
GREETING_REPLY = {
    "ko": "안녕하세요. 문서에 대해 궁금한 점을 물어보세요.",
    "en": "Hello. Ask me anything about your documents.",
    "zh": "您好，请提出与文档有关的问题。",
    "fr": "Bonjour. Posez-moi une question sur vos documents.",
    "ar": "مرحبا. اسألني عما تريد معرفته من مستنداتك.",
}
UNCLEAR_REPLY = {
    "ko": "질문을 이해하지 못했습니다. 조금 더 자세히 적어 주세요.",
    "en": "I did not understand the question. Please say a little more.",
    "zh": "没有理解您的问题，请说得具体一些。",
    "fr": "Je n'ai pas compris la question. Pouvez-vous préciser ?",
    "ar": "لم أفهم السؤال. يرجى توضيحه قليلا.",
}
OUT_OF_SCOPE_REPLY = {
    "ko": "이 서비스가 다루지 않는 주제입니다.",
    "en": "This subject is outside what this service covers.",
    "zh": "这个问题不在本服务的范围内。",
    "fr": "Ce sujet ne relève pas de ce service.",
    "ar": "هذا الموضوع خارج نطاق هذه الخدمة.",
}
CONCLUSION = {"ko": "결론", "en": "The conclusion", "zh": "结论", "fr": "La conclusion", "ar": "الخلاصة"}
ARGUMENTS = {"ko": "근거", "en": "The arguments", "zh": "论据", "fr": "Les arguments", "ar": "الحجج"}
QUOTES = {"ko": ("“", "”"), "en": ("“", "”"), "zh": ("“", "”"), "fr": ("« ", " »"), "ar": ("«", "»")}
HINT_RULE = {
    "ko": "이 문제의 열쇠가 되는 규칙을 떠올려 보세요:",
    "en": "Think of the rule that this exercise turns on:",
    "zh": "想一想这道题用到的规则：",
    "fr": "Pense à la règle sur laquelle repose cet exercice :",
    "ar": "فكر في القاعدة التي يقوم عليها هذا التمرين:",
}
HINT_READ = {
    "ko": "「{title}」에서 {words} 부분에는 무엇이라고 되어 있나요 [{n}]?",
    "en": "What does “{title}” say about {words} [{n}]?",
    "zh": "《{title}》中关于{words}是怎么说的[{n}]？",
    "fr": "Que dit « {title} » au sujet de {words} [{n}] ?",
    "ar": "ماذا يقول «{title}» عن {words} [{n}]؟",
}
HINT_GIVEN = {
    "ko": "문제에서 주어진 것과 구해야 하는 것은 각각 무엇인가요?",
    "en": "What are you given, and what are you asked to find?",
    "zh": "题目给出了什么，要求的又是什么？",
    "fr": "Qu'est-ce qui est donné, et que cherche-t-on ?",
    "ar": "ما المعطيات في المسألة، وما المطلوب إيجاده؟",
}
HINT_NEXT = {
    "ko": "그 규칙을 적고 주어진 것을 넣어 보면 다음 단계는 무엇일까요?",
    "en": "If you write the rule down and put in what is given, what is the next step?",
    "zh": "把规则写下来并代入已知条件，下一步是什么？",
    "fr": "Si tu écris la règle et y mets les données, quelle est l'étape suivante ?",
    "ar": "إذا كتبت القاعدة ووضعت فيها المعطيات، فما الخطوة التالية؟",
}
