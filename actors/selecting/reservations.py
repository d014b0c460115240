"""Why a probable choice of the rules is no answer: its language, a side or subject that was not found, the profile's scope."""

from collections.abc import Sequence

from actors.choosing.aliases import in_one_name
from actors.choosing.asked import named_sides
from actors.choosing.choose import Choice, choice_of
from actors.choosing.unsaid import unsaid
from actors.outcome.closest import is_foreign
from actors.question.profile import profile_of
from actors.question.resolved import asks_model
from bus.wire.messages import Passage, PassagesReady, Question
from prompts.profiles import first_match


def in_one_language(question: Question, choice: Choice, passages: tuple[Passage, ...]) -> Choice:
    """The choice without what is in other languages than the question, with its own probability, if anything is left."""
    own = [each for each in choice.shown if not is_foreign(question, passages[each.unit.passage])]
    if not own or len(own) == len(choice.shown):
        return choice
    return choice_of(choice.asked, choice.ranked, own, passages)


def misses(message: PassagesReady, read: Sequence[Passage]) -> bool:
    """Whether one side of a comparison was not found, or these passages of a consultation are silent about the subject."""
    sides = sides_of(message)
    if sides:
        return any(aspect in side or side in aspect for aspect in message.missing for side in sides)
    profile = profile_of(message.question.profile)
    if not profile.safety_advice:
        return False
    texts = [f"{passage.title} {' '.join(passage.headings)} {passage.text}" for passage in read]
    named, *said = (in_one_name(text, profile.synonyms) for text in (message.question.text, *texts))
    return unsaid(named, said, only_first=message.complex)


def sides_of(message: PassagesReady) -> tuple[str, ...]:
    """The two things that the question compares, under the names that the searches used."""
    question = message.question
    return named_sides(in_one_name(question.text, profile_of(question.profile).synonyms))


def is_outside(question: Question) -> bool:
    """Whether rules alone place the question outside: the profile lists subjects, and it names none of them."""
    profile = profile_of(question.profile)
    words = (*profile.scope_words("in_scope"), *profile.scope_words("edge_scope"))
    return bool(words) and not asks_model(question, "classify_intent") and not first_match(words, question.text)
