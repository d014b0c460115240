"""What a conversation is about: the noun phrase that a follow-up question leaves out or points back to."""

import re

from prompts.contracts import Turn
from runtime.engines.extractive.followup_words import ABOUT, ASPECTS, INTRODUCES, NO_TOPIC, PREDICATES, PRONOUNS
from runtime.engines.extractive.words import FUNCTION_WORDS, fold, stem

LONGEST_TOPIC_WORDS = 8
ARTICLES = ("the", "a", "an", "my", "le", "la", "les", "un", "une")

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_OF = re.compile(r"^\s*(?:of|of the|of a|for|de|de la|de l['’]|du|des|d['’])\s*$", re.IGNORECASE)
_TRAILING = re.compile(r"(?:ed|able|ly)$")
_ARTICLE = re.compile(r"(?<![^\W_])(?:the|an?|my|le|la|les|une?|l['’])\s*$", re.IGNORECASE)
_ASPECT_STEMS = frozenset(stem(word) for word in ASPECTS)
_ADJUNCT = re.compile(r"\b(?:in|at|on|around|during|from|dans|à|en|au|aux|chez|pendant)\s*$", re.IGNORECASE)
_ELIDED = re.compile(r"^(?:[djmnstc]|qu)['’]", re.IGNORECASE)
_ADJECTIVE = re.compile(r"(?:al|ic|ive|ous|ary)$")
_SENTENCE_START = re.compile(r"[.!?:]\s*$")
_CHINESE_BREAKS = re.compile(
    r"什么时候|为什么|是什么|怎么样|怎么|怎样|如何|哪些|哪个|哪里|多少|几|谁|什么|是否|可以|需要|应该|能|会|有|是|吗|呢|了|请问|介绍一下|介绍|适合|适用|说说|一下|我想知道|关于|和|与|在|对|要|做|[，。？?！!、\s]"
)
_KOREAN_VERB = re.compile(r"(?:[다요까죠]|나요|는가|인가|하는|되는|했던|하고|하면|려면|해서|하려면)$")
_KOREAN_OF = re.compile(r"(?<=[가-힣])의$")


def topics(history: tuple[Turn, ...], language: str) -> tuple[str, str]:
    """The noun phrase the conversation is on now, and the one it began with; empty when no turn names one.

    Only the person's turns are read.
    """
    now = first = ""
    for turn in history:
        if turn.role == "user":
            now = _moved(now, turn.content, language)
            first = first or now
    return now, first


def _moved(now: str, text: str, language: str) -> str:
    """The topic after one more turn: its own if it brings one along, else the one before."""
    about = ABOUT[language].search(text)
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
    """Whether a question names its own topic: it introduces one, or speaks of something by its name."""
    if INTRODUCES[language].search(text):
        return True
    return any(word[:1].isupper() for word in phrase.split()) and language in ("en", "fr")


def points_back(text: str, language: str) -> bool:
    return bool(PRONOUNS[language].search(text))


def main_phrase(text: str, language: str) -> str:
    """The most telling noun phrase of `text`: the longest, the first among equals; aspects are stripped off it."""
    phrases = [p for p in phrases_of(text, language) if p]
    # Where or when something is, is seldom what the talk is about, if anything else is named.
    central = [p for p in phrases if not _ADJUNCT.search(text[: max(text.find(p), 0)])] or phrases
    named = [p for p in central if any(w[:1].isupper() for w in p.split())]
    return max(named or central, key=lambda p: len(p.split()) if " " in text.strip() else len(p), default="")


def phrases_of(text: str, language: str) -> list[str]:
    """The noun phrases of `text` in order, as written."""
    if language == "zh":
        return [_of_chinese(part) for part in _CHINESE_BREAKS.split(text) if len(part) >= 2]
    found: list[tuple[int, int]] = []
    open_at: tuple[int, int] | None = None
    for match in _WORD.finditer(text):
        first = not text[: match.start()].strip() or bool(_SENTENCE_START.search(text[: match.start()]))
        if _breaks(match.group(), language, first=first):
            open_at = None
            continue
        gap = text[open_at[1] : match.start()] if open_at else ""
        if open_at and not gap.strip():
            open_at = (open_at[0], match.end())
            found[-1] = open_at
        else:
            article = _ARTICLE.search(text[: match.start()])
            open_at = (article.start() if article else match.start(), match.end())
            found.append(open_at)
    return [p for start, end in _joined(found, text) if (p := _stripped(text[start:end], language))]


def _breaks(word: str, language: str, *, first: bool) -> bool:
    folded = fold(word)
    if folded.endswith(("'s", "’s")):
        folded = folded[:-2]
    if language == "ko" and _KOREAN_VERB.search(word):
        return True
    if word[:1].isupper() and not first and folded not in ("i",) and len(word) > 1:
        return False
    return folded in FUNCTION_WORDS or folded in NO_TOPIC


def _joined(found: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Phrases with only "of" between them made one."""
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and _OF.match(text[joined[-1][1] : start]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _stripped(phrase: str, language: str) -> str:
    """Without aspects at its ends, without particles, and not too long."""
    words = re.split(r"['’]s\b", phrase)[0].split()
    if language == "ko":
        words = _of_korean(words)
    if words and language == "fr":
        words[0] = _ELIDED.sub("", words[0])
    article = words[:1] if words and fold(words[0]) in ARTICLES else []
    words = words[len(article) :]
    if len(words) > 2 and _ADJECTIVE.search(words[0]) and _is_aspect(words[1]) and fold(words[2]) in ("of", "de"):
        words = words[1:]  # "the environmental cost of food" is about food
    while words and _is_aspect(words[0]):
        words, article = words[1:], []
        while words and fold(words[0]) in FUNCTION_WORDS:
            article, words = (words[:1] if fold(words[0]) in ARTICLES else []), words[1:]
    while words and (
        _is_aspect(words[-1])
        or words[-1] in PREDICATES
        or (language == "en" and _TRAILING.search(words[-1]) and words[-1].islower())
    ):
        words = words[:-1]
        while words and fold(words[-1]) in FUNCTION_WORDS:
            words = words[:-1]
    return " ".join([*article, *words][:LONGEST_TOPIC_WORDS]).rstrip("'’,.;:") if words else ""


def _is_aspect(word: str) -> bool:
    folded = fold(word)
    return folded in ASPECTS or stem(folded) in _ASPECT_STEMS


def _of_korean(words: list[str]) -> list[str]:
    """A genitive names the topic (`근시의 증상`), else the phrase without its last particle."""
    for k, word in enumerate(words):
        if _KOREAN_OF.search(word) and len(word) > 2:
            return [*words[:k], _KOREAN_OF.sub("", word)]
    return [*words[:-1], stem(words[-1])] if words else []


def _of_chinese(part: str) -> str:
    topic_of, _, aspect = part.partition("的")
    return topic_of if aspect and len(topic_of) >= 2 else part.strip("的")
