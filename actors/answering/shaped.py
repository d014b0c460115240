"""Answer with JSON in the shape that the request asks for (`constraints.response_schema`).

The device's grammar keeps the shape. Each sentence in its texts is checked like a sentence of an answer. One withheld sentence
withholds the whole JSON, since a shape has no gaps. Markers are checked and removed; their sources become the references. Numbers,
booleans and field names are not checked.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from actors.answering.cleaning import harmless, texts_of
from actors.answering.sentence_check import flags_of
from actors.choosing.confidence import confidence_of
from actors.evidence.prompt_shapes import evidence_of
from actors.question.profile import profile_of
from bus.powers.protocols import Ask
from bus.wire.messages import AnswerDrafted, AnswerRequested, Sentence
from index.masking import mask, values_in
from index.text.citations import strip_markers
from index.text.sentences import SentenceStream
from prompts import contracts

#: Flags that do not apply to a text in a shape: it need not cite, nor be in the question's language.
_EXCUSED = frozenset({"uncited", "empty", "wrong_language"})


async def shaped(
    request: AnswerRequested, ask: Ask, variables: contracts.AnswerSimple, schema: dict[str, object]
) -> AnswerDrafted:
    """The draft of a whole JSON, of which nothing has been shown."""
    value = msgspec.json.decode(await ask.shaped(variables, schema))
    texts = texts_of(request.evidence)
    urls = frozenset(span.url for span in request.evidence if span.url)
    known = values_in(texts)
    hidden = profile_of(request.question.profile).mask_personal_data

    def clean(text: str) -> str:
        plain = strip_markers(harmless(text, texts, urls))
        return mask(plain, known=known) if hidden else plain

    probability = request.probability
    return AnswerDrafted(
        question=request.question,
        evidence=request.evidence,
        conflicts=(),
        sentences=tuple(_checked(value, request, urls)),
        style="simple",
        confidence="medium" if probability is None else confidence_of(probability),
        snapshot=request.snapshot,
        rounds=request.rounds,
        probability=probability,
        shaped=msgspec.json.encode(_changed(value, clean)).decode(),
    )


def _checked(value: object, request: AnswerRequested, urls: frozenset[str]) -> Iterator[Sentence]:
    evidence, question = evidence_of(request.evidence), request.question
    for text in _texts(value):
        stream = SentenceStream()
        for sentence in (*stream.feed(text), *stream.finish()):
            flags = flags_of(sentence, evidence, question.language, urls=urls, question=question.asked)
            kept = tuple(flag for flag in flags if flag.kind not in _EXCUSED)
            yield Sentence(text=sentence, flags=kept)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _changed(inner, change) for name, inner in value.items()}
    return [_changed(inner, change) for inner in value] if isinstance(value, list) else value
