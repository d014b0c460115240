"""Find the stretch of a text that a model copied, letter by letter or with a few other words.

Only the text's own words go on, so a stretch that was not meant costs less than one that is lost.
"""

import re
from difflib import SequenceMatcher
from typing import Final

from index.languages.characters import WIDE

#: A word, or a letter of a script without spaces.
_TOKEN: Final = re.compile(rf"[{WIDE}]|[^\W{WIDE}]+")
#: The share of the copy's letters that the text has in the same order.
_NEARLY: Final = 0.8


def exactly(copy: str, text: str) -> tuple[int, int] | None:
    """The stretch of a text that has these words, with any white space between them."""
    if not copy:
        return None
    if (start := text.find(copy)) >= 0:
        return start, start + len(copy)
    found = re.search(r"\s+".join(map(re.escape, copy.split())), text)
    return found.span() if found else None


def nearly(copy: str, text: str) -> tuple[int, int] | None:
    """The stretch that has nearly these words in this order; what it has between two of them is no longer than the copy."""
    mine, theirs = list(_TOKEN.finditer(copy)), list(_TOKEN.finditer(text))
    asked, given = ([match[0].casefold() for match in tokens] for tokens in (mine, theirs))
    *blocks, _ = SequenceMatcher(None, given, asked, autojunk=False).get_matching_blocks()
    if not blocks:
        return None
    ends = [(theirs[block.a].start(), theirs[block.a + block.size - 1].end()) for block in blocks]
    first = last = max(range(len(blocks)), key=lambda at: blocks[at].size)
    while first and ends[first][0] - ends[first - 1][1] <= len(copy):
        first -= 1
    while last + 1 < len(blocks) and ends[last + 1][0] - ends[last][1] <= len(copy):
        last += 1
    shared = sum(len(one[0]) for block in blocks[first : last + 1] for one in mine[block.b : block.b + block.size])
    return (ends[first][0], ends[last][1]) if shared >= _NEARLY * sum(len(one[0]) for one in mine) else None


def as_written(copy: str, texts: list[str]) -> str:
    """What one of the texts has in place of the copy; empty where none has it, or nearly."""
    found = ((text, place(copy.strip(), text)) for place in (exactly, nearly) for text in texts)
    return next((text[at[0] : at[1]] for text, at in found if at is not None), "")
