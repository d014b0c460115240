"""Codes and article numbers, which analyzers cut to pieces, as words that every analyzer leaves alone.

`ISO-9001`, `제6장`, `第十五条`, `Article L. 123-4`, `المادة 15` each become one word of letters that stands for the whole; the same
words are added to a passage and to a question. What is written differently but means the same becomes the same word.
"""

import hashlib
import re
import unicodedata

from index.languages.numerals import characters_worth

_LETTERS = "bcdfghjklmnpqrstvwxz"
_WORD_LENGTH = 14

_ARABIC_DIGITS = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "0123456789" * 2)
_HAN_NUMBER = "[0-9零〇一二三四五六七八九十百千]+"
_CHINESE = re.compile(rf"第\s*({_HAN_NUMBER})\s*([编章节条款项])(?:之({_HAN_NUMBER}))?")
_KOREAN = re.compile(r"제\s*(\d+)\s*([편장절관조항호목])(?:의\s*(\d+))?")
_ARTICLE = re.compile(
    r"\b(articles?|art\.|sections?|chapters?|chapitres?|annexes?|annex|appendix|clauses?|table|tableau|figure|step|étape)"
    r"\s+((?:[a-z]{1,2}\.?\s?)?\d+(?:[.-]\d+)*[a-z]?)\b"
)
_ARABIC = re.compile(r"(?:ال)?(مادة|فصل|باب|بند|فقرة|جدول|ملحق)\s*\(?\s*(\d+(?:[.-]\d+)*)")
# Letters and digits in one word, joined by nothing or by one of - . / _ ; at least one of each.
_CODE = re.compile(r"(?<![a-z0-9])(?=[a-z0-9./_-]*\d)(?=[a-z0-9./_-]*[a-z])[a-z0-9]+(?:[./_-][a-z0-9]+)*(?![a-z0-9])")
_NUMBERED = re.compile(r"(?<![\w.,-])\d+(?:[.-]\d+){2,}(?![\w-])")
_SEPARATORS = re.compile(r"[\s./_-]+")

_KINDS = {"articles": "article", "art.": "article", "sections": "section", "chapters": "chapter", "chapitre": "chapter",
          "chapitres": "chapter", "annexes": "annex", "annexe": "annex", "clauses": "clause", "tableau": "table",
          "étape": "step"}  # fmt: skip


def code_words(text: str) -> list[str]:
    """One letters-only word for every code in `text`, in order, without repeats."""
    text = unicodedata.normalize("NFKC", text).lower().translate(_ARABIC_DIGITS)
    found: dict[str, None] = {}
    for match in _CHINESE.finditer(text):
        _note(
            found, f"第{characters_worth(match[1])}{match[2]}" + (f"之{characters_worth(match[3])}" if match[3] else "")
        )
    for match in _KOREAN.finditer(text):
        _note(found, f"제{match[1]}{match[2]}" + (f"의{match[3]}" if match[3] else ""))
    for match in _ARTICLE.finditer(text):
        _note(found, f"{_KINDS.get(match[1], match[1])} {_SEPARATORS.sub('', match[2])}")
    for match in _ARABIC.finditer(text):
        _note(found, f"{match[1]} {match[2]}")
    for pattern in (_CODE, _NUMBERED):
        for match in pattern.finditer(text):
            _note(found, _SEPARATORS.sub("", match[0]))
    return list(found)


def _note(found: dict[str, None], code: str) -> None:
    digest = hashlib.blake2b(code.encode("utf-8", "replace"), digest_size=16).digest()
    found["".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_WORD_LENGTH])] = None
