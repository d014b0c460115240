"""The requests and responses of /v1/responses: OpenAI's Responses API, as Open Responses describes it (openresponses.org).

The last seven fields of the request, and `references`, `passages` and `outcome` of the response, are Groundwire's own. The
events of its stream stand in `responses_events`.
"""

from typing import Annotated, Literal

import msgspec
from groundwire.wire import NearPassage, Reference
from msgspec import Meta

from bus.powers.events import Stretch
from index.filters import Filter
from prompts.vocabulary import Language, Release, Style, Urgency, Voice

Role = Literal["user", "assistant", "system", "developer"]
ItemStatus = Literal["in_progress", "completed", "incomplete"]
ResponseStatus = Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]
#: `max_output_tokens`: the answer was cut there. `content_filter`: the final check withdrew it.
Incomplete = Literal["max_output_tokens", "content_filter", "cancelled"]

# ---------------------------------------------------------------- the request


class InputPart(msgspec.Struct, frozen=True):
    """A part of an item's content; only text can be read."""

    type: str
    text: str = ""
    refusal: str = ""


class InputItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message, or a reference to one (`item_reference`, by its `id`)."""

    type: str = "message"
    role: Role | None = None
    content: str | tuple[InputPart, ...] | None = None
    id: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, tuple):
            return "\n".join(part.text or part.refusal for part in self.content)
        return self.content or ""


class TextFormat(msgspec.Struct, frozen=True):
    type: Literal["text", "json_object", "json_schema"] = "text"


class TextAsked(msgspec.Struct, frozen=True):
    format: TextFormat | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class ReasoningAsked(msgspec.Struct, frozen=True):
    effort: str | None = None
    summary: str | None = None


class ToolAsked(msgspec.Struct, frozen=True):
    type: str


class StreamAsked(msgspec.Struct, frozen=True):
    include_obfuscation: bool | None = None


class Anything(msgspec.Struct, frozen=True):
    """An object that is not looked into."""


MetadataKey = Annotated[str, Meta(max_length=64)]
MetadataValue = Annotated[str, Meta(max_length=512)]


class ResponseAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of `POST /v1/responses`. `model` names a profile; docs/http.md describes the effect of each parameter."""

    input: str | tuple[InputItem, ...]
    model: str | None = None
    stream: bool | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    background: bool | None = None
    max_output_tokens: Annotated[int, Meta(ge=16)] | None = None
    metadata: Annotated[dict[MetadataKey, MetadataValue], Meta(max_length=16)] | None = None
    service_tier: Literal["auto", "default", "flex", "priority", "scale"] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    text: TextAsked | None = None
    # Accepted without effect.
    instructions: str | None = None
    reasoning: ReasoningAsked | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    max_tool_calls: Annotated[int, Meta(ge=1)] | None = None
    parallel_tool_calls: bool | None = None
    safety_identifier: Annotated[str, Meta(max_length=64)] | None = None
    prompt_cache_key: Annotated[str, Meta(max_length=64)] | None = None
    prompt_cache_retention: str | None = None
    prompt_cache_options: Anything | None = None
    context_management: tuple[Anything, ...] | None = None
    user: str | None = None
    # Refused by name where a value would mean something else than what is done.
    tools: tuple[ToolAsked, ...] | None = None
    tool_choice: Literal["none", "auto", "required"] | Anything | None = None
    include: tuple[str, ...] | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    stream_options: StreamAsked | None = None
    conversation: str | Anything | None = None
    prompt: Anything | None = None
    moderation: Anything | None = None
    image: Anything | None = None
    access_programs: Anything | None = None
    # Groundwire's own.
    style: Style | None = None
    language: Language | None = None
    release: Release | None = None
    voice: Voice | None = None
    filter: Filter | None = None
    priority: Urgency | None = None
    deadline_s: Annotated[float, Meta(gt=0, le=3600)] | None = None


# ---------------------------------------------------------------- the response


class ResponseCitation(msgspec.Struct, frozen=True, kw_only=True):
    """A marker of the text, by its characters, and the source that it cites."""

    start_index: int
    end_index: int
    url: str
    title: str
    type: Literal["url_citation"] = "url_citation"


class OutputText(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="output_text"):
    text: str = ""
    annotations: tuple[ResponseCitation, ...] = ()
    logprobs: tuple[()] = ()


class OutputMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    status: ItemStatus
    content: tuple[OutputText, ...] = ()
    role: Literal["assistant"] = "assistant"
    type: Literal["message"] = "message"


class InputDetails(msgspec.Struct, frozen=True, kw_only=True):
    cached_tokens: int = 0


class OutputDetails(msgspec.Struct, frozen=True, kw_only=True):
    reasoning_tokens: int = 0


class ResponseUsage(msgspec.Struct, frozen=True, kw_only=True):
    """`input_tokens`: of all the calls behind an answer, as the engine counts them. `output_tokens`: of the text, as
    `max_output_tokens` counts them.
    """

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: InputDetails = InputDetails()
    output_tokens_details: OutputDetails = OutputDetails()


class ResponseError(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    message: str


class IncompleteDetails(msgspec.Struct, frozen=True, kw_only=True):
    reason: Incomplete


class ReasoningUsed(msgspec.Struct, frozen=True, kw_only=True):
    effort: None = None
    summary: None = None


class FormatUsed(msgspec.Struct, frozen=True, kw_only=True):
    type: Literal["text"] = "text"


class TextUsed(msgspec.Struct, frozen=True, kw_only=True):
    format: FormatUsed = FormatUsed()


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A response; `references` or `passages`, `outcome` and `unverified_at` are Groundwire's own, present once it has ended.

    `unverified_at`: the sentences that go beyond their sources, as characters of the text; absent where there are none.
    """

    id: str
    created_at: int
    status: ResponseStatus
    model: str
    output: tuple[OutputMessage, ...] = ()
    completed_at: int | None = None
    incomplete_details: IncompleteDetails | None = None
    error: ResponseError | None = None
    usage: ResponseUsage | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    metadata: dict[str, str] = {}
    store: bool = True
    background: bool = False
    max_output_tokens: int | None = None
    service_tier: str = "default"
    truncation: Literal["auto", "disabled"] = "auto"
    text: TextUsed = TextUsed()
    reasoning: ReasoningUsed = ReasoningUsed()
    tools: tuple[()] = ()
    tool_choice: str = "auto"
    parallel_tool_calls: bool = True
    max_tool_calls: int | None = None
    temperature: float = 1.0
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    top_logprobs: int = 0
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    user: str | None = None
    references: tuple[Reference, ...] = ()
    passages: tuple[NearPassage, ...] = ()
    outcome: str | None = None
    unverified_at: tuple[Stretch, ...] | msgspec.UnsetType = msgspec.UNSET
    object: Literal["response"] = "response"


class ResponseDeleted(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    deleted: Literal[True] = True
    object: Literal["response"] = "response"
