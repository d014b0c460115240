"""The instructions of our own prompts, so that an answer that repeats them is recognised; read when this module is imported."""

import re
from typing import Final

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
