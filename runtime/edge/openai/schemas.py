"""The fields that OpenAI clients send and expect and that mean something here; any other field is ignored."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from bus.messages import NearPassage, Reference
from index.filters import Filter
from prompts.vocabulary import Language, Release, Style, Urgency, Voice

#: `content_filter`: the final check withdrew the answer.
Finish = Literal["stop", "content_filter"]


class Part(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class ChatMessage(msgspec.Struct, frozen=True):
    """A message; those of system and developer are ignored, since the profile says how to answer."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | tuple[Part, ...] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, tuple):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool = False


class ChatAsked(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `POST /v1/chat/completions`. `model` names a profile; the last seven fields are Groundwire's own additions."""

    model: str
    messages: Annotated[tuple[ChatMessage, ...], Meta(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    style: Style | None = None
    language: Language | None = None
    release: Release | None = None
    voice: Voice | None = None
    filter: Filter | None = None
    priority: Urgency = "interactive"
    deadline_s: Annotated[float, Meta(gt=0, le=3600)] | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of all the calls behind an answer, as the engine counts them."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Said(msgspec.Struct, frozen=True, kw_only=True):
    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    message: Said
    index: int = 0
    finish_reason: Finish = "stop"
    logprobs: None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """An answer in one piece. `references`, `passages` and `outcome` are Groundwire's own."""

    id: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: Usage
    references: tuple[Reference, ...]
    passages: tuple[NearPassage, ...]
    outcome: str
    object: Literal["chat.completion"] = "chat.completion"


class Delta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    role: Literal["assistant"] | None = None
    content: str | None = None


class ChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    delta: Delta
    index: int = 0
    finish_reason: Finish | None = None


class Chunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of an answer; the last one carries `references` or `passages`, which are Groundwire's own."""

    id: str
    object: str
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: Usage | None = None
    references: tuple[Reference, ...] | None = None
    passages: tuple[NearPassage, ...] | None = None


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "groundwire"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    data: tuple[ModelCard, ...]
    object: Literal["list"] = "list"


class ChatErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    type: str
    code: str
    param: str | None = None


class ChatError(msgspec.Struct, frozen=True, kw_only=True):
    error: ChatErrorBody
