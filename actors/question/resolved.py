"""The request in the form that the stages use: every default filled in, from the profile and the settings.

A model is told the languages of the documents, which this process remembers from its last search; a run keeps them.
"""

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from time import strftime
from typing import Final, NamedTuple

from actors.question.profile import profile_of
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Constraints, Question
from index.languages import LANGUAGES, name_of
from index.languages.detection import detect_in_question
from prompts.profiles import AgentName
from prompts.vocabulary import STYLES, Style, Voice

#: The engine that answers prompts by rules.
RULES = "extractive"
#: What a caller sends as a context when its own retrieval found nothing.
NO_CONTEXT = "NO_CONTEXT_FOUND"


class Defaults(NamedTuple):
    """The settings that a question is resolved under, besides its profile: the process's, or those of a recorded run.

    `masked`: None leaves masking to the profile. `languages`: of the documents; None for those that the last search knew. `today`:
    None for the day that it is; the question keeps it, so that a replay is told the same.
    """

    numeric_promote: bool = False
    voice: Voice = "strict"
    renumbered: bool = True
    masked: bool | None = None
    has_model: bool = False
    languages: tuple[str, ...] | None = None
    today: str | None = None


#: A language counts as one of the documents' from this share of the passages on.
_LEAST_SHARE = 0.01
#: The languages that the last search of this process knew: at most one of each, for the questions after it.
_known_languages: list[str] = []
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


def remember_languages(passages: Mapping[str, int]) -> None:
    """Take over the languages of the documents from a search, for the next questions of this process. `passages`: by language."""
    least = max(1, _LEAST_SHARE * sum(passages.values()))
    _known_languages[:] = [each for each in LANGUAGES if passages.get(each, 0) >= least]


def resolved(message: QuestionAsked) -> Question:
    """The request as the stages see it: language detected, defaults filled in from the profile and the settings."""
    profile = profile_of(message.profile)
    defaults = _defaults.get()
    language = message.language or detect_in_question(message.question)
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
        languages=(tuple(_known_languages) if defaults.languages is None else defaults.languages)
        if defaults.has_model
        else (),
        today=(strftime("%Y-%m-%d") if defaults.today is None else defaults.today) if defaults.has_model else "",
    )


def asks_model(question: Question, prompt: AgentName) -> bool:
    """Whether a model answers that prompt: the profile names its engine, else the settings do."""
    agent = profile_of(question.profile).agents.get(prompt)
    return question.has_model if agent is None or not agent.model else agent.model.partition(":")[0] != RULES


def other_languages(question: Question) -> tuple[str, ...]:
    """The names of the documents' languages beside the question's, where they are searched and a model writes the words."""
    if question.contexts is not None:
        return ()
    return tuple(name_of(each) for each in question.languages if each != question.language)


def as_read(question: Question) -> str:
    """The question as a model reads it that picks or writes: with the last answer, where a new text may be made of that."""
    if not question.earlier:
        return question.text
    return f"{question.asked}\n\nThe last answer of the conversation, which this may be about:\n{question.earlier}"


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
