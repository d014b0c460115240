"""Find whether a Chinese question names things that the documents do not say.

Chinese has no spaces, so two characters that occur nowhere may be a missing word or the border of two words. At the ends of a
run of characters between words of grammar they are a word.
"""

import re
from collections.abc import Iterable
from typing import Final

from index.languages import every
from index.languages.scripts import is_han
from index.languages.words import written

#: The share of the runs that are not said.
_MOST: Final = 0.5
_LIGHT: Final = re.compile(
    "|".join(map(re.escape, every(lambda language: language.questions.wording.light.split()))) or r"(?!)"
)


def unsaid(question: str, texts: Iterable[str], *, only_first: bool = False) -> bool:
    """Whether what the question names first, its subject, or half of all that it names is in none of the texts."""
    said = "\n".join(texts)
    runs = [run for run in written(_LIGHT.sub(" ", question)) if is_han(run[:1])]
    missing = [run for run in runs if run[:2] not in said or run[-2:] not in said]
    first = bool(runs) and runs[0][:2] not in said
    return first or (not only_first and bool(missing) and len(missing) >= _MOST * len(runs))
