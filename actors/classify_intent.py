"""Decide whether a question is for the documents, and settle at once anything that is not.

QuestionAsked -> QuestionReady | FollowUpAsked | AnswerSettled        prompt: classify_intent

When the classifier cannot answer, the question is let in: the answer is checked anyway, and a question wrongly turned away is
lost.
"""

from msgspec.structs import replace

from actors.outcome.refusals import decline, fit, refuse
from actors.question.profile import in_language, profile_of
from actors.question.resolved import asks_model, resolved
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerSettled, FollowUpAsked, QuestionAsked, QuestionReady
from bus.wire.parts import Question
from index.languages import UNDETERMINED
from index.languages.detection import detect
from index.text.citations import strip_markers
from prompts import contracts, notices
from prompts.vocabulary import DECLINED


def let_in(message: QuestionAsked, failure: Failure) -> QuestionReady | FollowUpAsked:
    return accepted(message, resolved(message))


@actor(prompts=("classify_intent",), fallback=let_in)
async def classify_intent(message: QuestionAsked, ask: Ask) -> QuestionReady | FollowUpAsked | AnswerSettled:
    question = resolved(message)
    profile = profile_of(question.profile)
    if profile.policy_word(message.question):
        return decline(question, "policy", text=in_language(profile.safe_reply, question.language))
    if message.contexts is not None and not question.contexts:
        return refuse(question, "no_results", text=notices.text("replies", "empty_context", question.language))
    reply = await ask(
        contracts.ClassifyIntent(
            user_query=message.question,
            conversation_history=tuple(
                contracts.Turn(role=turn.role, content=turn.content) for turn in message.conversation_history
            ),
            language=question.language,
            in_scope=profile.scope_words("in_scope"),
            edge_scope=profile.scope_words("edge_scope"),
            out_of_scope=profile.scope_words("out_of_scope"),
        )
    )
    rewrites = reply.category == "needs_model" and question.has_model
    if rewrites and message.conversation_history:
        return accepted(message, replace(question, earlier=last_answer(message)))
    if reply.intent in ("out_of_scope", "greeting", "unclear"):
        kind = next((kind for kind in DECLINED if kind == reply.category), reply.intent)
        return decline(question, "unclear" if rewrites else kind, text=suggested(question, reply))
    return accepted(message, replace(question, needs_model=reply.category == "needs_model" and not rewrites))


def last_answer(message: QuestionAsked) -> str:
    answers = (turn.content for turn in reversed(message.conversation_history) if turn.role == "assistant")
    return strip_markers(next(answers, "")).strip()


def suggested(question: Question, reply: contracts.Intent) -> str:
    """A model's own words to the person; empty where they may not be shown or have a number, and for the rules' words."""
    text = fit(reply.suggested_response, question) if asks_model(question, "classify_intent") else ""
    strange = detect(text) not in (question.language, UNDETERMINED)
    return "" if strange or any(map(str.isdigit, text)) else text


def accepted(message: QuestionAsked, question: Question) -> QuestionReady | FollowUpAsked:
    if message.conversation_history:
        return FollowUpAsked(question=question, history=message.conversation_history)
    return QuestionReady(question=question)
