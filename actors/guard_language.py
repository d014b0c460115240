"""Translate a draft in the wrong language into the one asked for, keeping markers, formulas and layout.

DraftMistranslated -> AnswerDrafted        prompt: guard_language

When it cannot be translated the draft goes on as it is, with its `wrong_language` flags and low confidence.
"""

import msgspec

from actors.answering.outgoing import Cleaning
from actors.answering.sentence_check import cited_in, each_checked
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerDrafted, DraftMistranslated
from bus.wire.parts import Sentence
from prompts import contracts
from prompts.thinking import without_thinking


def as_drafted(message: DraftMistranslated, failure: Failure) -> AnswerDrafted:
    return drafted(message, message.sentences)


@actor(prompts=("guard_language",), priority="check", fallback=as_drafted)
async def guard_language(message: DraftMistranslated, ask: Ask) -> AnswerDrafted:
    text = "".join(sentence.text for sentence in message.sentences)
    reply = await ask(contracts.GuardLanguage(text=text, target_language=message.question.language))
    reply = without_thinking(reply)
    if reply == text or cited_in(reply) != cited_in(text):
        return drafted(message, message.sentences)
    return drafted(message, tuple(each_checked(reply, message, Cleaning(message))))


def drafted(message: DraftMistranslated, sentences: tuple[Sentence, ...]) -> AnswerDrafted:
    fields = {**msgspec.structs.asdict(message), "sentences": sentences}
    return AnswerDrafted(**fields)
