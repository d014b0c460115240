"""Translate a draft in the wrong language into the one asked for, keeping markers, formulas and layout.

DraftMistranslated -> AnswerDrafted        prompt: guard_language

When it cannot be translated the draft goes on as it is, with its `wrong_language` flags and low confidence.
"""

import msgspec

from actors.answering.cleaning import harmless, texts_of
from actors.answering.sentence_check import cited_in, flags_of
from actors.evidence.prompt_shapes import evidence_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerDrafted, Draft, DraftMistranslated, Sentence
from index.source_paths import published
from index.text.sentences import SentenceStream
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
    return drafted(message, checked(reply, message))


def checked(text: str, message: Draft) -> tuple[Sentence, ...]:
    """The text's sentences, each with the gate's flags."""
    stream = SentenceStream()
    evidence = evidence_of(message.evidence)
    texts = texts_of(message.evidence)
    urls = frozenset(url for span in message.evidence if (url := published(span.url)))
    sentences = []
    for written in (*stream.feed(text), *stream.finish()):
        sentence = harmless(written, texts, urls)
        flags = flags_of(
            sentence, evidence, message.question.language, written=written, urls=urls, question=message.question.asked
        )
        sentences.append(Sentence(text=sentence, flags=flags, withheld=any(flag.kind == "empty" for flag in flags)))
    return tuple(sentences)


def drafted(message: DraftMistranslated, sentences: tuple[Sentence, ...]) -> AnswerDrafted:
    fields = {**msgspec.structs.asdict(message), "sentences": sentences}
    return AnswerDrafted(**fields)
