"""The words that only mark a sentence as a question: what, who, how many.

Passages contain answers, not questions, so these words are rare in them; weighted by rarity, they would count for more than
the words asked about. Capital letters keep a word that is a name (the WHO, The Who).
"""

import re
from functools import lru_cache

from index.languages import union

_WHOLE = union(lambda language: language.search.question_words).pattern
_PIECES = union(lambda language: language.search.question_pieces).pattern
_QUESTION_WORD = re.compile(rf"(?<!\w)(?:{_WHOLE})(?!\w)|{_PIECES}", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|[.?!:;¿¡(«“\"–—-])\W*$")


@lru_cache(maxsize=256)  # a question is asked of several rules
def without_question_words(question: str) -> str:
    """The question without these words; unchanged if nothing else would be left."""
    shouted = question.isupper()

    def drop(found: re.Match[str]) -> str:
        word = found[0]
        if word[0].isupper() and not shouted and (word.isupper() or not _BEGINS.search(question[: found.start()])):
            return word
        return " "

    left = _QUESTION_WORD.sub(drop, question)
    return left if any(map(str.isalnum, left)) else question
