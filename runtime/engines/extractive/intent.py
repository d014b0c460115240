"""Tell questions for the documents from greetings, noise and subjects outside the profile."""

import re

from index.languages import every, pattern, spoken, union
from index.languages.characters import JAMO, fold
from index.languages.words import terms
from prompts.contracts import ClassifyIntent, Intent
from prompts.vocabulary import Confidence, IntentKind

_GREETINGS = union(lambda language: language.noise.greetings)
_THANKS = union(lambda language: language.noise.thanks)
_ABILITIES = union(lambda language: language.noise.abilities)
_TASKS = union(lambda language: language.noise.tasks)
_FILLERS = union(lambda language: language.noise.fillers)
_JAMO = re.compile(rf"^[{JAMO}\s\W]+$")
_KEYS = re.compile(
    rf"^(?:[b-df-hj-np-tv-xz]{{5,}}|(?:{'|'.join(every(lambda language: language.noise.keys.split()))})\w*|(.)\1{{3,}})$",
    re.IGNORECASE,
)
_SCRIPTLESS = re.compile(r"[^\W\d_]")

_ENDS = " .!?¿¡。！？؟"

LONGEST_REASONING, LONGEST_CATEGORY = 120, 60


def classify_intent(prompt: ClassifyIntent) -> Intent:
    """If in doubt, admit the question: words inside the scope outweigh words outside it, and an empty scope admits everything."""
    query, replies = prompt.user_query.strip(), spoken(prompt.language).phrases.replies
    folded = fold(query)
    if _only(_GREETINGS, folded):
        kind = "thanks" if _only(_THANKS, folded) else "greeting"
        return _intent("greeting", "high", kind, "It greets or thanks and asks nothing.", replies.greeting)
    if _ABILITIES.fullmatch(folded.strip(_ENDS)):
        return _intent("greeting", "high", "abilities", "It asks what the program can do.", replies.greeting)
    if task := _TASKS.search(folded):
        rest = folded.replace(task[0], " ")
        alone = asks_nothing(rest, prompt.language) or bool(prompt.conversation_history)
        return _intent("greeting" if alone else "in_scope", "high", "needs_model", "It asks for a new text.")
    if is_noise(query) or (not prompt.conversation_history and _only(_FILLERS, folded)):
        return _intent("unclear", "high", "", "It has no words to search for.", replies.unclear)
    if not prompt.conversation_history and asks_nothing(query, prompt.language):
        return _intent("unclear", "medium", "", "Nothing says what it is about.", replies.unclear)
    return _by_scope(prompt, query)


def _by_scope(prompt: ClassifyIntent, query: str) -> Intent:
    words = frozenset(terms(query))
    inside, edge, outside = (
        _first_match(query, words, scope) for scope in (prompt.in_scope, prompt.edge_scope, prompt.out_of_scope)
    )
    if inside:
        return _intent("in_scope", "high", inside, f"It speaks of {inside}.")
    if edge:
        return _intent("edge_case", "medium", edge, f"It speaks of {edge}, which is next to the subject.")
    if outside:
        reply = spoken(prompt.language).phrases.replies.out_of_scope
        return _intent("out_of_scope", "high", outside, f"It speaks of {outside}, which is outside the subject.", reply)
    confident: Confidence = "low" if prompt.in_scope else "high"
    return _intent("in_scope", confident, "", "Nothing places it outside the subject.")


def _only(pattern: re.Pattern[str], folded: str) -> bool:
    """Whether a folded query has nothing but matches and fillers."""
    rest = pattern.sub(" ", folded)
    return rest != folded and not _SCRIPTLESS.search(_FILLERS.sub(" ", rest))


def is_noise(query: str) -> bool:
    """Whether `query` is noise: no letters, random keys, or one letter repeated."""
    words = re.findall(r"\w+", query)
    return not _SCRIPTLESS.search(query) or bool(_JAMO.match(query)) or all(_KEYS.match(word) for word in words)


def asks_nothing(query: str, language: str) -> bool:
    """Whether `query` has only function words and pronouns, which refer to something that was not said."""
    pronouns = pattern(spoken(language).followups.pointing.pronouns)
    return not terms(query) or not terms(pronouns.sub(" ", query))


def _first_match(query: str, words: frozenset[str], scope: tuple[str, ...]) -> str:
    """The first scope word that `query` has: word for word, or in another form of all its words."""
    folded = fold(query)
    for entry in scope:
        wanted = fold(entry)
        # Latin words must match whole: `art` is not in `start`.
        spelt = re.search(rf"\b{re.escape(wanted)}\b", folded) if wanted.isascii() else wanted in folded
        if spelt or ((stems := set(terms(entry))) and len(wanted) > 2 and stems <= words):
            return entry
    return ""


def _intent(kind: IntentKind, confidence: Confidence, category: str, reasoning: str, reply: str = "") -> Intent:
    return Intent(
        intent=kind,
        confidence=confidence,
        category=category[:LONGEST_CATEGORY],
        reasoning=reasoning[:LONGEST_REASONING],
        suggested_response=reply,
    )
