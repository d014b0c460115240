"""What each prompt gets and must answer: one variables Struct and one reply Struct for each.

Subclasses of `Prompt` are the variables; `name` is the stem of the prompt file and the name of the actor and the test. The
JSON schema in the prompt file is the source for decoding and for the grammar; a test keeps these Structs and those schemas in
step. A field's type gives the place of its text (`str` inside a line, else `Block` or `Attribute`) and whether it may be
`Shortened`.
"""

from functools import cache
from types import get_original_bases
from typing import Annotated, Any, ClassVar, get_args, get_origin

import msgspec
from msgspec import UNSET, UnsetType

from prompts.fields import Attribute, Block, Shortened
from prompts.vocabulary import Confidence, ContradictionType, IntentKind, QueryKind, QueryType, Severity, Speaker


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn of the conversation so far."""

    role: Speaker
    content: Block


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything inside variables and replies."""


class Prompt[Reply](msgspec.Struct, frozen=True, kw_only=True):
    """The variables of one prompt. `Reply` is the type that `ask` returns for it."""

    name: ClassVar[str]

    @classmethod
    @cache
    def reply_type(cls) -> type[Reply]:
        """The type of a complete reply; `str` for a prompt that asks for prose."""
        bases = (base for each in cls.__mro__ for base in get_original_bases(each))
        reply: type[Reply] = next(get_args(base)[0] for base in bases if get_origin(base) is Prompt)
        return reply


# ---------------------------------------------------------------- understanding the question


class Intent(Part, frozen=True, kw_only=True):
    intent: IntentKind
    confidence: Confidence
    category: str
    reasoning: str
    suggested_response: str


class ClassifyIntent(Prompt[Intent], frozen=True, kw_only=True):
    """Scope words come from the profile; an empty scope admits every subject."""

    name = "classify_intent"
    user_query: Block
    conversation_history: Annotated[tuple[Turn, ...], Shortened(4, oldest=True)] = ()
    language: str
    in_scope: tuple[str, ...] = ()
    edge_scope: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()


class RewrittenQuery(Part, frozen=True, kw_only=True):
    """`topic`: words of the conversation to search for, which count less than the question's own."""

    original_query: Block
    rewritten_query: str
    needs_rewrite: bool
    rewrite_reason: str
    topic: str = ""


class RewriteQuery(Prompt[RewrittenQuery], frozen=True, kw_only=True):
    name = "rewrite_query"
    current_query: Block
    conversation_history: Annotated[tuple[Turn, ...], Shortened(4, oldest=True)]
    language: str


class QueryClass(Part, frozen=True, kw_only=True):
    query_type: QueryKind
    confidence: Confidence
    reasoning: str
    suggested_search_term: str


class ClassifyQuery(Prompt[QueryClass], frozen=True, kw_only=True):
    """`exercises`: the profile gives hints for exercises, so they are to be told from questions. `other_languages`: those of the
    documents, by name, to give search words in as well.
    """

    name = "classify_query"
    original_query: Block
    language: str
    exercises: bool | UnsetType = UNSET
    other_languages: tuple[str, ...] | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET


class SubQuery(Part, frozen=True, kw_only=True):
    """A statement to search for; `id` is `sq_1`… or, in the second round, `sq_add_1`…, and names the lane."""

    id: Attribute
    statement: str
    focus: str


class Decomposition(Part, frozen=True, kw_only=True):
    sub_queries: tuple[SubQuery, ...]
    reasoning: str


class DecomposeQuery(Prompt[Decomposition], frozen=True, kw_only=True):
    """`other_languages`: as in ClassifyQuery."""

    name = "decompose_query"
    original_query: Block
    query_type: QueryType = "complex"
    language: str
    other_languages: tuple[str, ...] | UnsetType = UNSET


# ---------------------------------------------------------------- reading what was found


#: Between the headings of a `section`.
SECTIONS = " › "


class Unit(Part, frozen=True, kw_only=True):
    """A stretch of a text that can be read by itself: a sentence, a list item, a table row, code with its sentence.

    `kind` is that of its block; a heading and a table's header answer nothing. `intro` introduces it and is not in it. `code`:
    where the code begins in a unit of code, `syntax` its language. Offsets are of the text that it is part of.
    """

    start: int
    end: int
    kind: str
    intro: str = ""
    code: int = 0
    syntax: str = ""


class Chunk(Part, frozen=True, kw_only=True):
    """A retrieved passage as a judge sees it. `score` is the fused retrieval score, higher is better.

    `section`: the headings that lead to it; `intro`: the text before it that introduces some of it. `units` are for engines
    that choose among them, and are not rendered; none when nothing is known but the text. `date`: of its document, YYYY-MM-DD;
    `replaced_by`: the document in force instead.
    """

    source_file: Attribute
    score: float
    content: Block
    section: Attribute = ""
    intro: Attribute = ""
    units: tuple[Unit, ...] = ()
    date: Attribute | UnsetType = UNSET
    replaced_by: Attribute | UnsetType = UNSET


class Extract(Part, frozen=True, kw_only=True):
    source_file: Attribute
    excerpt: str
    relevance: Confidence


class Relevance(Part, frozen=True, kw_only=True):
    sub_query_id: Attribute
    sub_query_statement: str
    relevant_extracts: tuple[Extract, ...]
    sub_answer: str
    confidence: Confidence
    missing_aspects: tuple[str, ...]


class JudgeRelevance(Prompt[Relevance], frozen=True, kw_only=True):
    name = "judge_relevance"
    sub_query_id: Attribute
    sub_query_statement: str
    sub_query_focus: str
    retrieved_chunks: Annotated[tuple[Chunk, ...], Shortened(2)]
    language: str


