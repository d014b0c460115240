"""Tell what a query is: a question for the documents, or a greeting, noise or a subject outside the profile; simple or complex.

And split a question into statements to search for: clauses, comparisons, facets."""

import re
from typing import Final

from actors.choosing.asked import named_sides
from index.languages import every, pattern, spoken, union
from index.languages.characters import JAMO, fold, is_han
from index.languages.words import terms
from prompts.contracts import (
    ClassifyIntent,
    ClassifyQuery,
    DecomposeQuery,
    Decomposition,
    Intent,
    QueryClass,
    RewriteQuery,
    SubQuery,
    Turn,
)
from prompts.vocabulary import Confidence, IntentKind
from runtime.engines.extractive.rewriting import rewrite_query

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


MOST_PARTS = 5
MOST_SIMPLE_PARTS = 2
#: A question with more content words than this is complex even with one clause.
MANY_WORDS = 24
LONGEST_STATEMENT, LONGEST_FOCUS = 400, 60

_MARKS: Final = " ¿?？؟"
_JOINING: Final = union(lambda language: language.questions.clauses.joining).pattern
_ASKS: Final = union(lambda language: language.questions.clauses.asks)
_BREAKS: Final = pattern(
    (
        r"[?？؟;；。]+\s*",
        rf"[,，،、]\s*(?:(?:{_JOINING})\s*)?",
        *every(lambda language: language.questions.clauses.breaks),
    )
)
#: What is left of a break at the end of a part.
_LEFT: Final = pattern(rf"[\s,，،、]+(?:{_JOINING})?[\s,，،、]*$")
_COMPARES: Final = union(lambda language: language.questions.comparison.compares)
_WEIGHS: Final = union(lambda language: language.questions.clauses.weighs)
_FACETS: Final = tuple(map(pattern, every(lambda language: language.questions.clauses.facets)))
_BETWEEN: Final = union(lambda language: language.questions.clauses.between)
_BEFORE: Final = union(lambda language: language.questions.statement.before).pattern
_OPENING: Final = pattern(
    rf"^(?:(?:{_BEFORE})[ ,，]*)*(?:{union(lambda language: language.questions.statement.opening).pattern})\b\s*"
)
_AUXILIARY: Final = pattern(rf"^(?:{union(lambda language: language.questions.statement.auxiliary).pattern})")
_CLOSING: Final = pattern(rf"(?:{union(lambda language: language.questions.statement.closing).pattern})\s*$")
_INSIDE: Final = union(lambda language: language.questions.statement.inside)
_PARTICLE: Final = pattern(rf"(?:{union(lambda language: language.questions.statement.particle).pattern})$")


def classify_query(prompt: ClassifyQuery) -> QueryClass:
    """Complex: several questions or facets in one, a comparison, a choice, advice, a procedure, or very many content words."""
    question = prompt.original_query
    parts, words = clauses(question), len(set(terms(question)))
    compares, weighs = bool(_COMPARES.search(question)), bool(_WEIGHS.search(question))
    is_complex = len(parts) > 1 or compares or weighs or bool(facets(question)) or words > MANY_WORDS
    reason = (
        "It compares things."
        if compares
        else "It asks for advice, a choice or a procedure."
        if weighs
        else f"It asks {len(parts)} thing{'s' * (len(parts) > 1)} in {words} content words."
    )
    return QueryClass(
        query_type="complex" if is_complex else "simple",
        confidence="high" if len(parts) > 1 or words <= MANY_WORDS // 2 else "medium",
        reasoning=reason,
        suggested_search_term=statement(question)[:LONGEST_STATEMENT],
    )


def decompose_query(prompt: DecomposeQuery) -> Decomposition:
    """One statement per clause and per side of a comparison; what a later clause refers back to is filled in."""
    most = MOST_PARTS if prompt.query_type == "complex" else MOST_SIMPLE_PARTS
    parts = parts_of(prompt.original_query, prompt.language)
    wanted = [side for part in parts for side in (*named_sides(part), *facets(part), part)]
    if len(wanted) > len(parts):
        wanted = [w for w in wanted if w not in parts or not named_sides(w)] + [w for w in wanted if named_sides(w)]
    found: dict[str, str] = {}
    for part in wanted:
        found.setdefault(statement(part)[:LONGEST_STATEMENT], part)
    subs = tuple(
        SubQuery(id=f"sq_{number}", statement=said, focus=part.strip(_MARKS)[:LONGEST_FOCUS])
        for number, (said, part) in enumerate(list(found.items())[:most], 1)
    )
    return Decomposition(sub_queries=subs, reasoning=f"The question has {len(subs)} part{'s' * (len(subs) > 1)}.")


def clauses(question: str) -> list[str]:
    """The parts that each ask something, in order; a condition stays with the part it precedes."""
    parts: list[str] = []
    waiting = ""
    for piece in _pieces(question):
        waiting = f"{waiting}{piece}"
        if _ASKS.search(piece) and terms(waiting):
            parts.append(waiting)
            waiting = ""
    if waiting.strip(f",，،、{_MARKS}"):
        parts = [*parts[:-1], f"{parts[-1]}{waiting}"] if parts else [waiting]
    return [_LEFT.sub("", part.strip()).strip() for part in parts] or [question.strip()]


def facets(question: str) -> tuple[str, ...]:
    """Each facet that a question lists, with the thing that has them; empty for other questions."""
    if not _BETWEEN.search(question):
        return ()
    found = next(filter(None, (listed.search(question) for listed in _FACETS)), None)
    if found is None or named_sides(question):
        return ()
    topic = found["topic"].strip()
    spaced = "" if is_han(topic[-1:]) else " "
    return tuple(f"{topic}{spaced}{facet.strip()}" for facet in _BETWEEN.split(found["list"]) if facet.strip())


def statement(question: str) -> str:
    """`question` as a phrase to search for: without question mark and asking words; never empty."""
    text = question.strip().rstrip("?？؟.。! ")
    bare = _AUXILIARY.sub("", _OPENING.sub("", text)).strip()
    bare = _PARTICLE.sub("", _INSIDE.sub("", _CLOSING.sub("", bare)).strip())
    return bare if terms(bare) else text or question


def _pieces(question: str) -> list[str]:
    """`question` split after each possible break, without loss."""
    pieces, start = [], 0
    for found in _BREAKS.finditer(question):
        pieces.append(question[start : found.end()])
        start = found.end()
    return [*pieces, question[start:]] if question[start:] else pieces


def parts_of(question: str, language: str) -> list[str]:
    """The parts of a question, each with what it refers back to filled in; the question itself if it has one part."""
    parts = clauses(question)[:MOST_PARTS]
    pronouns = pattern(spoken(language).followups.pointing.pronouns)
    alone = parts[:1]
    for part in parts[1:]:
        if pronouns.search(part) or len(terms(part)) < 2:
            history = tuple(Turn(role="user", content=before) for before in alone)
            reply = rewrite_query(RewriteQuery(current_query=part, conversation_history=history, language=language))
            # A statement is searched for, never shown as a sentence: the words that it depends on may just follow.
            part = f"{reply.rewritten_query.rstrip(_MARKS)} {reply.topic}".strip()  # noqa: PLW2901 - the same part
        alone.append(part)
    return alone
