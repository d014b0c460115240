"""Sentences that repeat the instructions of our own prompts, or the marks of a chat template."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from index.languages.folding import normal
from prompts.instructions import INSTRUCTIONS, STRUCTURE

_WORD: Final = re.compile(r"\w+")
_RUN: Final = 4  # words
#: A sentence repeats instructions when so many of its runs of words, and so large a share of them, stand in them.
_FEWEST: Final = 2
_SHARE: Final = 0.5
_ROLE: Final = re.compile(
    r"^\s*(?:#{1,6}\s*(?:system|instructions?|response|input)\s*:?\s*$|(?:human|assistant)\s*:)", re.I | re.M
)

type Run = tuple[str, ...]


def prompt_lines(sentence: str, evidence: Sequence[str]) -> str:
    """The words that come from a prompt and from no evidence; empty for none."""
    if marks := [*STRUCTURE.marks(sentence), *(found[0].strip() for found in _ROLE.finditer(sentence))]:
        known = "\n".join([*evidence, *(mark for text in evidence for mark in STRUCTURE.marks(text))]).casefold()
        if foreign := [mark for mark in marks if mark.casefold() not in known]:
            return ", ".join(foreign)
    runs = _runs(sentence)
    if len(runs) < _FEWEST:
        return ""
    repeated = [run for run in runs if run in _INSTRUCTIONS]
    if len(repeated) < max(_FEWEST, _SHARE * len(runs)):
        return ""
    foreign_runs = [run for run in repeated if not any(run in _known(text) for text in evidence)]
    if len(foreign_runs) < max(_FEWEST, _SHARE * len(runs)):
        return ""
    return " ".join(foreign_runs[0])


def _runs(text: str) -> list[Run]:
    words = _WORD.findall(normal(text))
    return [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]


_INSTRUCTIONS: Final = frozenset(run for line in INSTRUCTIONS for run in _runs(line))


@lru_cache(maxsize=512)
def _known(text: str) -> frozenset[Run]:
    return frozenset(_runs(text))
