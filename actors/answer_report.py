"""Answer a complex question with a report: TL;DR, conclusion, then numbered arguments with source and quotation.

ReportRequested -> AnswerDrafted | AnswerVerified | DraftMistranslated        prompt: answer_report

Without a model there is no answer: the run fails with `model_unavailable`.
"""

from actors.answer.drafting import advice, no_model, prose
from actors.evidence.prompt_shapes import analysis_to_prompt, evidence_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerSettled, AnswerVerified, DraftMistranslated, ReportRequested
from prompts import contracts


@actor(prompts=("answer_report", "verify_answer", "guard_language"), priority="answer", fallback=no_model)
async def answer_report(
    message: ReportRequested, ask: Ask, emit: Emit
) -> AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled:
    variables = contracts.AnswerReport(
        original_query=message.question.text,
        sub_query_analyses=tuple(analysis_to_prompt(analysis) for analysis in message.analyses),
        evidence=evidence_of(message.evidence),
        language=message.question.language,
        safety_advice=advice(message),
    )
    return await prose(message, ask, emit, variables, "report")
