"""The ways an actor or a power may fail. Any other exception is a bug and propagates.

A failure's message is one line for a person: the fault, its place, and the likely remedy.
"""


class Failure(Exception):
    """The work could not be done; the actor's fallback answers instead."""


class NoReply(Failure):
    """The model gave no reply before the deadline."""


class BadReply(Failure):
    """The model replied, but not in the prompt's output schema."""


class Unavailable(Failure):
    """The index or the engine is not ready yet; the message is redelivered after a delay."""


class Busy(Unavailable):
    """The device is there but cannot start soon; the client asks again, and another device may take the request."""


class Poison(Exception):
    """A message that cannot be decoded or breaks an invariant; it is set aside and its run ends with an error."""


class Invalid(Poison):
    """A question that cannot be asked; the client gets the sentence and `code`, which is stable."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