class AddedSubQuery(Part, frozen=True, kw_only=True):
    id: str
    statement: str
    focus: str
    reason: str


class Sufficiency(Part, frozen=True, kw_only=True):
    is_sufficient: bool
    confidence: Confidence
    missing_critical_aspects: tuple[str, ...]
    reasoning: str
    additional_sub_queries: tuple[AddedSubQuery, ...]


class JudgeSufficiency(Prompt[Sufficiency], frozen=True, kw_only=True):
    """`last`: no round follows, whatever the reply."""

    name = "judge_sufficiency"
    original_query: Block
    sub_queries: tuple[SubQuery, ...]
    sub_query_analyses: Annotated[tuple[Relevance, ...], Shortened(3)]
    language: str
    last: bool | UnsetType = UNSET


class PickedSpan(Part, frozen=True, kw_only=True):
    """`passage` counts the prompt's chunks from 1; `text` must be a slice of that chunk."""

    passage: int
    text: str


class EvidencePick(Part, frozen=True, kw_only=True):
    spans: tuple[PickedSpan, ...]


class SelectEvidence(Prompt[EvidencePick], frozen=True, kw_only=True):
    """`suggested`: what rules chose, the best first; empty when they did not choose."""

    name = "select_evidence"
    original_query: Block
    retrieved_chunks: Annotated[tuple[Chunk, ...], Shortened(2)]
    suggested: tuple[PickedSpan, ...] = ()
    language: str
    today: str | UnsetType = UNSET


# ---------------------------------------------------------------- answering


class Evidence(Part, frozen=True, kw_only=True):
    """One numbered span: the only part of a document that an answering prompt sees.

    `section`: the headings that lead to it; `intro`: what introduces it in the document, to be cited like its text. `lead`: the
    sentence of it that answers, where rules chose it as an answer. `units`, `date` and `replaced_by` as in Chunk.
    """

    n: int
    source_id: Attribute
    title: Attribute
    text: Block
    section: Attribute = ""
    intro: Block = ""
    lead: Block = ""
    units: tuple[Unit, ...] = ()
    date: Attribute | UnsetType = UNSET
    replaced_by: Attribute | UnsetType = UNSET


class AnswerSimple(Prompt[str], frozen=True, kw_only=True):
    """`style`: the caller's own words for the form of the answer. `safety_advice`: the profile's closing advice.

    `already_shown` is continued, never repeated. `today`: YYYY-MM-DD. UNSET leaves a field out, as runs have it that were recorded
    before the field.
    """

    name = "answer_simple"
    original_query: Block
    retrieved_chunks: Annotated[tuple[Evidence, ...], Shortened(2)]
    language: str
    style: Block | UnsetType = UNSET
    safety_advice: Block = ""
    already_shown: Block = ""
    today: str | UnsetType = UNSET


class AnswerReport(Prompt[str], frozen=True, kw_only=True):
    name = "answer_report"
    original_query: Block
    sub_query_analyses: Annotated[tuple[Relevance, ...], Shortened(3)]
    evidence: Annotated[tuple[Evidence, ...], Shortened(1)]
    language: str
    style: Block | UnsetType = UNSET
    safety_advice: Block = ""
    already_shown: Block = ""
    today: str | UnsetType = UNSET


class Synthesis(Part, frozen=True, kw_only=True):
    answer: str
    used_citations: tuple[int, ...]
    confidence: Confidence
    refused: bool
    refuse_reason: str


class AnswerSynthesis(Prompt[Synthesis], frozen=True, kw_only=True):
    name = "answer_synthesis"
    query: Block
    evidence: Annotated[tuple[Evidence, ...], Shortened(1)]
    language: str
    style: Block | UnsetType = UNSET
    today: str | UnsetType = UNSET


class StructuredAnswer(Part, frozen=True, kw_only=True):
    """`citations` holds `source_id`s of the evidence."""

    summary: str
    details: tuple[str, ...]
    citations: tuple[str, ...]


class AnswerStructured(Prompt[StructuredAnswer], frozen=True, kw_only=True):
    name = "answer_structured"
    question: Block
    contexts: Annotated[tuple[Evidence, ...], Shortened(1)]
    language: str
    max_tokens: int = 600
    style: Block = ""
    must_cite: bool = True
    today: str | UnsetType = UNSET


class AnswerHint(Prompt[StructuredAnswer], frozen=True, kw_only=True):
    name = "answer_hint"
    question: Block
    contexts: Annotated[tuple[Evidence, ...], Shortened(1)]
    language: str
    max_tokens: int = 600
    style: Block = ""
    must_cite: bool = True
    today: str | UnsetType = UNSET


# ---------------------------------------------------------------- checking


class Contradiction(Part, frozen=True, kw_only=True):
    """`sentence`: its number, where the answer's sentences are numbered; else 0."""

    type: ContradictionType
    severity: Severity
    claim: str
    evidence_ref: str
    explanation: str
    sentence: int = 0


class Verdict(Part, frozen=True, kw_only=True):
    contradictions: tuple[Contradiction, ...]


class VerifyAnswer(Prompt[Verdict], frozen=True, kw_only=True):
    """`before`: the sentence before the answer, where only the rest of an answer is verified. `exercise`: the answer is a hint."""

    name = "verify_answer"
    question: Block | UnsetType = UNSET
    before: Block | UnsetType = UNSET
    exercise: bool | UnsetType = UNSET
    answer: Block
    evidence: Annotated[tuple[Evidence, ...], Shortened(1)]
    language: str


class GuardLanguage(Prompt[str], frozen=True, kw_only=True):
    name = "guard_language"
    text: Block
    target_language: str


PROMPTS: tuple[type[Prompt[Any]], ...] = tuple(Prompt.__subclasses__())
