"""Which of the five languages a text is in: by script first, by words only between English and French.

Markers, addresses and code are not language and are left out; a text with nothing else is `und`.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from index.languages import UNDETERMINED

if TYPE_CHECKING:
    from lingua import LanguageDetector


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_LANGUAGE = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\S+|`[^`]*`|[\[［【][\d٠-٩０-９\s,،、，;–-]{1,40}[\]］】]")
_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
_HAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002fa1f]")
_KANA = re.compile(r"[\u3041-\u309f\u30a0-\u30ff]")
_ARABIC = re.compile(r"[\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\ufb50-\ufdff\ufe70-\ufefc]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")

# Letters of one script that say about as much as one of another: an English name in a Korean sentence has many letters.
_WEIGHTS: Final = {"ko": 3.5, "zh": 3.5, "ar": 1.2, "latin": 1.0}

_WORD = re.compile(r"[a-zà-ÿœ]+(?:['’][a-zà-ÿœ]+)?")
_ENGLISH: Final = _words(
    """
    the of and to in is was were are be been has have had that this these those it its he she they his her their
    with for from by at as an or not but which who what when where why how does did do can could will would should
    may might must there than then about into over after before between you your we our i my me if so any all some
    no
    """
)
_FRENCH: Final = _words(
    """
    le la les un une des du de et est sont était étaient été a ont au aux en dans par pour avec sur sous qui que
    quoi dont où quand comment pourquoi quel quelle quels quelles il elle ils elles on nous vous je tu ce cet
    cette ces son sa ses leur leurs ne pas plus ou mais si être avoir peut doit faut sans entre vers chez y se lui
    même aussi très
    """
)
_ELIDED: Final = ("l'", "d'", "qu'", "c'", "n'", "s'", "j'", "m'", "t'")
_ENGLISH_ENDS: Final = ("'s", "n't", "'re", "'ve", "'ll")


def detect(text: str) -> str:
    """The language of `text`: `ko`, `en`, `zh`, `fr`, `ar`, or `und` when it has no letters of these."""
    weights = _script_weights(text)
    best = max(weights, key=lambda script: weights[script])
    if weights[best] == 0:
        return UNDETERMINED
    return _english_or_french(text) if best == "latin" else best


def share_of(text: str, language: str) -> float:
    """How much of the text's letters is in the script of `language`, 0 to 1; 1 for a text without letters."""
    weights = _script_weights(text)
    total = sum(weights.values())
    script = "latin" if language in ("en", "fr") else language
    return weights.get(script, 0.0) / total if total else 1.0


def _script_weights(text: str) -> dict[str, float]:
    text = _NOT_LANGUAGE.sub(" ", text)
    if text.isascii():
        return {"latin": float(len(_LATIN.findall(text)))}
    counts = {
        "ko": len(_HANGUL.findall(text)),
        "zh": 0 if _KANA.search(text) else len(_HAN.findall(text)),
        "ar": len(_ARABIC.findall(text)),
        "latin": len(_LATIN.findall(text)),
    }
    # Korean writes some words in Han characters; Chinese never writes Hangul.
    if counts["ko"] and counts["ko"] * 2 >= counts["zh"]:
        counts["zh"] = 0
    return {script: count * _WEIGHTS[script] for script, count in counts.items()}


def _english_or_french(text: str) -> str:
    """Function words decide when they clearly can; the statistical model is only loaded for what is left."""
    lowered = _NOT_LANGUAGE.sub(" ", text).lower().replace("’", "'")
    english = french = 0
    for word in _WORD.findall(lowered):
        english += word in _ENGLISH or word.endswith(_ENGLISH_ENDS)
        french += word in _FRENCH or word.startswith(_ELIDED)
    if max(english, french) >= 2 * min(english, french) + 1:
        return "en" if english > french else "fr"
    found = _detector().detect_language_of(lowered)
    return found.iso_code_639_1.name.lower() if found is not None else "en"


@cache
def _detector() -> "LanguageDetector":
    # Imported here because its models cost tens of megabytes that most runs never need.
    from lingua import Language, LanguageDetectorBuilder

    return LanguageDetectorBuilder.from_languages(Language.ENGLISH, Language.FRENCH).build()
