"""A prompt as a model gets it; apart from library.py, whose parser takes long to load."""

from typing import Any

import msgspec


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt ready for a model; `system` is the same in every call of a prompt."""

    system: str
    user: str
    version: str  # digest of the prompt file and what it includes
    schema: dict[str, Any] | None  # None: free text
    temperature: float
    max_tokens: int
    model: str = ""  # this prompt's own model; empty for the engine's
    reasoning_effort: str = ""  # for reasoning models; may be empty
