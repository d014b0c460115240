"""Detect the language of a text: by script first, by words only among the languages that share a script.

Markers, addresses and code are ignored; a text with nothing else is UNDETERMINED. So is a long one without any function word
in a script of several languages: a table of names says nothing of its language. In a text of two scripts, Latin words without
function words among them are names, however many letters they have.
"""

import re
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from index.languages import FALLBACK, LANGUAGES, UNDETERMINED, of
from index.languages.scripts import KANA, LETTERS, WEIGHTS, Script
from index.languages.tables.kinds import words_in

if TYPE_CHECKING:
    from lingua import LanguageDetector

_NOT_LANGUAGE = re.compile(r"https?://\S+|www\.\S+|`[^`]*`|[\[［【][\d٠-٩０-９\s,،、，;–-]{1,40}[\]］】]")
_TOKEN = re.compile(r"\S+")
#: A whole token, looked at once and without going back: whatever people write, this takes no longer than it is.
_MAIL = re.compile(r"\S[^@]*+@\S[^.]*+\..++", re.DOTALL)
_LETTERS: Final = {script: re.compile(f"[{letters}]+") for script, letters in LETTERS.items()}
_WORDS: Final = {script: re.compile(f"[{letters}]+(?:'[{letters}]+)?") for script, letters in LETTERS.items()}
#: The share of function words from which Latin words beside another script are running text.
_PROSE = 0.2
#: From so many words on, a text in a language has a function word of it.
_LONG = 20
#: What a text needs to be surely in a language: a share of letters, letters of a script of its own, else function words.
_SURE, _SURE_LETTERS, _SURE_WORDS = 0.7, 100.0, 8
_KANA = re.compile(f"[{KANA}]")


def detect(text: str) -> str:
    """One of LANGUAGES, or UNDETERMINED when the text has no letters of theirs."""
    text = _language_in(text)
    weights = _script_weights(text)
    if "latin" in weights and sum(map(bool, weights.values())) > 1:
        weights["latin"] *= _running("latin", text)
    best = max(weights, key=lambda script: weights[script])
    languages = written_in(best)
    if weights[best] == 0 or not languages:
        return UNDETERMINED
    return languages[0] if len(languages) == 1 else _among(languages, best, text)


def share_of(text: str, language: str) -> float:
    """The share (0..1) of the text's letters in the script of `language`; 1 for a text without letters."""
    weights = _script_weights(_language_in(text))
    total = sum(weights.values())
    if not total:
        return 1.0
    return weights.get(of(language).identity.script, 0.0) / total if language in LANGUAGES else 0.0


@cache
def written_in(script: Script) -> tuple[str, ...]:
    """The languages written in a script."""
    return tuple(language for language in LANGUAGES if of(language).identity.script == script)


def same_script(language: str) -> tuple[str, ...]:
    """The languages written in the same script as this one, itself included; none for a code that is not in LANGUAGES."""
    return written_in(of(language).identity.script) if language in LANGUAGES else ()


def _language_in(text: str) -> str:
    text = _NOT_LANGUAGE.sub(" ", text)
    if "@" not in text:
        return text
    return _TOKEN.sub(lambda token: " " if _MAIL.fullmatch(token[0]) else token[0], text)


def _script_weights(text: str) -> dict[Script, float]:
    if text.isascii():
        return {"latin": float(_letters("latin", text))}
    counts = {script: _letters(script, text) for script in _LETTERS}
    # Kana is Japanese; Korean writes some words in Han characters, while Chinese never writes Hangul.
    if (counts["hangul"] and counts["hangul"] * 2 >= counts["han"]) or (counts["han"] and _KANA.search(text)):
        counts["han"] = 0
    return {script: count * WEIGHTS[script] for script, count in counts.items()}


def _letters(script: Script, text: str) -> int:
    return sum(map(len, _LETTERS[script].findall(text)))


def _running(script: Script, text: str) -> float:
    """How far the words in a script are running text and not names: 0 without function words, 1 with as many as prose has."""
    words = _WORDS[script].findall(text.lower().replace("’", "'"))
    marked = sum(1 for word in words if _marked_as(word, written_in(script)))
    return min(1.0, marked / (_PROSE * len(words))) if words else 1.0


def strongly(text: str, language: str) -> bool:
    """Whether a text is surely in a language: by its script, or by many function words and few of any other."""
    text = _language_in(text)
    weights = _script_weights(text)
    script = of(language).identity.script
    if weights.get(script, 0.0) < _SURE * (sum(weights.values()) or 1.0):
        return False
    languages = written_in(script)
    if len(languages) == 1:
        return weights[script] >= _SURE_LETTERS
    counts = _counts(languages, script, text.lower().replace("’", "'"))
    others = max(count for other, count in counts.items() if other != language)
    return counts[language] >= max(_SURE_WORDS, 3 * others)


def _counts(languages: tuple[str, ...], script: Script, lowered: str) -> dict[str, int]:
    """How many words of the text speak for each language."""
    counts = dict.fromkeys(languages, 0)
    for word, times in Counter(_WORDS[script].findall(lowered)).items():
        for language in _marked_as(word, languages):
            counts[language] += times
    return counts


def _among(languages: tuple[str, ...], script: Script, text: str) -> str:
    """Function words decide when they clearly can; the statistical model is only loaded for the rest."""
    lowered = text.lower().replace("’", "'")
    counts = _counts(languages, script, lowered)
    first, second = sorted(languages, key=lambda language: -counts[language])[:2]
    if counts[first] >= 2 * counts[second] + 1:
        return first
    if not counts[first] and len(_WORDS[script].findall(lowered)) >= _LONG:
        return UNDETERMINED
    found = _detector(languages).detect_language_of(lowered)
    if found is not None:
        return found.iso_code_639_1.name.lower()
    return FALLBACK if FALLBACK in languages else languages[0]


@lru_cache(maxsize=65536)
def _marked_as(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the languages that the word speaks for: a function word, an elision or a contraction of theirs."""
    found: list[str] = []
    for language in languages:
        words, beginnings, endings = _marks(language)
        if word in words or word.startswith(beginnings) or word.endswith(endings):
            found.append(language)
    return tuple(found)


@cache
def _marks(language: str) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    tables = of(language).identity
    return words_in(tables.function_words), tuple(tables.beginnings.split()), tuple(tables.endings.split())


@cache
def _detector(languages: tuple[str, ...]) -> "LanguageDetector":
    # Imported here because its models cost tens of megabytes that most runs never need.
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    codes = (IsoCode639_1.from_str(language) for language in languages)
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).build()
