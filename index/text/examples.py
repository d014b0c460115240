"""Questions that the documents themselves ask, as examples of what can be asked: headings and defined terms that are questions.

A heading is an example if the text below it has all its words: "When is a refund paid?", not "Still have questions?".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

import msgspec

from index.model import Passage
from index.text.matching import content_words, matches
from index.text.question_words import without_question_words

#: A line that is nothing but a question, with what a document may set around it.
_QUESTION = re.compile(r"[\s#*_>\d.)-]*(?:Q\s?\d*\s?[:.)]\s*)?([^\n]{6,110}[?？؟])[\s*_]*")
#: Signs that a line is more than the question: a sentence ends before its end.
_SENTENCES = re.compile(r"[.!?][ ]|[。！？؟](?=.)")
_KINDS = frozenset({"heading", "definition"})


class Example(msgspec.Struct, frozen=True):
    """A question that a document asks, in the document's words."""

    question: str
    language: str
    source_id: str


def examples(passages: Iterable[Passage], count: int) -> list[Example]:
    """At most `count`, each language and document in turn, in the order of the passages."""
    result: defaultdict[str, defaultdict[str, list[Example]]] = defaultdict(lambda: defaultdict(list))
    seen: set[str] = set()
    for passage in passages:
        for question in _questions(passage):
            if question.casefold() not in seen:
                seen.add(question.casefold())
                result[passage.language][passage.source_id].append(
                    Example(question, passage.language, passage.source_id)
                )
    by_language = [_in_turn(documents.values()) for documents in result.values()]
    return list(_in_turn(by_language))[:count]


def _in_turn(lists: Iterable[Iterable[Example]]) -> list[Example]:
    return [each for each in chain.from_iterable(zip_longest(*lists)) if each is not None]


def _questions(passage: Passage) -> Iterator[str]:
    stretches = [*passage.headings[-1:]]
    for block in passage.blocks:
        if block.kind in _KINDS:
            stretches.append(passage.text[max(0, block.start - passage.char_start) : block.end - passage.char_start])
    for stretch in stretches:
        if match := _QUESTION.fullmatch(stretch):
            question = match[1].strip()
            if not _SENTENCES.search(question) and _names_its_subject(question, passage.text.replace(stretch, "\n")):
                yield question


def _names_its_subject(question: str, below: str) -> bool:
    """Whether it asks with a question word, for something that the text names too."""
    wanted = [term for term in content_words(question) if len(term) > 1]
    asks = without_question_words(question) != question
    return asks and bool(wanted) and all(matches(below, {term}) for term in wanted)
