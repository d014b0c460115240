"""The fields that OpenAI clients send and expect and that mean something here; any other field is accepted without effect."""

from typing import Annotated, Any, Literal

import msgspec
from groundwire.wire import NearPassage, Reference
from msgspec import Meta

from bus.powers.events import Stretch
from index.filters import Filter
from prompts.vocabulary import Language, OnDisconnect, Release, Style, Urgency, Voice

#: `content_filter`: the final check withdrew the answer. `length`: `max_tokens` cut it.
Finish = Literal["stop", "length", "content_filter"]

#: Any JSON object, hence Any.
type Given = dict[str, Any]


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


class ResponseFormat(msgspec.Struct, frozen=True):
    type: str = "text"


class ChatAsked(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `POST /v1/chat/completions`. `model` names a profile; `style` to `on_disconnect` are ours."""

    model: str
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    n: int | None = None
    stop: str | tuple[str, ...] | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: Given | None = None
    style: Style | None = None
    language: Language | None = None
    release: Release | None = None
    voice: Voice | None = None
    filter: Filter | None = None
    priority: Urgency = "interactive"
    deadline_s: Annotated[float, Meta(gt=0, le=3600)] | None = None
    on_disconnect: OnDisconnect | None = None
    messages: Annotated[tuple[ChatMessage, ...], Meta(min_length=1)]
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    tool_choice: str | Given | None = None
    function_call: str | Given | None = None
    modalities: tuple[str, ...] | None = None
    audio: Given | None = None
    web_search_options: Given | None = None

    @property
    def includes_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def most_tokens(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """`prompt_tokens`: of all the calls behind an answer, as the engine counts them. `completion_tokens`: of what was sent, as
    `max_tokens` counts them.
    """

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class UrlCitation(msgspec.Struct, frozen=True, kw_only=True):
    """Where in the content a source is cited, in characters, and where it opens."""

    start_index: int
    end_index: int
    url: str
    title: str


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    url_citation: UrlCitation
    type: Literal["url_citation"] = "url_citation"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None
    annotations: tuple[Annotation, ...] = ()


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    message: Said
    index: int = 0
    finish_reason: Finish = "stop"
    logprobs: None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """An answer in one piece. `references`, `passages`, `outcome` and `unverified_at` are Groundwire's own.

    `unverified_at`: the sentences that go beyond their sources, as characters of the content; absent where there are none.
    """

    id: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: Usage
    references: tuple[Reference, ...]
    passages: tuple[NearPassage, ...]
    outcome: str
    unverified_at: tuple[Stretch, ...] | msgspec.UnsetType = msgspec.UNSET
    object: Literal["chat.completion"] = "chat.completion"


class Delta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: tuple[Annotation, ...] = ()


class ChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    delta: Delta
    index: int = 0
    finish_reason: Finish | None = None


class Chunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of an answer; the last one carries `references` or `passages`, and `unverified_at`, which are Groundwire's own."""

    id: str
    object: str
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: Usage | None = None
    references: tuple[Reference, ...] | None = None
    passages: tuple[NearPassage, ...] | None = None
    unverified_at: tuple[Stretch, ...] = ()


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "groundwire"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    data: tuple[ModelCard, ...]
    object: Literal["list"] = "list"


class ChatErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong; `param` is the field that it is wrong with."""

    message: str
    type: str
    code: str
    param: str | None = None


class ChatError(msgspec.Struct, frozen=True, kw_only=True):
    error: ChatErrorBody
