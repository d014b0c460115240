"""The request in the form that the stages use."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from actors.answer.profile import profile_of
from bus.messages import Question, QuestionAsked
from index.languages import LANGUAGES
from index.languages.detection import detect

#: What a caller sends as a context when its own retrieval found nothing.
NO_CONTEXT = "NO_CONTEXT_FOUND"


_numeric_promote: ContextVar[bool] = ContextVar("numeric_promote", default=False)


@contextlib.contextmanager
def promoting_numbers(promote: bool) -> Iterator[None]:
    """Set `verifier.numeric_promote` for questions resolved inside: the process's value, or that of a recorded run."""
    token = _numeric_promote.set(promote)
    try:
        yield
    finally:
        _numeric_promote.reset(token)


def resolved(message: QuestionAsked) -> Question:
    """The request as the stages see it: language detected, defaults filled in from the profile."""
    profile = profile_of(message.profile)
    found = message.language or detect(message.question)
    contexts = message.contexts
    if contexts is not None:
        contexts = tuple(c for c in contexts if c.content.strip() and c.content.strip() != NO_CONTEXT)
    return Question(
        text=message.question,
        asked=message.question,
        language=found if found in LANGUAGES else profile.default_language,
        profile=message.profile,
        style=message.style or message.constraints.style,
        release=message.release or profile.release,
        events=message.events,
        constraints=message.constraints,
        contexts=contexts,
        filter=message.filter,
        numeric_promote=_numeric_promote.get(),
    )


def must_cite(question: Question) -> bool:
    """Whether an answer without a citation is refused: as the request says, else as the profile does."""
    asked = question.constraints.must_cite
    return profile_of(question.profile).must_cite if asked is None else asked
