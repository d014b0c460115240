"""Find what a conversation is about: the noun phrase that a follow-up question omits or refers back to."""

import re
from functools import cache

from index.languages import pattern, spoken
from index.languages.folding import fold
from index.languages.stems import stem
from index.languages.tables.followups import Topic
from index.languages.tables.kinds import words_in
from index.languages.words import FUNCTION_WORDS
from prompts.contracts import Turn

LONGEST_TOPIC_WORDS = 8

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
#: The beginning of a text or of a sentence in it, with what may open one.
_SENTENCE_START = re.compile(r"(?:^|[.!?:])[\s¿¡]*$")


def topics(history: tuple[Turn, ...], language: str) -> tuple[str, str]:
    """The noun phrase of the current topic and of the first one; empty if no turn names one.

    Only the person's turns are read.
    """
    now = first = ""
    for turn in history:
        if turn.role == "user":
            now = _moved(now, turn.content, language)
            first = first or now
    return now, first


def _moved(now: str, text: str, language: str) -> str:
    """The topic after one more turn: the turn's own if it has one, else the previous one."""
    about = pattern(spoken(language).followups.pointing.about).search(text)
    if about:
        phrase = main_phrase(about["about"], language)
        return phrase if phrase and phrase.lower() in about["about"].strip().lower()[-len(phrase) :] else now
    phrase = main_phrase(text, language)
    if not now or not phrase:
        return now or phrase
    if points_back(text, language):
        return now
    return phrase if brings_topic(text, phrase, language) else now


def brings_topic(text: str, phrase: str, language: str) -> bool:
    """Whether a question has its own topic: it introduces one, or mentions something by name."""
    own = spoken(language).followups
    if pattern(own.pointing.introduces).search(text):
        return True
    return own.topic.capitals and any(word[:1].isupper() for word in phrase.split())


def points_back(text: str, language: str) -> bool:
    return bool(pattern(spoken(language).followups.pointing.pronouns).search(text))


def main_phrase(text: str, language: str) -> str:
    """The main noun phrase of `text`: the longest, the first among equals, without its aspects."""
    own = spoken(language).followups.topic
    phrases = [p for p in phrases_of(text, own) if p]
    # A place or time is seldom the topic if anything else is named.
    adjuncts = pattern(own.adjuncts)
    central = [p for p in phrases if not adjuncts.search(text[: max(text.find(p), 0)])] or phrases
    named = [p for p in central if any(w[:1].isupper() for w in p.split())]
    return max(named or central, key=lambda p: len(p.split()) if " " in text.strip() else len(p), default="")


def phrases_of(text: str, own: Topic) -> list[str]:
    """The noun phrases of `text` in order, as written."""
    if own.breaks:
        return [_owner(part, own) for part in pattern(own.breaks).split(text) if len(part) >= 2]
    found: list[tuple[int, int]] = []
    open_at: tuple[int, int] | None = None
    for match in _WORD.finditer(text):
        first = bool(_SENTENCE_START.search(text[: match.start()]))
        if _breaks(match.group(), own, first=first):
            open_at = None
            continue
        gap = text[open_at[1] : match.start()] if open_at else ""
        if open_at and not gap.strip():
            open_at = (open_at[0], match.end())
            found[-1] = open_at
        else:
            article = pattern(own.articles).search(text[: match.start()])
            open_at = (article.start() if article else match.start(), match.end())
            found.append(open_at)
    return [p for start, end in _joined(found, text, own) if (p := _stripped(text[start:end], own))]


def _breaks(word: str, own: Topic, *, first: bool) -> bool:
    folded = pattern(own.contracted).sub("", fold(word))
    if pattern(own.verbs).search(word):
        return True
    if word[:1].isupper() and not first and len(word) > 1:
        return False
    return folded in FUNCTION_WORDS or folded in words_in(own.no_topic)


def _joined(found: list[tuple[int, int]], text: str, own: Topic) -> list[tuple[int, int]]:
    """Join phrases with only "of" between them."""
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and pattern(own.joining).fullmatch(text[joined[-1][1] : start].strip()):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _stripped(phrase: str, own: Topic) -> str:
    """The phrase without aspects at its ends, without particles, and not too long."""
    topic = _owner(phrase, own)
    words = topic.split()
    if own.particles and topic == phrase:
        words[-1:] = [stem(word) for word in words[-1:]]
    words[:1] = [pattern(own.elided).sub("", word) for word in words[:1]]
    articles = pattern(own.articles)
    article = words[:1] if words and articles.fullmatch(fold(words[0])) else []
    words = words[len(article) :]
    if len(words) > 2 and _is_adjective(words[0], own) and _is_aspect(words[1], own) and _is_of(words[2], own):
        words = words[1:]  # "the environmental cost of food" is about food
    while words and _is_aspect(words[0], own):
        words, article = words[1:], []
        while words and fold(words[0]) in FUNCTION_WORDS:
            article, words = (words[:1] if articles.fullmatch(fold(words[0])) else []), words[1:]
    while words and _says_of_a_topic(words[-1], own):
        words = words[:-1]
        while words and fold(words[-1]) in FUNCTION_WORDS:
            words = words[:-1]
    return " ".join([*article, *words][:LONGEST_TOPIC_WORDS]).rstrip("'’,.;:") if words else ""


def _owner(phrase: str, own: Topic) -> str:
    owner = pattern(own.owner, re.DOTALL).search(phrase)
    return owner["topic"] if owner else phrase


def _is_adjective(word: str, own: Topic) -> bool:
    return bool(pattern(own.adjectives).search(word))


def _is_of(word: str, own: Topic) -> bool:
    return bool(pattern(own.of).fullmatch(fold(word)))


def _is_aspect(word: str, own: Topic) -> bool:
    folded = fold(word)
    return folded in words_in(own.aspects) or stem(folded) in _stems(own.aspects)


def _says_of_a_topic(word: str, own: Topic) -> bool:
    said = word in words_in(own.predicates) or (word.islower() and pattern(own.trailing).search(word))
    return bool(said) or _is_aspect(word, own)


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words_in(words))
