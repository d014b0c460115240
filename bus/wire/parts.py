"""What the messages carry: the question, the passages found for it, the evidence and the sentences of a draft."""

from typing import Annotated

import msgspec
from groundwire.wire import About, Block, Context, Part
from msgspec import Meta

from index.filters import Filter
from prompts.vocabulary import (
    Confidence,
    ConflictKind,
    ContradictionType,
    EventsWanted,
    FlagKind,
    FlagStrength,
    Release,
    Severity,
    Style,
    Voice,
)


class Constraints(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`max_tokens`: how many token events a client gets at most.

    `style`: the name of a style, or words on the form of the answer, which a model then follows.
    """

    max_tokens: Annotated[int, Meta(ge=1, le=4096)] | None = None
    style: Annotated[str, Meta(min_length=1, max_length=80)] | None = None
    must_cite: bool | None = None


class Question(Part, frozen=True, kw_only=True, omit_defaults=True):
    """The question as the stages see it. `text` stands alone; `asked` is the person's own text. `filter` is the request's own.

    `topic`: words of the conversation that a follow-up depends on; they count half. `voice`: how sure an answer must be.
    `numeric_promote`: numeric conflicts found by the verifier count as strong in every profile. `masked`: personal data is masked
    in all that leaves the run; its messages keep it as it is. `renumbered`: the markers that are shown run 1, 2, 3 in reading
    order; older runs have `false`. `needs_model`: it asks for a new text, which no rules write.
    `has_model`: a model answers what the stages ask, so rules only suggest. `exercise`: a model's judgement; rules judge otherwise.
    `languages`: those of the documents, where a model writes words to search for in each.
    `earlier`: the last answer of the conversation, where a model is to write a new text, which may be made of that.
    `today`: the day on which it was asked, YYYY-MM-DD, where a model answers.
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
    languages: tuple[str, ...] = ()
    earlier: str = ""
    today: str = ""


class SubQuery(Part, frozen=True, kw_only=True):
    id: str
    statement: str
    focus: str


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


class Collection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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
