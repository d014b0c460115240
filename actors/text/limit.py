"""End an answer after the tokens that its request allows.

Only checked text is cut: a sentence is checked whole, and then its beginning is shown. A sentence cut in the middle ends in an
ellipsis, since its beginning alone may mislead.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from bus.powers.events import tokens_of
from bus.wire.parts import Constraints
from index.text.citations import strip_markers
from prompts.vocabulary import Cut

#: A token of the stream is at most about this many tokens of a model.
MODEL_TOKENS: Final = 4
#: Tokens that a model may write beyond the limit, so that the last sentence can be checked whole.
SENTENCE_TOKENS: Final = 160
ELLIPSIS: Final = "…"
_ENDS: Final = ".!?…:;。！？؟।"
_CLOSING: Final = " \t\n\"'*_)”’»」』）"
_TAIL: Final = 200


def ends_sentence(text: str) -> bool:
    return strip_markers(text).rstrip(_CLOSING).endswith(tuple(_ENDS))


class TextLimit:
    """Lets tokens through until the limit. `cut`: why the rest was not shown; unset while everything was."""

    def __init__(self, constraints: Constraints, before: str = "") -> None:
        """`before`: the text shown already, which counts."""
        most = constraints.max_tokens
        self.cut: Cut | UnsetType = UNSET
        self._left = None if most is None else most - _count(tokens_of(before))
        self._tail = before[-_TAIL:]

    def take(self, tokens: Sequence[str]) -> list[str]:
        """The tokens that can be shown now."""
        if self.cut is not UNSET:
            return []
        if self._left is None:
            return list(tokens)
        kept: list[str] = []
        for token in tokens:
            if not self._left and token.strip():
                self.cut = "length"
                if not ends_sentence(self._tail):
                    kept.append(ELLIPSIS)
                break
            self._left -= bool(token.strip())
            self._tail = (self._tail + token)[-_TAIL:]
            kept.append(token)
        return kept


def limited(text: str, constraints: Constraints) -> tuple[str, Cut | UnsetType]:
    """A whole text up to its limit, and why the rest of it is not shown."""
    limit = TextLimit(constraints)
    tokens = limit.take(tokens_of(text))
    return (text if limit.cut is UNSET else "".join(tokens).rstrip()), limit.cut


def tokens_in(text: str) -> int:
    """The tokens of a shown text that count against a limit; the ellipsis of a cut does not."""
    return _count(tokens_of(text.removesuffix(ELLIPSIS)))


def most_of_model(constraints: Constraints) -> int:
    """The tokens that a model may write for a limited answer; 0 for the prompt's own limit."""
    most = constraints.max_tokens
    return 0 if most is None else MODEL_TOKENS * most + SENTENCE_TOKENS


def _count(tokens: Sequence[str]) -> int:
    return sum(bool(token.strip()) for token in tokens)
