"""The request in the form that the stages use, and whether it sets an exercise.

Rules recognise an exercise: an order, what only exercises say, or something to compute that no rule of a course speaks of.
"""

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final, NamedTuple

from msgspec import UNSET

from actors.question.profile import profile_of
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Constraints, Question
from index.languages import LANGUAGES, union
from index.languages.characters import fold
from index.languages.detection import detect
from prompts.profiles import AgentName
from prompts.vocabulary import STYLES, Style, Voice

#: The engine that answers prompts by rules.
RULES = "extractive"
#: What a caller sends as a context when its own retrieval found nothing.
NO_CONTEXT = "NO_CONTEXT_FOUND"


class Defaults(NamedTuple):
    """The settings that a question is resolved under, besides its profile: the process's, or those of a recorded run.

    `masked`: None leaves masking to the profile.
    """

    numeric_promote: bool = False
    voice: Voice = "strict"
    renumbered: bool = True
    masked: bool | None = None
    has_model: bool = False


_BUILT_IN: Final = Defaults()
_defaults: ContextVar[Defaults] = ContextVar("defaults", default=_BUILT_IN)


@contextlib.contextmanager
def resolving_under(defaults: Defaults) -> Iterator[None]:
    """Resolve the questions inside under these settings."""
    token = _defaults.set(defaults)
    try:
        yield
    finally:
        _defaults.reset(token)


def resolved(message: QuestionAsked) -> Question:
    """The request as the stages see it: language detected, defaults filled in from the profile and the settings."""
    profile = profile_of(message.profile)
    defaults = _defaults.get()
    language = message.language or detect(message.question)
    contexts = message.contexts
    if contexts is not None:
        contexts = tuple(c for c in contexts if c.content.strip() and c.content.strip() != NO_CONTEXT)
    return Question(
        text=message.question,
        asked=message.question,
        language=language if language in LANGUAGES else profile.default_language,
        profile=message.profile,
        style=message.style or style_in(message.constraints),
        release=message.release or profile.release,
        events=message.events,
        constraints=message.constraints,
        contexts=contexts,
        filter=message.filter,
        numeric_promote=defaults.numeric_promote,
        masked=profile.mask_personal_data if defaults.masked is None else defaults.masked,
        renumbered=defaults.renumbered,
        voice=message.voice or profile.answers.voice or defaults.voice,
        has_model=defaults.has_model,
    )


def asks_model(question: Question, prompt: AgentName) -> bool:
    """Whether a model answers that prompt: the profile names its engine, else the settings do."""
    agent = profile_of(question.profile).agents.get(prompt)
    return question.has_model if agent is None or not agent.model else agent.model.partition(":")[0] != RULES


def style_in(constraints: Constraints) -> Style | None:
    """The style that the constraints name; None where they name none or use other words."""
    return next((style for style in STYLES if style == constraints.style), None)


def wording(question: Question) -> str:
    """The caller's own words for the form of the answer; empty for none."""
    return "" if style_in(question.constraints) else question.constraints.style or ""


def must_cite(question: Question) -> bool:
    """Whether an answer without a citation is refused: the request decides, else the profile."""
    requested = question.constraints.must_cite
    return profile_of(question.profile).must_cite if requested is None else requested


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
