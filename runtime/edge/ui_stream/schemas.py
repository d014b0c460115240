"""What `DefaultChatTransport` of the AI SDK sends, and the chunks of the stream that it reads, by their names there.

Names of the SDK's own are in its spelling (`messageId`); what data chunks and metadata hold is spelt as everywhere else here.
"""

from typing import Annotated, Literal

import msgspec
from groundwire.wire import Context
from msgspec import Meta

from bus.powers.events import Passages, Queued, Sources, StageEvent, VerdictEvent, Withheld
from bus.wire.messages import IdempotencyKey
from bus.wire.parts import Constraints, Flag
from index.filters import Filter
from prompts.vocabulary import Confidence, Cut, EventsWanted, Language, Outcome, Reason, Release, Style, Urgency, Voice

#: What a page may call a chat.
CHAT_ID = r"^[^\x00-\x1f\x7f]{1,256}$"

# ---------------------------------------------------------------- the request


class UiPart(msgspec.Struct, frozen=True):
    """A part of a message; only those of type `text` are read."""

    type: str
    text: str = ""


class UiMessage(msgspec.Struct, frozen=True):
    """A message; those of role system are ignored, since the profile decides how to answer."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[UiPart, ...]
    id: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts if part.type == "text")


class UiChatAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `POST /api/chat`: the SDK's four fields, and those of a question.

    `resume`: the run goes on when the client leaves, and `GET /api/chat/{chat_id}/stream` joins it; otherwise it is cancelled.
    `events`: with `default`, the stream has no data parts but the closest passages and the unverified sentences.
    """

    id: Annotated[str, Meta(pattern=CHAT_ID)]
    messages: Annotated[tuple[UiMessage, ...], Meta(min_length=1)]
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: str | None = msgspec.field(default=None, name="messageId")
    resume: bool = False
    profile: str = "general"
    style: Style | None = None
    language: Language | None = None
    contexts: Annotated[tuple[Context, ...], Meta(max_length=50)] | None = None
    filter: Filter | None = None
    constraints: Constraints = Constraints()
    release: Release | None = None
    voice: Voice | None = None
    priority: Urgency = "interactive"
    events: EventsWanted = "all"
    deadline_s: Annotated[float, Meta(gt=0, le=3600)] | None = None
    idempotency_key: IdempotencyKey | None = None


class UiStopped(msgspec.Struct, frozen=True, kw_only=True):
    """`run_id`: of the chat's latest run; empty if there is none. `cancelled`: it was under way, and is no more."""

    run_id: str = ""
    cancelled: bool = False


# ---------------------------------------------------------------- the stream


class UiChunk(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", rename="camel", omit_defaults=True):
    """The data of one server-sent event."""


class UiMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message's `metadata`; all but the run's id comes with its end. `code` is of a failure; `cut`: why the answer ends early."""

    run_id: str
    outcome: Outcome | None = None
    reason: Reason | None = None
    confidence: Confidence | None = None
    probability: float | None = None
    profile: str = ""
    language: str = ""
    withdrawn: bool = False
    cut: Cut | None = None
    code: str = ""


class UiStart(UiChunk, frozen=True, kw_only=True, tag="start"):
    message_id: str
    message_metadata: UiMetadata


class UiStartStep(UiChunk, frozen=True, kw_only=True, tag="start-step"):
    pass


class UiTextStart(UiChunk, frozen=True, kw_only=True, tag="text-start"):
    id: str


class UiTextDelta(UiChunk, frozen=True, kw_only=True, tag="text-delta"):
    id: str
    delta: str


class UiSource(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A source as a citation names it."""

    id: str
    url: str
    title: str
    type: Literal["source"] = "source"
    source_type: Literal["url"] = "url"


class UiCitation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One marker's source. The indices are of the text as a JavaScript string: they count UTF-16 code units."""

    source: UiSource
    start_index: int
    end_index: int
    cited_text: str


class UiTextEnd(UiChunk, frozen=True, kw_only=True, tag="text-end"):
    """`citations` are read by version 7 of the SDK; earlier ones show the sources."""

    id: str
    citations: tuple[UiCitation, ...] = ()


class UiPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which document a source is, and what of it is meant. `n`: the number of its markers; 0 for a passage that is not cited."""

    source_id: str
    n: int = 0
    quote: str = ""


class UiProvider(msgspec.Struct, frozen=True, kw_only=True):
    groundwire: UiPlace


class UiSourceUrl(UiChunk, frozen=True, kw_only=True, tag="source-url"):
    """A cited place: `sourceId` is the number that the text's markers have. Or one of the closest passages: `closest-1` and on."""

    source_id: str
    url: str
    title: str
    provider_metadata: UiProvider


class UiSourceDocument(UiChunk, frozen=True, kw_only=True, tag="source-document"):
    """A cited document of the index itself, once."""

    source_id: str
    media_type: str
    title: str
    filename: str


class UiStage(UiChunk, frozen=True, kw_only=True, tag="data-stage", omit_defaults=False):
    id: str
    data: StageEvent
    transient: Literal[True] = True


class UiFound(UiChunk, frozen=True, kw_only=True, tag="data-sources", omit_defaults=False):
    data: Sources
    transient: Literal[True] = True


class UiWithheld(UiChunk, frozen=True, kw_only=True, tag="data-withheld"):
    id: str
    data: Withheld


class UiVerdict(UiChunk, frozen=True, kw_only=True, tag="data-verdict"):
    id: str
    data: VerdictEvent


class UiQueued(UiChunk, frozen=True, kw_only=True, tag="data-queued"):
    id: str
    data: Queued


class UiUnverifiedSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that goes beyond its sources; the indices are those of a citation."""

    text: str
    start_index: int
    end_index: int
    flags: tuple[Flag, ...]


class UiUnverified(UiChunk, frozen=True, kw_only=True, tag="data-unverified", omit_defaults=False):
    data: tuple[UiUnverifiedSentence, ...]
    id: str = "unverified"


class UiPassages(UiChunk, frozen=True, kw_only=True, tag="data-passages"):
    id: str
    data: Passages


class UiFinishStep(UiChunk, frozen=True, kw_only=True, tag="finish-step"):
    pass


class UiMessageMetadata(UiChunk, frozen=True, kw_only=True, tag="message-metadata"):
    message_metadata: UiMetadata


type UiFinished = Literal["stop", "length", "content-filter"]


class UiFinish(UiChunk, frozen=True, kw_only=True, tag="finish"):
    """`content-filter`: the final check withdrew the answer. `length`: it ends at the limit."""

    finish_reason: UiFinished
    message_metadata: UiMetadata


class UiError(UiChunk, frozen=True, kw_only=True, tag="error"):
    error_text: str


class UiAbort(UiChunk, frozen=True, kw_only=True, tag="abort"):
    """The run was cancelled."""

    reason: str


CHUNKS: tuple[type[UiChunk], ...] = tuple(UiChunk.__subclasses__())
