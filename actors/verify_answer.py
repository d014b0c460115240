"""Check a whole draft against its evidence once more, by meaning and not only by words.

AnswerDrafted -> AnswerVerified        prompt: verify_answer

A draft that was verified sentence by sentence skips this stage. When the verifier cannot answer, the draft goes on, since the
verifier alone never refuses, with its sentences flagged as unverified.
"""

import msgspec

from actors.answering.sentence_check import contradictions_of, unverified
from actors.evidence.prompt_shapes import evidence_of
from actors.question.profile import profile_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerDrafted, AnswerVerified, Contradiction
from prompts import contracts


def as_drafted(message: AnswerDrafted, failure: Failure) -> AnswerVerified:
    sentences = (
        one if one.withheld else msgspec.structs.replace(one, flags=(*one.flags, unverified(one.text)))
        for one in message.sentences
    )
    return verified(msgspec.structs.replace(message, sentences=tuple(sentences)), message.contradictions)


@actor(prompts=("verify_answer",), priority="check", fallback=as_drafted)
async def verify_answer(message: AnswerDrafted, ask: Ask) -> AnswerVerified:
    text = "".join(sentence.text for sentence in message.sentences if not sentence.withheld)
    if message.verified or message.refused or not text.strip() or not profile_of(message.question.profile).verify:
        return verified(message, message.contradictions)
    verdict = await ask(
        contracts.VerifyAnswer(
            question=message.question.text,
            answer=text,
            evidence=evidence_of(message.evidence),
            language=message.question.language,
        )
    )
    return verified(message, (*message.contradictions, *contradictions_of(verdict)))


def verified(message: AnswerDrafted, contradictions: tuple[Contradiction, ...]) -> AnswerVerified:
    fields = {**msgspec.structs.asdict(message), "contradictions": contradictions, "verified": True}
    return AnswerVerified(**fields)
