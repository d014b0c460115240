"""Check a whole draft against its evidence once more, by meaning and not only by words.

AnswerDrafted -> AnswerVerified        prompt: verify_answer

A draft that was verified sentence by sentence skips this stage. A model's verdict makes a sentence unverified, or verified again.
When the verifier cannot answer, the draft goes on with its sentences flagged as unverified: the verifier alone never refuses.
"""

import msgspec

from actors.answering.sentence_check import contradictions_of, is_verified, prompt_of, unread, weighed
from actors.evidence.prompt_evidence import evidence_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerDrafted, AnswerVerified
from bus.wire.parts import Contradiction, Sentence


def as_drafted(message: AnswerDrafted, failure: Failure) -> AnswerVerified:
    return verified(message, sentences=tuple(one if one.withheld else unread(one) for one in message.sentences))


@actor(prompts=("verify_answer",), priority="check", fallback=as_drafted)
async def verify_answer(message: AnswerDrafted, ask: Ask) -> AnswerVerified:
    question, claims = message.question, [sentence for sentence in message.sentences if not sentence.withheld]
    text = "".join(sentence.text for sentence in claims)
    if message.verified or message.refused or not text.strip() or not is_verified(question, message.style):
        return verified(message)
    hints = message.style == "hint"
    verdict = await ask(
        prompt_of(question, claims, evidence_of(message.evidence, to_model=question.has_model), hints=hints)
    )
    after = iter(weighed(question, claims, verdict, hints=hints))
    return verified(
        message,
        sentences=tuple(sentence if sentence.withheld else next(after) for sentence in message.sentences),
        contradictions=(*message.contradictions, *contradictions_of(verdict, hints=hints)),
    )


def verified(message: AnswerDrafted, **found: tuple[Sentence, ...] | tuple[Contradiction, ...]) -> AnswerVerified:
    return AnswerVerified(**{**msgspec.structs.asdict(message), **found, "verified": True})
