"""Recognise headings and questions, which share the words of what is asked but never answer it."""

import re

from index.languages import every, union

_LAST_LETTERS = "".join(every(lambda language: language.noise.last_letters))
# Short, without a full stop, and not a row of a table or a list of facts.
_HEADING = re.compile(rf"^(?=.{{1,40}}$)[^|:：=\d]*[^|:：=\d.!?。！？؟…{_LAST_LETTERS}」”\"')]$")
_ARTICLE = re.compile(
    rf"^(?:\d+[.:]|{union(lambda language: language.noise.article_headings).pattern})[^.。]{{0,30}}[^.!?。！？؟…|]$"
)
_ASKS = re.compile(r"[?？؟]\s*$")


def says_nothing(sentence: str) -> bool:
    """Whether the sentence is a heading or a question."""
    plain = sentence.strip("#*>-• \t\n")
    return bool(_HEADING.search(plain) or _ARTICLE.search(plain) or _ASKS.search(plain))
