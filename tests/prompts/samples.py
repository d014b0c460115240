"""One filled-in prompt per agent, covering five languages; the golden files are these, rendered."""

from typing import Any

from prompts.contracts import (
    AnswerHint,
    AnswerReport,
    AnswerSimple,
    AnswerStructured,
    AnswerSynthesis,
    Chunk,
    ClassifyIntent,
    ClassifyQuery,
    DecomposeQuery,
    Evidence,
    Extract,
    GuardLanguage,
    JudgeRelevance,
    JudgeSufficiency,
    Prompt,
    Relevance,
    RewriteQuery,
    SelectEvidence,
    SubQuery,
    Turn,
    VerifyAnswer,
)

TURNS = (
    Turn(role="user", content="도서관은 몇 시에 열어요?"),
    Turn(role="assistant", content="평일에는 아홉 시에 엽니다 [1]."),
)
CHUNKS = (
    Chunk(source_file="guide.md", score=0.0325, content="The reading room opens at nine.\n\nIt closes at six."),
    Chunk(
        source_file="règlement.pdf",
        score=0.0161,
        content="Les prêts durent 21 jours.",
        date="2024-03-01",
        replaced_by="guide.md",
    ),
)
EVIDENCE = (
    Evidence(n=1, source_id="guide-1", title="借阅指南", text="每人最多可借8册图书。"),
    Evidence(n=2, source_id="guide-2", title="دليل الإعارة", text="مدة الإعارة ثلاثة أسابيع.", date="2025-02-01"),
)
ANALYSES = (
    Relevance(
        sub_query_id="sq_1", sub_query_statement="图书可以借若干天",
        relevant_extracts=(Extract(source_file="guide-1", excerpt="每人最多可借8册图书。", relevance="high"),),
        sub_answer="每人最多可借8册。", confidence="medium", missing_aspects=("借期", "续借"),
    ),
    Relevance(
        sub_query_id="sq_2", sub_query_statement="逾期需要付费", relevant_extracts=(), sub_answer="", confidence="low",
        missing_aspects=(),
    ),
)  # fmt: skip

SAMPLES: tuple[Prompt[Any], ...] = (
    ClassifyIntent(
        user_query="그럼 주말에는요?", conversation_history=TURNS, language="ko", in_scope=("도서관", "대출"),
        edge_scope=("행사",), out_of_scope=("날씨", "주식"),
    ),
    RewriteQuery(current_query="그럼 주말에는요?", conversation_history=TURNS, language="ko"),
    ClassifyQuery(original_query="Quelle est la durée d'un prêt ?", language="fr", exercises=True),
    DecomposeQuery(original_query="借书的数量、期限和逾期费用分别是多少？", language="zh"),
    JudgeRelevance(
        sub_query_id="sq_1",
        sub_query_statement="The reading room closes at a fixed hour",
        sub_query_focus="closing time",
        retrieved_chunks=CHUNKS,
        language="en",
    ),
    JudgeSufficiency(
        original_query="借书的数量、期限和逾期费用分别是多少？",
        sub_queries=(
            SubQuery(id="sq_1", statement="图书可以借若干天", focus="借期"),
            SubQuery(id="sq_2", statement="逾期需要付费", focus="逾期"),
        ),
        sub_query_analyses=ANALYSES,
        language="zh",
    ),
    SelectEvidence(
        original_query="When does the reading room close?", retrieved_chunks=CHUNKS, language="en", today="2026-11-29"
    ),
    AnswerSimple(
        original_query="كم مدة الإعارة؟",
        retrieved_chunks=EVIDENCE,
        language="ar",
        safety_advice="يُرجى مراجعة أمين المكتبة.",
        already_shown="مدة الإعارة",
        today="2026-11-29",
    ),
    AnswerReport(
        original_query="借书的数量、期限和逾期费用分别是多少？",
        sub_query_analyses=ANALYSES,
        evidence=EVIDENCE,
        language="zh",
    ),
    AnswerSynthesis(query="한 사람이 몇 권까지 빌릴 수 있나요?", evidence=EVIDENCE, language="ko"),
    AnswerStructured(
        question="대출 기간은요?", contexts=EVIDENCE, language="ko", max_tokens=300, style="짧고 공손하게"
    ),
    AnswerHint(question="Calcule la durée de deux prêts.", contexts=EVIDENCE, language="fr", must_cite=False),
    VerifyAnswer(answer="每人最多可借18册图书[1]。", evidence=EVIDENCE, language="zh"),
    GuardLanguage(text="- Loans last 21 days [2].\n- Up to 8 books [1].", target_language="fr"),
)  # fmt: skip
