"""Headings and questions: they have the words of what is asked, and never the answer."""

import re

# Short, without a full stop, and no row of a table or list of facts.
_HEADING = re.compile(
    r"^(?=.{1,40}$)[^|:：=\d]*[^|:：=\d.!?。！？؟…다요」”\"')]$"
    r"|^(?:第?\d+[条章.:]|제\d+[조장]|المادة \d+)[^.。]{0,30}[^.!?。！？؟…|]$"
)
_ASKS = re.compile(r"[?？؟]\s*$")


def says_nothing(sentence: str) -> bool:
    """Whether it is a heading or a question."""
    plain = sentence.strip("#*>-• \t\n")
    return bool(_HEADING.search(plain) or _ASKS.search(plain))
