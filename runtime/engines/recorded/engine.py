"""The engine of replay: every reply comes from a trace, found by its prompt and variables."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from bus.errors import BadReply
from prompts.contracts import Prompt
from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.scripted.playback import play, words

type Variables = Prompt[Any] | Mapping[str, Any]


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One reply of a trace: the prompt's name, its variables as they were or as JSON has them, the reply's text."""

    name: str
    variables: Variables
    text: str


def key(name: str, variables: Variables) -> tuple[str, bytes]:
    """What finds a reply again: canonical JSON, so that a Struct and its decoded JSON give the same."""
    return name, msgspec.json.encode(msgspec.to_builtins(variables), order="sorted")


class RecordedEngine:
    """Of two records with the same prompt and variables the later counts."""

    name = "recorded"
    needs_rendering = False

    def __init__(self, records: Iterable[Recording], *, model: str = "recording") -> None:
        self.model = model
        self._replies = {key(record.name, record.variables): record.text for record in records}

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        text = self._find(request)
        pieces = words(text) if request.variables.reply is str else [text]
        for event in play(request, pieces, engine=self.name, model=self.model):
            yield event

    async def score(self, request: Request, continuations: Sequence[str]) -> list[float]:
        raise BadReply(f"the recording holds no scores for {request.variables.name}; replay it with a model engine")

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        raise BadReply("the recording holds no embeddings; replay with the recorded hits")

    def _find(self, request: Request) -> str:
        name, variables = key(request.variables.name, request.variables)
        if (name, variables) not in self._replies:
            start = variables[:200].decode(errors="ignore")
            raise BadReply(f"no reply recorded for {name} with {start}; the inputs differ from those of the trace")
        return self._replies[name, variables]
