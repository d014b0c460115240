"""The words of a text as the rules compare them: folded, without clitics, particles and endings, in five languages.

The script of a word decides how it is cut, not a language label: a Korean question that names `Lucene` is compared as
both. Stems are for comparing only and are never shown.
"""

import re
import unicodedata
from functools import lru_cache

from runtime.engines.extractive.lexicon import AFTER_ONE_SYLLABLE, FUNCTION_WORDS, KOREAN_ENDINGS, KOREAN_FUNCTION_STEMS

_TOKEN = re.compile(
    r"\d+(?:[.,٫٬]\d+)*"  # a number with its separators
    r"|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"  # Chinese characters
    r"|[\uac00-\ud7a3]+"  # Korean syllables
    r"|[\u0620-\u065f\u066e-\u06d3\u06d5-\u06ff]+"  # Arabic letters and their marks
    r"|[^\W\d_\u0620-\u06ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+"  # any other letters
)
_ARABIC_MARKS = re.compile(r"[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640]")
_ARABIC_FOLD = str.maketrans("أإآٱىةؤئ", "اااايهوي")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def fold(text: str) -> str:
    """Compatibility forms, case, accents of Latin letters, Arabic marks and spelling variants made one."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _ARABIC_MARKS.sub("", text).translate(_ARABIC_FOLD)
    if text.isascii():
        return text
    return "".join(_plain(c) for c in text)


def terms(text: str) -> list[str]:
    """The content words of `text` in order, stemmed; Chinese as character pairs. Function words are left out."""
    found: list[str] = []
    for word in _TOKEN.findall(fold(text)):
        if _HAN.match(word):
            found += _chinese(word)
        elif word not in FUNCTION_WORDS and (found_stem := stem(word)) not in KOREAN_FUNCTION_STEMS:
            found.append(found_stem)
    return found


def grams(text: str) -> set[str]:
    """Overlapping pieces of the words of `text`: three letters, or two syllables or characters, with word starts marked.

    They forgive what stemming misses: compounds, transliterations, irregular forms.
    """
    pieces: set[str] = set()
    for word in _TOKEN.findall(fold(text)):
        if word in FUNCTION_WORDS:
            continue
        size = 2 if _HAN.match(word) or "\uac00" <= word[0] <= "\ud7a3" else 3
        marked = f"^{word}" if size == 3 else word
        pieces.update(marked[i : i + size] for i in range(max(1, len(marked) - size + 1)))
    return pieces


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """One folded word without its ending; never empty."""
    first = word[0]
    if first.isdigit():
        return word.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word) else word
    if "\uac00" <= first <= "\ud7a3":
        return _korean(word)
    if "\u0620" <= first <= "\u06ff":
        return _arabic(word)
    return _latin(word)


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    """Latin letters without accents; every other character as it is (Korean would fall apart)."""
    if character < "\u00c0" or character > "\u024f":
        return character
    return "".join(c for c in unicodedata.normalize("NFD", character) if not unicodedata.combining(c))


def _chinese(run: str) -> list[str]:
    for word in CHINESE_FUNCTION:
        run = run.replace(word, " ")
    pieces: list[str] = []
    for part in run.split():
        pieces += [part[i : i + 2] for i in range(len(part) - 1)] or [part]
    return pieces


def _korean(word: str) -> str:
    for ending in KOREAN_ENDINGS:  # longest first
        least = 2 if len(ending) == 1 and ending not in AFTER_ONE_SYLLABLE else 1
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word


def _arabic(word: str) -> str:
    for prefix in _ARABIC_PREFIXES:  # longest first
        if word.startswith(prefix) and len(word) - len(prefix) >= 3:
            word = word[len(prefix) :]
            break
    else:
        if (word[0] in "وف" and len(word) >= 5) or (word[0] in "بلكس" and len(word) >= 6):
            word = word[1:]
    for suffix in _ARABIC_SUFFIXES:  # longest first
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def _latin(word: str) -> str:
    """A light stemmer for English and French together: plurals, verb and adjective endings, double letters."""
    if len(word) <= 3:
        return word
    for suffix, least, put in _LATIN_ENDINGS:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)] + put
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 4 and word[-1] in "ei":
        word = word[:-1]
    return word


_ARABIC_PREFIXES = ("وبال", "وكال", "وال", "فال", "بال", "كال", "ولل", "لل", "ال")
_ARABIC_SUFFIXES = (
    "هما", "تهم", "تها", "ات", "ون", "ين", "ان", "ها", "هم", "هن", "نا", "وا", "يه", "ته", "ه", "ي", "ا",
)  # fmt: skip
_LATIN_ENDINGS = (
    ("issements", 3, ""), ("issement", 3, ""), ("ications", 3, "ic"), ("ication", 3, "ic"), ("izations", 3, "iz"),
    ("ization", 3, "iz"), ("isations", 3, "iz"), ("isation", 3, "iz"), ("ements", 3, ""), ("ement", 4, ""),
    ("ations", 3, "at"), ("ation", 3, "at"), ("ingly", 3, ""), ("ables", 3, ""), ("ibles", 3, ""), ("ssions", 3, "ss"),
    ("tions", 3, "t"), ("tion", 3, "t"), ("sion", 3, "s"), ("aient", 3, ""), ("eront", 3, ""), ("euses", 3, "eu"),
    ("euse", 3, "eu"), ("ities", 3, ""), ("ives", 3, "iv"), ("iers", 4, "i"), ("ies", 2, "y"), ("ied", 2, "y"),
    ("ing", 3, ""), ("edly", 3, ""), ("aux", 3, "al"), ("ely", 3, ""), ("ity", 4, ""), ("ees", 3, ""), ("ants", 4, ""),
    ("ant", 4, ""),
    ("ait", 3, ""), ("ers", 4, "er"), ("ly", 3, ""), ("ed", 3, ""), ("es", 3, ""), ("'s", 2, ""),
    ("ee", 3, ""), ("er", 4, ""), ("ez", 4, ""), ("ss", 2, "ss"), ("us", 3, "us"), ("is", 3, "is"), ("s", 3, ""),
)  # fmt: skip

#: Longest first; cut out of a run of characters before it is paired.
CHINESE_FUNCTION = (
    "为什么", "是什么", "怎么样", "什么时候", "是否", "什么", "怎么", "怎样", "如何", "哪些", "哪个", "哪里", "哪儿", "哪年",
    "多少", "几个", "几年", "谁", "哪", "吗", "呢", "吧", "的", "了", "着", "在", "是", "和", "与", "及", "或", "被", "把",
    "也", "都", "就", "而", "之", "其", "这", "那", "以", "于", "对", "从", "到", "由", "为", "有", "个",
)  # fmt: skip
