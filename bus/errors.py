"""The ways an actor or a power may fail. Anything else is a bug and propagates.

A failure's message is one line for a person: what is wrong, where, and the likely remedy.
"""


class Failure(Exception):
    """The work could not be done; the actor's fallback answers instead."""


class NoReply(Failure):
    """The model gave no reply before the deadline."""


class BadReply(Failure):
    """The model replied, but not in the prompt's output schema."""


class Unavailable(Failure):
    """The index or the engine is not there yet; the message comes again after a delay."""


class Busy(Unavailable):
    """The device is there but cannot start this soon; it is asked again, and another device may take it."""


class Poison(Exception):
    """A message that cannot be decoded or breaks an invariant; it is kept aside and its run ends with an error."""
