"""Sentences that repeat the instructions of our own prompts, or the marks of a chat template."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from actors.gate.thresholds import PROMPT_RUN_SHARE, PROMPT_RUN_WORDS, PROMPT_RUNS
from index.languages.characters import normal
from prompts.files import FOLDER, tags_of
from prompts.neutral import Neutral

_EXAMPLES = re.compile(r"^Examples:\n.*?(?=^\{\{|\Z)", re.M | re.S)
_FIELDS = re.compile(r"\{\{[^{}]*\}\}")
_SOURCES: Final = tuple(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.prompt")))


def _lines(source: str) -> list[str]:
    body = source.split("\n---\n", 1)[1] if source.startswith("---\n") else source
    return [line.strip() for line in _FIELDS.sub(" ", _EXAMPLES.sub("", body)).splitlines()]


#: The instructions to the model, of every prompt, without the examples, which are answers.
INSTRUCTIONS: Final = tuple(dict.fromkeys(line for source in _SOURCES for line in _lines(source) if line))
#: Finds the marks of chat templates and of our prompts in a text.
STRUCTURE: Final = Neutral(tags_of(_SOURCES))


_WORD: Final = re.compile(r"\w+")
_ROLE: Final = re.compile(
    r"^\s*(?:#{1,6}\s*(?:system|instructions?|response|input)\s*:?\s*$|(?:human|assistant)\s*:)", re.I | re.M
)

type Run = tuple[str, ...]


def prompt_lines(sentence: str, evidence: Sequence[str]) -> str:
    """The words that come from a prompt and from no evidence; empty for none."""
    if marks := [*STRUCTURE.marks(sentence), *(match[0].strip() for match in _ROLE.finditer(sentence))]:
        known = "\n".join([*evidence, *(mark for text in evidence for mark in STRUCTURE.marks(text))]).casefold()
        if foreign := [mark for mark in marks if mark.casefold() not in known]:
            return ", ".join(foreign)
    runs = _runs(sentence)
    if len(runs) < PROMPT_RUNS:
        return ""
    repeated = [run for run in runs if run in _INSTRUCTIONS]
    if len(repeated) < max(PROMPT_RUNS, PROMPT_RUN_SHARE * len(runs)):
        return ""
    foreign_runs = [run for run in repeated if not any(run in _known(text) for text in evidence)]
    if len(foreign_runs) < max(PROMPT_RUNS, PROMPT_RUN_SHARE * len(runs)):
        return ""
    return " ".join(foreign_runs[0])


def _runs(text: str) -> list[Run]:
    words = _WORD.findall(normal(text))
    return [tuple(words[at : at + PROMPT_RUN_WORDS]) for at in range(len(words) - PROMPT_RUN_WORDS + 1)]


_INSTRUCTIONS: Final = frozenset(run for line in INSTRUCTIONS for run in _runs(line))


@lru_cache(maxsize=512)
def _known(text: str) -> frozenset[Run]:
    return frozenset(_runs(text))
