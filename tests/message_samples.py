"""One full example of every message, over a small corpus of two documents: used by contract tests and golden files."""

from datetime import date

from groundwire.wire import About, Block, Citation, CitedPlace, Context, ContextMetadata, Reference, Turn

from bus.wire.messages import (
    CATALOGUE,
    AnswerDrafted,
    AnswerRequested,
    AnswerSettled,
    AnswerVerified,
    ComplexQuestionFound,
    DraftMistranslated,
    FollowUpAsked,
    Message,
    PassagesJudged,
    PassagesReady,
    PassagesRetrieved,
    QueryDecomposed,
    QuestionAsked,
    QuestionReady,
    RunFinished,
    SubQueryPlanned,
)
from bus.wire.parts import (
    Analysis,
    Conflict,
    Constraints,
    Contradiction,
    Extract,
    Flag,
    Passage,
    Question,
    Sentence,
    Span,
    SubQuery,
)
from bus.wire.settled import Settled, WithheldSentence
from index.filters import Filter

REFUNDS = (
    "Refunds are paid within 14 days of the return. The shipping fee of 3,000 won is not refunded. "
    "Opened software cannot be returned."
)
OPENING = "The shop opens at nine on weekdays. On Saturdays it opens at ten and closes at two."
FILTER = Filter(path="guide/**", tag=("billing", "환불"), language="ko", after=date(2026, 1, 31))
ABOUT = About(author="Kim", date="2026-02-01", version="2", replaces="old.md", tags=("billing",), recognized=True)


def question(**changes: object) -> Question:
    fields: dict[str, object] = {
        "text": "How many days until refunds are paid?",
        "asked": "How many days until refunds are paid?",
        "language": "en",
        "profile": "general",
        "style": None,
        "release": "sentence",
        "events": "default",
        "constraints": Constraints(),
        "contexts": None,
    }
    return Question(**{**fields, **changes})  # type: ignore[arg-type]


def passage(source_id: str = "refunds.md", text: str = REFUNDS, **changes: object) -> Passage:
    fields: dict[str, object] = {
        "source_id": source_id,
        "title": source_id.removesuffix(".md").title(),
        "url": f"https://example.org/{source_id}",
        "score": 0.75,
        "score_type": "fused",
        "text": text,
        "char_start": 100,
        "char_end": 100 + len(text),
        "language": "en",
        "snapshot": "20260101T000000-abc",
        "page": 2,
    }
    return Passage(**{**fields, **changes})  # type: ignore[arg-type]


def span(n: int = 1, text: str = "Refunds are paid within 14 days of the return.", **changes: object) -> Span:
    fields: dict[str, object] = {
        "n": n,
        "source_id": "refunds.md",
        "title": "Refunds",
        "url": "https://example.org/refunds.md",
        "text": text,
        "source_start": 100,
        "source_end": 100 + len(text),
        "language": "en",
        "score": 0.75,
        "page": 2,
        "about": ABOUT,
        "block": "list_item",
        "intro": "How refunds work:",
        "headings": ("Shop", "Refunds"),
        "blocks": (Block(start=100, end=100 + len(text), kind="list_item", level=1, intro=(80, 97)),),
    }
    return Span(**{**fields, **changes})  # type: ignore[arg-type]


