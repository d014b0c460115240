"""Whether a shown text holds a gold string of a question, and how long the text is for a reader.

Markup, case, spacing and vowel signs are set aside; a bare number or word must stand by itself, so that 44 is not found in 440.
"""

import bisect
import html
import itertools
import re
import unicodedata
from collections.abc import Sequence

from index.languages.folding import TATWEEL
from index.text.passages import weigh

_TAG = re.compile(r"<[^>]{1,200}>")
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
_MARKS = re.compile(r"[`*_\[\]\\]")
_BARE = re.compile("[0-9a-z]+")


def comparable(text: str) -> str:
    """`text` as gold strings are compared."""
    text = _LINK_TARGET.sub("", _TAG.sub(" ", html.unescape(text)))
    text = unicodedata.normalize("NFKC", text).casefold()
    text = "".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf") and c != TATWEEL)
    return " ".join(_MARKS.sub("", text).split())


def holds(text: str, gold: str) -> bool:
    """Whether `text` holds the gold string; one without a letter or digit is never held."""
    have, want = comparable(text), comparable(gold)
    if _BARE.fullmatch(want):
        return re.search(f"(?<![0-9a-z]){want}(?![0-9a-z])", have) is not None
    return any(map(str.isalnum, want)) and want in have


def shows(text: str, gold: Sequence[str], also: Sequence[str] = ()) -> bool:
    """Whether one sentence or row holds a gold string and, where `also` is given, one of those too."""
    return any(holds(text, one) for one in gold) and (not also or any(holds(text, one) for one in also))


def unmarked(text: str) -> str:
    """`text` without Markdown marks, link targets and repeated spaces; line breaks stay."""
    text = _MARKS.sub("", _LINK_TARGET.sub("", text))
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def within(text: str, weights: float) -> str:
    """The beginning of an unmarked text that weighs at most `weights`."""
    return text[: bisect.bisect_right(list(itertools.accumulate(map(weigh, text))), weights)]
