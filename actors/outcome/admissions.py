"""Recognise an admission of uncertainty: "I don't know", "the documents do not say".

An admission needs no citation. A sentence that goes on to claim something ("but …"), or that cites, is not an admission.
"""

import re
from collections.abc import Sequence
from typing import Final

from bus.wire.parts import Flag, Sentence
from index.languages import union
from index.languages.characters import normal
from index.text.citations import markers

LONGEST: Final = 240
#: Flags that apply to a claim but not to an admission, which by its nature denies and cites nothing.
EXCUSED: Final = frozenset({"uncited", "unverified", "reversed_term"})
_SAYS: Final = union(
    lambda language: [
        *(pattern.replace("SOURCES", language.terms.admissions.sources) for pattern in language.terms.admissions.says),
        re.escape(normal(language.notices["replies"]["closest"])),
    ],
    re.NOFLAG,
)
_GOES_ON: Final = union(lambda language: language.terms.admissions.goes_on, re.NOFLAG)


def is_admission(sentence: str) -> bool:
    """Whether a sentence only states that the answer is unknown or not in the sources."""
    if len(sentence) > LONGEST or markers(sentence):
        return False
    text = normal(sentence).strip()
    return bool(_SAYS.search(text)) and not _GOES_ON.search(text)


def excused(sentence: str, flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """The flags without those that only come from being an admission."""
    if not any(flag.kind in EXCUSED for flag in flags) or not is_admission(sentence):
        return flags
    return tuple(flag for flag in flags if flag.kind not in EXCUSED)


def admits(sentences: Sequence[Sentence]) -> bool:
    """Whether an answer is nothing but an admission, apart from questions and headings."""
    texts = [s.text.strip() for s in sentences if any(map(str.isalnum, s.text))]
    return any(map(is_admission, texts)) and all(is_admission(text) or _claims_nothing(text) for text in texts)


def _claims_nothing(text: str) -> bool:
    return not markers(text) and (text.endswith(("?", "？", "؟", ":", "：")) or text.startswith("#"))
