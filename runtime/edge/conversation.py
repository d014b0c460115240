"""The conversation before a question: as many of its last turns as a question takes, each as long as it may be."""

from collections.abc import Iterable

from msgspec.structs import replace

from bus.wire.messages import Turn

#: How many turns of the conversation a question keeps, and how many characters of each.
TURNS = 50
TURN_CHARS = 4000


def history_of(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The last turns with text, in order."""
    spoken = [turn for turn in turns if turn.content]
    return tuple(replace(turn, content=turn.content[:TURN_CHARS]) for turn in spoken[-TURNS:])
