"""A text without its markup, so that a sentence and its evidence are read alike.

Links and reference links leave their words, images, footnotes and tags nothing, entities their characters. Emphasis stays, since
no comparison depends on it.
"""

import html
import re
from functools import lru_cache
from typing import Final

_WORDS: Final = r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"
_TARGET: Final = r"\(\s*(?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
_IMAGE = re.compile(rf"!{_WORDS}(?:{_TARGET}|\[[^\[\]]*\])[ ]?")
_LINK = re.compile(rf"{_WORDS}{_TARGET}")
_REFERENCE = re.compile(r"\[([^\[\]^\d][^\[\]]*)\]\[(?!\s?\^?\d)[^\[\]]*\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]*[^\[\]\s\d][^\[\]\s]*\]")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_TAG = re.compile(r"</?[a-z][a-z0-9-]*(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))*\s*/?>", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.I)


@lru_cache(maxsize=1024)
def without_markup(text: str) -> str:
    """`text` as a reader sees it; the words of a link that is a citation marker keep their brackets."""
    if "[" in text:
        text = _IMAGE.sub("", text)
        text = _LINK.sub(lambda match: f"[{match[1]}]" if _is_number(match[1]) else match[1], text)
        text = _FOOTNOTE.sub("", _REFERENCE.sub(r"\1", text))
    if "<" in text:
        text = _TAG.sub("", _COMMENT.sub("", text))
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return text


def _is_number(words: str) -> bool:
    return words.strip().lstrip("^").isdecimal()
