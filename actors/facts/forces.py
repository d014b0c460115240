"""Duties, advice, permissions, bans and limits in a text, and the pairs of them that exclude each other."""

from typing import Final

import msgspec

from actors.facts.lexicon import Term, terms
from index.languages.negation import negations

_NEGATED: Final = {
    "duty": "choice",
    "permission": "ban",
    "ban": "permission",
    "recommendation": "warning",
    "at_least": "at_most",
    "at_most": "at_least",
}
_EXCLUDES: Final = {
    "duty": ("recommendation", "permission", "ban", "choice"),
    "recommendation": ("duty", "ban", "warning"),
    "permission": ("ban", "duty"),
    "ban": ("permission", "duty", "recommendation"),
    "choice": ("duty",),
    "warning": ("recommendation", "duty"),
    "at_least": ("at_most",),
    "at_most": ("at_least",),
}
SPOKEN: Final = {
    "duty": "a duty",
    "recommendation": "a recommendation",
    "permission": "a permission",
    "ban": "a ban",
    "choice": "no duty",
    "warning": "advice against",
    "at_least": "a lower limit",
    "at_most": "an upper limit",
}


class Force(msgspec.Struct, frozen=True):
    """`name` is a key of SPOKEN; a negated force has the name of its contrary."""

    name: str
    term: Term


def forces(text: str, language: str) -> list[Force]:
    """The duties, advice, permissions and bans of the text, each with its term."""
    result: list[Force] = []
    turned = negations(text, language)
    for term in terms(text, language):
        for sense in term.senses:
            if sense.role not in _NEGATED:
                continue
            # A ban's own negator ("must not", 수 없) does not reverse it again.
            reversed_here = any(
                one.start <= term.start < one.end and not term.start <= one.at < term.end for one in turned
            )
            result.append(Force(_NEGATED[sense.role] if reversed_here else sense.role, term))
    return result


def exclude(force: str, other: str) -> bool:
    """Whether something with the one force cannot have the other."""
    return other in _EXCLUDES[force]
