"""Whether a question sets an exercise, which gets a hint and not its solution.

Rules recognise an exercise: an order, what only exercises say, or something to compute that no rule of a course speaks of.
"""

import re
from typing import Final

from msgspec import UNSET

from actors.question.profile import profile_of
from bus.wire.parts import Question
from index.languages import union
from index.languages.characters import fold

_ORDERS: Final = union(lambda language: language.questions.exercises.orders)
_TASKS: Final = union(lambda language: language.questions.exercises.tasks)
_ASKS: Final = union(lambda language: language.questions.exercises.asks)
_VALUES: Final = union(lambda language: language.questions.exercises.values)
_COURSE: Final = union(lambda language: language.questions.exercises.course)
_SENTENCE_END: Final = re.compile(r"(?<=[!?:;؟。…\n])|(?<=[^\d\s]\.)\s|(?<=[!?؟.])[)»”\"]")
#: Formulas, gaps to fill and answers to pick, in any language.
_SIGNS: Final = re.compile(
    r"[\w)]\s*[=≤≥≈]\s*[-−(√|\w]|\d\s*[+×*÷^]\s*[\d(a-z]|[^\W\d_]\s*[²³⁴^]|\d[^\W\d_]\s*[-+−=]\s*\d|[√∫∑∞]|->|→"
    r"|_{2,}|\.{4,}|[(（]\s+[)）]|①.*②|\ba[.-].{1,80}?\bb[.-]|\b[^\W\d_][)）].{1,80}?\b[^\W\d_][)）]|\b(?:sin|cos|tan|log|ln|lim)\d?\s*\(",
    re.IGNORECASE | re.DOTALL,
)
#: A quantity, which is neither a year nor a part of a name.
_QUANTITY: Final = re.compile(r"(?<![\da-z.,:/-])(?!(?:1[5-9]|20)\d\d(?!\d))\d+(?:[.,]\d+)?")
#: So many quantities are data to compute with, where one needs a word for what is computed.
_DATA: Final = 2


def is_exercise(question: Question) -> bool:
    """Whether the question gets a hint: it is an exercise by a model's judgement, or else by the rules."""
    if not profile_of(question.profile).hint_exercises:
        return False
    return sets_exercise(question.text) if question.exercise is UNSET else question.exercise


def sets_exercise(text: str) -> bool:
    """Whether `text` sets an exercise, whose solution a student should find."""
    folded = fold(text)
    sentences = [sentence.strip(' .!?:;؟。"»”') for sentence in _SENTENCE_END.split(folded) if sentence.strip()]
    if any(map(_ORDERS.search, sentences)) or _ASKS.search(folded):
        return True
    if _COURSE.search(folded):
        return False
    quantities = len(_QUANTITY.findall(folded))
    computes = quantities >= _DATA or (quantities and (_VALUES.search(folded) or len(sentences) > 1))
    return bool(computes or _SIGNS.search(text) or any(map(_TASKS.search, sentences)))