FEE = span(2, "The shipping fee of 3,000 won is not refunded.", source_start=147, source_end=193)
LANES = (
    SubQuery(id="sq_1", statement="refunds are paid within days", focus="term"),
    SubQuery(id="sq_2", statement="环境 환불 remboursement استرداد", focus="languages"),
)
FLAG = Flag(kind="fabricated_number", strength="strong", words="30 days", evidence_n=(1,), why="the evidence says 14")
WEAK = Flag(kind="uncited", strength="weak", words="It is quick.", evidence_n=(), why="cites nothing")
CONFLICT = Conflict(kind="value", subject="refund term", first_n=1, second_n=2, first="14 days", second="3,000 won")
CONTRADICTION = Contradiction(
    type="nuance", severity="minor", claim="quick", evidence_ref="14 days", explanation="not said"
)
ANALYSIS = Analysis(
    sub_query_id="sq_1",
    sub_query_statement=LANES[0].statement,
    relevant_extracts=(
        Extract(source_file="refunds.md", excerpt="Refunds are paid within 14 days of the return.", relevance="high"),
    ),
    sub_answer="Within 14 days.",
    confidence="high",
    missing_aspects=("who pays",),
    dropped=1,
)
_EVIDENCE = {
    "question": question(),
    "evidence": (span(), FEE),
    "analyses": (ANALYSIS,),
    "conflicts": (CONFLICT,),
    "snapshot": "20260101T000000-abc",
    "rounds": 2,
}
_DRAFT = {
    "question": question(release="draft"),
    "evidence": (span(), FEE),
    "conflicts": (CONFLICT,),
    "sentences": (
        Sentence(text="Refunds are paid within 14 days [1]. "),
        Sentence(text="It is quick.", flags=(WEAK,)),
        Sentence(text=" They take 30 days [1].", flags=(FLAG,), withheld=True),
    ),
    "style": "simple",
    "shown": "",
    "confidence": "medium",
    "cited": ("refunds.md",),
    "contradictions": (CONTRADICTION,),
    "snapshot": "20260101T000000-abc",
    "rounds": 2,
}
SETTLED = Settled(
    outcome="answered",
    question="How many days until refunds are paid?",
    answer="Refunds are paid within 14 days [1].",
    confidence="medium",
    re_gate="caution",
    citations=(
        Citation(
            n=1,
            source_id="refunds.md",
            title="Refunds",
            url="https://example.org/refunds.md",
            page=2,
            source_start=100,
            source_end=146,
            cited_text="Refunds are paid within 14 days of the return.",
            answer_start=32,
            answer_end=35,
            about=ABOUT,
            block="list_item",
            intro="How refunds work:",
            headings=("Shop", "Refunds"),
        ),
    ),
    references=(
        Reference(
            source_id="refunds.md",
            title="Refunds",
            url="https://example.org/refunds.md",
            score=0.75,
            about=ABOUT,
            n=(1,),
            cited=(
                CitedPlace(
                    n=1,
                    url="https://example.org/refunds.md",
                    page=2,
                    source_start=100,
                    source_end=146,
                    cited_text="Refunds are paid within 14 days of the return.",
                    block="list_item",
                    intro="How refunds work:",
                    headings=("Shop", "Refunds"),
                ),
            ),
        ),
    ),
    withheld=(WithheldSentence(text="They take 30 days [1].", flags=(FLAG,)),),
    conflicts=(CONFLICT,),
    contradictions=(CONTRADICTION,),
    snapshot="20260101T000000-abc",
    rounds=2,
    language="en",
    profile="general",
)

_ALL: tuple[Message, ...] = (
    QuestionAsked(
        question="환불은 며칠 안에 되나요? 退款 «remboursement» استرداد",
        conversation_history=(Turn(role="user", content="안녕"), Turn(role="assistant", content="네")),
        profile="library",
        style="simple",
        language="ko",
        contexts=(
            Context(
                content="환불은 14일 안에 지급됩니다.",
                metadata=ContextMetadata(
                    source_id="환불 규정.md", language="ko", title="환불", url="https://x.kr", page=1
                ),
                score=0.5,
                score_type="bm25",
            ),
        ),
        constraints=Constraints(max_tokens=300, style="report", must_cite=False),
        release="draft",
        events="all",
        on_disconnect="cancel",
        deadline_s=12.5,
        idempotency_key="key-1_A",
        filter=FILTER,
    ),
    FollowUpAsked(question=question(), history=(Turn(role="user", content="And refunds?"),)),
    QuestionReady(question=question(filter=FILTER)),
    ComplexQuestionFound(question=question()),
    QueryDecomposed(lane="main", question=question(), sub_queries=LANES),
    SubQueryPlanned(question=question(), sub_query=LANES[0], plan=LANES, round=1, judged=True),
    PassagesRetrieved(
        question=question(), sub_query=LANES[0], plan=LANES, round=1, passages=(passage(),), snapshot="s1"
    ),
    PassagesJudged(
        question=question(),
        sub_query=LANES[0],
        plan=LANES[:1],
        round=1,
        passages=(passage(),),
        analysis=ANALYSIS,
        snapshot="s1",
    ),
    PassagesReady(
        question=question(),
        passages=(passage(), passage("opening.md", OPENING, score=0.25)),
        analyses=(ANALYSIS,),
        missing=("who pays",),
        complex=True,
        rounds=2,
        snapshot="s1",
    ),
    AnswerRequested(style="simple", **_EVIDENCE),  # type: ignore[arg-type]
    DraftMistranslated(**_DRAFT),  # type: ignore[arg-type]
    AnswerDrafted(**_DRAFT),  # type: ignore[arg-type]
    AnswerVerified(**{**_DRAFT, "verified": True}),  # type: ignore[arg-type]
    AnswerSettled(settled=SETTLED, shown="Refunds are paid", retract=False),
    RunFinished(settled=SETTLED),
)

#: Every type of the catalogue, in its order.
SAMPLES: dict[type[Message], Message] = {type(message): message for message in _ALL}
assert tuple(SAMPLES) == CATALOGUE
