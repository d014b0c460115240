"""Every message that travels on the bus, in pipeline order.

A message carries everything the next actor needs, so that one recorded message is enough to replay one stage. Identity (run,
lane, cause, deadline) travels in the subject and the headers, never in the body. The wire form is JSON, with the message's
type in `type`.
"""

import re
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from index.filters import Filter
from prompts.vocabulary import (
    Confidence,
    ConflictKind,
    ContradictionType,
    Cut,
    EventsWanted,
    FlagKind,
    FlagStrength,
    Language,
    OnDisconnect,
    Outcome,
    Reason,
    Release,
    Severity,
    Speaker,
    Style,
    Unrun,
    Urgency,
    Voice,
)

#: The lane of records that belong to the whole run.
MAIN = "main"


def wire_name(name: str) -> str:
    """`PassagesJudged` becomes `passages_judged` in a subject and in the `type` field."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything inside a message."""


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


class Turn(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    role: Speaker
    content: Annotated[str, Meta(max_length=4000)]


class ContextMetadata(Part, frozen=True, kw_only=True):
    """What the caller knows about a given context; unknown fields are ignored."""

    source_id: Annotated[str, Meta(min_length=1, max_length=256)]
    language: str = ""
    title: str = ""
    url: str = ""
    page: int | None = None


class Context(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A passage that the caller supplies in place of retrieval."""

    content: Annotated[str, Meta(max_length=20_000)]
    metadata: ContextMetadata
    score: float = 1.0
    score_type: str = "given"


#: The printable characters of ASCII, not only spaces.
PRINTABLE = "^[ -~]*[!-~][ -~]*$"
#: Any JSON value, without a schema.
AnyJson = Annotated[object, Meta(extra_json_schema={"description": "Any JSON."})]
StopText = Annotated[str, Meta(min_length=1, max_length=200)]


class Constraints(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`max_tokens`: how many token events a client gets at most. `stop`: texts that end the answer; it stops before the first.

    `style`: the name of a style, or words on the form of the answer, which a model then follows.

    `response_schema`: the JSON Schema of an answer that is JSON; it is shown whole, in one piece, and only a model can write it.
    """

    max_tokens: Annotated[int, Meta(ge=1, le=4096)] | None = None
    style: Annotated[str, Meta(min_length=1, max_length=80)] | None = None
    must_cite: bool | None = None
    stop: Annotated[tuple[StopText, ...], Meta(min_length=1, max_length=4)] | msgspec.UnsetType = msgspec.UNSET
    response_schema: dict[str, AnyJson] | msgspec.UnsetType = msgspec.UNSET


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


class Question(Part, frozen=True, kw_only=True, omit_defaults=True):
    """The question as the stages see it. `text` stands alone; `asked` is the person's own text. `filter` is the request's own.

    `topic`: words of the conversation that a follow-up depends on; they count half. `voice`: how sure an answer must be.
    `numeric_promote`: numeric conflicts found by the verifier count as strong in every profile. `masked`: personal data is masked
    in all that leaves the run; its messages keep it as it is. `renumbered`: the markers that are shown run 1, 2, 3 in reading
    order; not so in runs of before this was done. `needs_model`: it asks for a new text, which no rules write.
    `has_model`: a model answers what the stages ask, so rules only suggest. `exercise`: a model's judgement; rules judge otherwise.
    """

    text: str
    asked: str
    language: str
    profile: str
    style: Style | None
    release: Release
    events: EventsWanted
    constraints: Constraints
    contexts: tuple[Context, ...] | None
    numeric_promote: bool = False
    filter: Filter | None = None
    topic: str = ""
    voice: Voice = "strict"
    masked: bool = True
    renumbered: bool = False
    needs_model: bool = False
    has_model: bool = False
    exercise: bool | msgspec.UnsetType = msgspec.UNSET


class SubQuery(Part, frozen=True, kw_only=True):
    id: str
    statement: str
    focus: str


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


class SubQueryPlanned(Message, frozen=True, kw_only=True):
    """One retrieval to run. `judged` is false on the simple path. -> retrieve

    `plan` lists all the lanes that must arrive before the round is over. `snapshot`: as in QueryDecomposed.
    """

    lane_key: ClassVar[str] = "sub_query.id"
    question: Question
    sub_query: SubQuery
    plan: tuple[SubQuery, ...]
    round: int
    judged: bool
    snapshot: str | msgspec.UnsetType = msgspec.UNSET


# ---------------------------------------------------------------- reading


class Block(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A stretch of a source in one role: `kind` is prose, heading, list_item, table_header, table_row, code, quotation or
    definition. `level` is a heading's, or an item's depth. `intro` is the stretch that introduces it, before it in the source.
    """

    start: int
    end: int
    kind: str = "prose"
    level: int = 0
    intro: tuple[int, int] | None = None
    anchor: str = ""
    syntax: str = ""


class About(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A source's own metadata. `date` is ISO 8601; `recognized`: read from pictures (OCR)."""

    author: str = ""
    date: str = ""
    version: str = ""
    replaces: str = ""
    tags: tuple[str, ...] = ()
    recognized: bool = False

    @property
    def if_any(self) -> "About | None":
        """None for a source without metadata."""
        return None if self == About() else self


class Passage(Part, frozen=True, kw_only=True):
    """A retrieved passage. `score_type` names the kind of `score`, higher is better; offsets are characters into the source.

    `blocks` are those it holds, `headings` lead to the first of them, `intros` are texts before it that introduce some of them.
    `coverage`: the share of the question that it covers, and `cosine`: how near it is, as far as the search knows.
    `rerank_score`: a reranker's own score, where one was asked; the passages are then in its order.
    """

    source_id: str
    title: str
    url: str
    score: float
    score_type: str
    text: str
    char_start: int
    char_end: int
    language: str
    snapshot: str
    page: int | None = None
    headings: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    intros: tuple[str, ...] = ()
    about: About = About()
    coverage: float | None = None
    cosine: float | None = None
    rerank_score: float | None = None


class Collection(Part, frozen=True, kw_only=True, omit_defaults=True):
    """An index's statistics for a question: its passages by language, how rare each term of the question is in them
    (0: in all, to 1: in none), and by language the question with its names as that language writes them.
    """

    languages: dict[str, int] = {}
    rarity: dict[str, float] = {}
    variants: dict[str, str] = {}


class Extract(Part, frozen=True, kw_only=True):
    source_file: str
    excerpt: str
    relevance: Confidence


class Analysis(Part, frozen=True, kw_only=True):
    """A judge's result for one sub-query. `dropped` counts excerpts that were not substrings of their chunk."""

    sub_query_id: str
    sub_query_statement: str
    relevant_extracts: tuple[Extract, ...]
    sub_answer: str
    confidence: Confidence
    missing_aspects: tuple[str, ...]
    dropped: int = 0
    judged: bool = True


class PassagesRetrieved(Message, frozen=True, kw_only=True):
    """The passages of one lane, best first; may be empty. retrieve -> judge_relevance"""

    lane_key: ClassVar[str] = "sub_query.id"
    question: Question
    sub_query: SubQuery
    plan: tuple[SubQuery, ...]
    round: int
    passages: tuple[Passage, ...]
    snapshot: str
    collection: Collection = Collection()


class PassagesJudged(Message, frozen=True, kw_only=True):
    """One lane, judged. judge_sufficiency joins the lanes of its `plan`. `near`: passages that the judge did not keep."""

    lane_key: ClassVar[str] = "sub_query.id"
    question: Question
    sub_query: SubQuery
    plan: tuple[SubQuery, ...]
    round: int
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


class Span(Part, frozen=True, kw_only=True):
    """A numbered verbatim slice of a source document; `n` never changes afterwards. Offsets are characters.

    `block` is the kind of the block it begins in, `anchor` that block's own (a row's cell range), `headings` lead to it, and
    `intro` is what introduces it in the source and is not in it. `blocks` are those it holds. `lead` is the sentence of it that
    answers, as offsets of the source. `probability`: that it answers by itself, of a span that a model picked, where known.
    """

    n: int
    source_id: str
    title: str
    url: str
    text: str
    source_start: int
    source_end: int
    language: str
    score: float
    page: int | None = None
    about: About = About()
    block: str = ""
    anchor: str = ""
    intro: str = ""
    headings: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    lead: tuple[int, int] | None = None
    probability: float | msgspec.UnsetType = msgspec.UNSET


class Conflict(Part, frozen=True, kw_only=True):
    """Two spans that contradict each other. `outdated_n` is the outdated one; 0 for neither."""

    kind: ConflictKind
    subject: str
    first_n: int
    second_n: int
    first: str
    second: str
    outdated_n: int = 0


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


class Flag(Part, frozen=True, kw_only=True):
    """What the gate found wrong with a sentence: which words, against which evidence, and why."""

    kind: FlagKind
    strength: FlagStrength
    words: str
    evidence_n: tuple[int, ...]
    why: str


class Sentence(Part, frozen=True, kw_only=True):
    """One sentence of a draft, with its trailing white space and what became of it."""

    text: str
    flags: tuple[Flag, ...] = ()
    withheld: bool = False


class Contradiction(Part, frozen=True, kw_only=True):
    type: ContradictionType
    severity: Severity
    claim: str
    evidence_ref: str
    explanation: str


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
    shaped: str | msgspec.UnsetType = msgspec.UNSET  # the JSON that is shown; the sentences are parts of its texts


class DraftMistranslated(Draft, frozen=True, kw_only=True):
    """A draft, not yet shown, in a language other than the one asked for. answer -> guard_language"""


class AnswerDrafted(Draft, frozen=True, kw_only=True):
    """A draft still to be verified. -> verify_answer"""


class AnswerVerified(Draft, frozen=True, kw_only=True):
    """A verified draft. -> settle_answer"""


class Citation(Part, frozen=True, kw_only=True, omit_defaults=True):
    """What one marker points to: a slice of the source, and the marker's place in the answer; `block` and on as in Span.

    `sentence`: the one of the slice that the marked sentence repeats, as offsets of the source; only records that are read have it.
    """

    n: int
    source_id: str
    title: str
    url: str
    page: int | None
    source_start: int
    source_end: int
    cited_text: str
    answer_start: int
    answer_end: int
    about: About | None = None
    block: str = ""
    anchor: str = ""
    intro: str = ""
    headings: tuple[str, ...] = ()
    lead: tuple[int, int] | None = None
    sentence: tuple[int, int] | None = None


class CitedPlace(Part, frozen=True, kw_only=True, omit_defaults=True):
    """One cited span of a source; `block` and on as in Span."""

    n: int
    url: str
    page: int | None
    source_start: int
    source_end: int
    cited_text: str
    block: str = ""
    anchor: str = ""
    intro: str = ""
    headings: tuple[str, ...] = ()
    lead: tuple[int, int] | None = None


class Reference(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A source that the answer cites: `n` are the markers that cite it, `cited` what they cite of it."""

    source_id: str
    title: str
    url: str
    score: float
    about: About | None = None
    n: tuple[int, ...] = ()
    cited: tuple[CitedPlace, ...] = ()


class NearPassage(Part, frozen=True, kw_only=True):
    """A passage shown as one of the closest, not as an answer. `marked`: stretches of `text` that match the question.

    `headings` lead to it. A record as clients read it has two fields more for its first passage, unless the passage has no word of
    the question: `best`, the sentence with most words of the question as a stretch of `text`, and `missing`, the words it lacks.
    """

    source_id: str
    title: str
    url: str
    page: int | None
    source_start: int
    source_end: int
    text: str
    marked: tuple[tuple[int, int], ...]
    score: float
    headings: tuple[str, ...] = ()
    best: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    missing: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class WithheldSentence(Part, frozen=True, kw_only=True):
    text: str
    flags: tuple[Flag, ...]


class UnverifiedSentence(Part, frozen=True, kw_only=True):
    """A sentence of the answer that goes beyond its sources: its place in the answer, and why it is marked."""

    text: str
    answer_start: int
    answer_end: int
    flags: tuple[Flag, ...] = ()


class Settled(Part, frozen=True, kw_only=True):
    """How a run ends for its client. `answer` is the full text they are shown; `passages` are the closest ones, shown as such.

    `probability`: that the answer answers the question, as measured; None when it is not known. `unrun`: why nothing was run, of
    a run that ended before it began; for an invalid one, `code` and `detail` name the fault, and
    `retry_after_s` is of one that was refused for lack of time.
    `withdrawn`: what was shown and taken back; `citations` and `references` are then of it. `cut`:
    why `answer` ends before its end.
    """

    outcome: Outcome
    question: str = ""
    reason: Reason | None = None
    answer: str = ""
    detail: str = ""
    confidence: Confidence | None = None
    re_gate: str | None = None
    citations: tuple[Citation, ...] = ()
    references: tuple[Reference, ...] = ()
    withheld: tuple[WithheldSentence, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    snapshot: str = ""
    rounds: int = 1
    language: str = ""
    profile: str = "general"
    passages: tuple[NearPassage, ...] = ()
    probability: float | None = None
    unrun: Unrun | msgspec.UnsetType = msgspec.UNSET
    code: str | msgspec.UnsetType = msgspec.UNSET
    retry_after_s: int | msgspec.UnsetType = msgspec.UNSET
    withdrawn: str | msgspec.UnsetType = msgspec.UNSET
    cut: Cut | msgspec.UnsetType = msgspec.UNSET
    unverified: tuple[UnverifiedSentence, ...] | msgspec.UnsetType = msgspec.UNSET


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
    return {name: getattr(source, name) for name in source.__struct_fields__ if name in kind.__struct_fields__}
