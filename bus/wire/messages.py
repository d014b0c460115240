"""Every message that travels on the bus, in pipeline order.

A message carries everything the next actor needs, so that one recorded message is enough to replay one stage. Identity (run,
lane, cause, deadline) travels in the subject and the headers, never in the body. The wire form is JSON, with the message's
type in `type`. `parts.py` has what messages carry, `settled.py` the end of a run as its client gets it.
"""

import functools
import operator
import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import msgspec
from groundwire.wire import Context, Turn
from msgspec import Meta

from bus.wire.parts import (
    Analysis,
    Collection,
    Conflict,
    Constraints,
    Contradiction,
    Passage,
    Question,
    Sentence,
    Span,
    SubQuery,
)
from bus.wire.settled import Settled
from index.filters import Filter
from prompts.vocabulary import Confidence, Cut, EventsWanted, Language, OnDisconnect, Release, Style, Urgency, Voice

#: The lane of records that belong to the whole run.
MAIN = "main"


@functools.cache
def wire_name(name: str) -> str:
    """`PassagesJudged` becomes `passages_judged` in a subject and in the `type` field."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=wire_name, tag_field="type"):
    """Base of every message. `lane_key` is the path of the field that gives an item of a fan-out its lane."""

    lane_key: ClassVar[str] = ""


def message_type(message: type[Message]) -> str:
    return wire_name(message.__name__)


def lane_of(message: Message) -> str:
    """The lane a message is written to: its own if its type has one, else the run's."""
    if not message.lane_key:
        return MAIN
    value: object = message
    for step in message.lane_key.split("."):
        value = getattr(value, step)
    return str(value)


# ---------------------------------------------------------------- the request

#: The printable characters of ASCII, not only spaces.
PRINTABLE = "^[ -~]*[!-~][ -~]*$"
#: Printable characters; the schema names those that a header may have too.
IdempotencyKey = Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema={"pattern": PRINTABLE})]


class QuestionAsked(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request as it arrived by HTTP, WebSocket or NATS. -> classify_intent

    `conversation`: the run that began the conversation which this question continues; lists of runs are grouped by it.
    """

    question: Annotated[str, Meta(min_length=1, max_length=4000)]
    conversation_history: Annotated[tuple[Turn, ...], Meta(max_length=50)] = ()
    profile: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")] = "general"
    style: Style | None = None
    language: Language | None = None
    contexts: Annotated[tuple[Context, ...], Meta(max_length=50)] | None = None
    filter: Filter | None = None
    constraints: Constraints = Constraints()
    release: Release | None = None
    voice: Voice | None = None
    priority: Urgency = "interactive"
    events: EventsWanted = "default"
    on_disconnect: OnDisconnect = "continue"
    deadline_s: Annotated[float, Meta(gt=0, le=3600)] | None = None
    idempotency_key: IdempotencyKey | None = None
    conversation: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")] | None = None


# ---------------------------------------------------------------- understanding


class FollowUpAsked(Message, frozen=True, kw_only=True):
    """A question with a history that it may depend on. classify_intent -> rewrite_query"""

    question: Question
    history: tuple[Turn, ...]


class QuestionReady(Message, frozen=True, kw_only=True):
    """An in-scope question, complete without its history. -> classify_query"""

    question: Question


class ComplexQuestionFound(Message, frozen=True, kw_only=True):
    """A question that needs several retrievals. classify_query -> decompose_query"""

    question: Question


class QueryDecomposed(Message, frozen=True, kw_only=True):
    """The lanes to open, all those of a round in one record. -> open_lanes

    `round` is 1, or 2 for lanes that judge_sufficiency adds; the record's lane is `main` or `round2`. `snapshot`: of the index,
    that the round before was found in.
    """

    lane_key: ClassVar[str] = "lane"
    lane: str
    question: Question
    sub_queries: tuple[SubQuery, ...]
    earlier: tuple[SubQuery, ...] = ()
    round: Annotated[int, Meta(ge=1, le=2)] = 1
    snapshot: str | msgspec.UnsetType = msgspec.UNSET


class Lane(Message, frozen=True, kw_only=True):
    """Base of the messages about one lane; never sent itself. `plan`: all the lanes that must arrive before the round is over."""

    lane_key: ClassVar[str] = "sub_query.id"
    question: Question
    sub_query: SubQuery
    plan: tuple[SubQuery, ...]
    round: int


class SubQueryPlanned(Lane, frozen=True, kw_only=True):
    """One retrieval to run. `judged` is false on the simple path. -> retrieve

    `snapshot`: as in QueryDecomposed.
    """

    judged: bool
    snapshot: str | msgspec.UnsetType = msgspec.UNSET


# ---------------------------------------------------------------- reading


class PassagesRetrieved(Lane, frozen=True, kw_only=True):
    """The passages of one lane, best first; may be empty. retrieve -> judge_relevance"""

    passages: tuple[Passage, ...]
    snapshot: str
    collection: Collection = Collection()


class PassagesJudged(Lane, frozen=True, kw_only=True):
    """One lane, judged. judge_sufficiency joins the lanes of its `plan`. `near`: passages that the judge did not keep."""

    passages: tuple[Passage, ...]
    analysis: Analysis
    snapshot: str
    collection: Collection = Collection()
    near: tuple[Passage, ...] = ()


class PassagesReady(Message, frozen=True, kw_only=True):
    """All passages of the run, best first; may be empty. -> select_evidence

    `complex` distinguishes the two paths; `missing` names aspects that two rounds did not cover. `near`: passages that no judge
    kept, best first; they are no evidence, and may be shown as the closest.
    """

    question: Question
    passages: tuple[Passage, ...]
    analyses: tuple[Analysis, ...] = ()
    missing: tuple[str, ...] = ()
    complex: bool = False
    rounds: int = 1
    snapshot: str = ""
    collection: Collection = Collection()
    near: tuple[Passage, ...] = ()


# ---------------------------------------------------------------- answering


class AnswerRequested(Message, frozen=True, kw_only=True):
    """A request for an answer in that style. select_evidence -> answer

    `probability`: that the evidence answers; None when unknown.
    """

    style: Style
    question: Question
    evidence: tuple[Span, ...]
    analyses: tuple[Analysis, ...]
    conflicts: tuple[Conflict, ...]
    snapshot: str
    rounds: int
    probability: float | None = None


class Draft(Message, frozen=True, kw_only=True):
    """Base of the messages that carry a draft; never sent itself. `shown` is the part the client already has.

    Sentences cite the evidence by its own numbers; `numbers` are those behind 1, 2, 3 in `shown`. `cut`: why
    `shown` ends before the last of them.
    """

    question: Question
    evidence: tuple[Span, ...]
    conflicts: tuple[Conflict, ...]
    sentences: tuple[Sentence, ...]
    style: Style
    shown: str = ""
    confidence: Confidence = "high"
    refused: bool = False
    refuse_reason: str = ""
    cited: tuple[str, ...] = ()  # source ids that a structured answer lists after its text
    contradictions: tuple[Contradiction, ...] = ()
    verified: bool = False
    snapshot: str = ""
    rounds: int = 1
    probability: float | None = None
    numbers: tuple[int, ...] | msgspec.UnsetType = msgspec.UNSET
    cut: Cut | msgspec.UnsetType = msgspec.UNSET


class DraftMistranslated(Draft, frozen=True, kw_only=True):
    """A draft, not yet shown, in a language other than the one asked for. answer -> guard_language"""


class AnswerDrafted(Draft, frozen=True, kw_only=True):
    """A draft still to be verified. -> verify_answer"""


class AnswerVerified(Draft, frozen=True, kw_only=True):
    """A verified draft. -> settle_answer"""


class AnswerSettled(Message, frozen=True, kw_only=True):
    """The end of a run is decided; the part of `settled.answer` after `shown` is still to be shown. -> stream_answer

    `retract`: sentences were shown that the answer no longer supports.
    """

    settled: Settled
    shown: str = ""
    retract: bool = False


class RunFinished(Message, frozen=True, kw_only=True):
    """The last record of a run; the first one written wins. -> stream_references"""

    settled: Settled


CATALOGUE: tuple[type[Message], ...] = tuple(
    leaf for kind in Message.__subclasses__() for leaf in (kind.__subclasses__() or [kind])
)

BY_TYPE: dict[str, type[Message]] = {message_type(message): message for message in CATALOGUE}

#: The five message types that AnswerRequested replaced, with the style of each: older journals and traces have them.
EARLIER_REQUESTS: dict[str, Style] = {
    "simple_answer_requested": "simple",
    "report_requested": "report",
    "synthesis_requested": "synthesis",
    "structure_requested": "structured",
    "hint_requested": "hint",
}


def stage_name(actor: str, message: Message) -> str:
    """The stage's name in events, records and metrics: the actor's, with the style where an answer was requested."""
    return f"{actor}_{message.style}" if isinstance(message, AnswerRequested) else actor


def stage_names(actor: str, takes: type[Message]) -> tuple[str, ...]:
    """Every name that `stage_name` can give for an actor."""
    return tuple(f"{actor}_{style}" for style in EARLIER_REQUESTS.values()) if takes is AnswerRequested else (actor,)


def question_about(message: Message) -> Question | QuestionAsked | None:
    """The question a message is about; None once only the end of the run is left."""
    question = message if isinstance(message, QuestionAsked) else getattr(message, "question", None)
    return question if isinstance(question, Question | QuestionAsked) else None


def words_asked(message: Message) -> str:
    """What the person wrote; empty when the message does not carry it."""
    question = question_about(message)
    if question is None:
        return getattr(getattr(message, "settled", None), "question", "")
    return question.question if isinstance(question, QuestionAsked) else question.asked


def same_fields(source: msgspec.Struct, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a Struct that another kind has under the same names, to make one of that kind from."""
    names, values_of = _shared(type(source), kind)
    return dict(zip(names, values_of(source), strict=True))


@functools.cache
def _shared(
    one: type[msgspec.Struct], other: type[msgspec.Struct]
) -> tuple[list[str], Callable[[Any], tuple[Any, ...]]]:
    """Their common fields, of which there are several."""
    names = [name for name in one.__struct_fields__ if name in other.__struct_fields__]
    return names, operator.attrgetter(*names)
