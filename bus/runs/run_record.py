"""The record of a run, as `GET /v1/runs/{id}` returns it: built from the journal at any time, by any process."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from bus.journal.records import AskRecord, Record, Stage
from bus.wire.errors import Poison
from bus.wire.messages import (
    Citation,
    Conflict,
    Contradiction,
    Draft,
    Message,
    NearPassage,
    PassagesReady,
    Question,
    QuestionAsked,
    Reference,
    RunFinished,
    Settled,
    WithheldSentence,
    question_about,
)
from index.masking.text import mask
from prompts.vocabulary import Confidence, Cut, Outcome, Reason, Unrun


class StageTiming(msgspec.Struct, frozen=True, kw_only=True):
    """One actor's work on one lane. `began_s` counts from the question's arrival; `fallback` says why it was taken."""

    stage: str
    lane: str
    began_s: float
    took_s: float
    attempt: int = 1
    fallback: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a question. Times in seconds; `asked_at` and `finished_at` in epoch seconds.

    `first_shown_s`: from the question's arrival to the first token; None when none was shown. `withheld_share`: withheld
    sentences over all sentences of the draft, 0..1. `tokens_in` and `tokens_out`: of all models together. `model` lists
    each model that took part as `engine:model`, separated by commas. `passages`: the closest ones, where nothing is claimed.
    `probability`: that the answer answers the question, as measured; None when it is not known. `unrun`: why nothing was run.
    `withdrawn`: what was shown and then taken back. The citations are of `answer`, or of `withdrawn` where there is one. `cut`: why
    the answer ends before its end: by the request's `max_tokens` or `stop`.
    `conversation`: the run that began the conversation, which may be this one.
    """

    run_id: str
    status: Literal["running", "finished"]
    question: str
    profile: str
    conversation: str = ""
    language: str = ""
    outcome: Outcome | None = None
    reason: Reason | None = None
    detail: str = ""
    unrun: Unrun | None = None
    answer: str = ""
    withdrawn: str = ""
    cut: Cut | None = None
    confidence: Confidence | None = None
    probability: float | None = None
    re_gate: str | None = None
    citations: tuple[Citation, ...] = ()
    references: tuple[Reference, ...] = ()
    passages: tuple[NearPassage, ...] = ()
    withheld: tuple[WithheldSentence, ...] = ()
    withheld_share: float = 0.0
    conflicts: tuple[Conflict, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    snapshot: str = ""
    rounds: int = 0
    model: str = ""
    prompt_versions: dict[str, str] = {}
    tokens_in: int = 0
    tokens_out: int = 0
    asked_at: float = 0.0
    finished_at: float | None = None
    took_s: float | None = None
    first_shown_s: float | None = None
    stages: tuple[StageTiming, ...] = ()


def record_of(records: Sequence[Record]) -> RunRecord | None:
    """The record of the run whose complete journal records are given, oldest first; None without its question."""
    first = next((record for record in records if record.key.type == "question_asked"), None)
    if first is None:
        return None
    messages = [(record, m) for record in records if (m := readable(record)) is not None]
    ended = next(((record, m.settled) for record, m in messages if isinstance(m, RunFinished)), None)
    question = next((m for _, m in messages if isinstance(m, QuestionAsked)), None)
    if question is None:  # an unreadable record was written; the run has failed, or will
        question = QuestionAsked(question=ended[1].question if ended else "")
    settled = ended[1] if ended else Settled(outcome="answered", profile=question.profile)
    stages = [(record, stage) for record, _ in messages if (stage := record.stage) is not None]
    asks = [ask for _, stage in stages for ask in stage.asks]
    shown = min((stage.first_shown_at for _, stage in stages if stage.first_shown_at), default=0.0)
    finished_at = ended[0].time if ended else None
    return RunRecord(
        run_id=first.key.run_id,
        status="finished" if ended else "running",
        question=_shown(question.question, [m for _, m in messages]),
        profile=question.profile,
        conversation=question.conversation or first.key.run_id,
        language=settled.language or question.language or _language([m for _, m in messages]),
        outcome=settled.outcome if ended else None,
        reason=settled.reason,
        detail=settled.detail,
        unrun=settled.unrun or None,
        answer=settled.answer,
        withdrawn=settled.withdrawn or "",
        cut=settled.cut or None,
        confidence=settled.confidence,
        probability=settled.probability,
        re_gate=settled.re_gate,
        citations=settled.citations,
        references=settled.references,
        passages=settled.passages,
        withheld=settled.withheld,
        withheld_share=_withheld_share([m for _, m in messages], settled),
        conflicts=settled.conflicts,
        contradictions=settled.contradictions,
        snapshot=settled.snapshot or _snapshot([m for _, m in messages]),
        rounds=settled.rounds if ended else 0,
        model=", ".join(dict.fromkeys(_model(ask) for ask in asks if ask.model or ask.engine)),
        prompt_versions={ask.prompt: ask.version for ask in asks if ask.version},
        tokens_in=sum(ask.tokens_in for ask in asks),
        tokens_out=sum(ask.tokens_out for ask in asks),
        asked_at=first.time,
        finished_at=finished_at,
        took_s=round(finished_at - first.time, 6) if finished_at else None,
        first_shown_s=round(max(0.0, shown - first.time), 6) if shown else None,
        stages=tuple(_timing(record, stage, first.time) for record, stage in stages),
    )


def readable(record: Record) -> Message | None:
    """The message; None for a record that was set aside."""
    try:
        return record.message
    except Poison:
        return None


def _shown(asked: str, messages: Sequence[Message]) -> str:
    """What was asked, masked unless the profile leaves personal data as it is."""
    said = next((q.masked for m in messages if isinstance(q := question_about(m), Question)), True)
    return mask(asked) if said else asked


def _timing(record: Record, stage: Stage, asked_at: float) -> StageTiming:
    """The journal knows when a stage's output was written; its start is that time minus the stage's duration."""
    return StageTiming(
        stage=stage.actor,
        lane=record.key.lane,
        began_s=round(max(0.0, record.time - asked_at - stage.took_s), 6),
        took_s=stage.took_s,
        attempt=stage.attempt,
        fallback=stage.fallback,
        tokens_in=sum(ask.tokens_in for ask in stage.asks),
        tokens_out=sum(ask.tokens_out for ask in stage.asks),
    )


def _model(ask: AskRecord) -> str:
    return (
        f"{ask.engine}:{ask.model}" if ask.engine and ask.model and ask.engine != ask.model else ask.model or ask.engine
    )


def _withheld_share(messages: Sequence[Message], settled: Settled) -> float:
    drafts = [m for m in messages if isinstance(m, Draft)]
    sentences = len(drafts[-1].sentences) if drafts else 0
    return round(len(settled.withheld) / sentences, 4) if sentences else 0.0


def _snapshot(messages: Sequence[Message]) -> str:
    return next((m.snapshot for m in reversed(messages) if isinstance(m, PassagesReady)), "")


def _language(messages: Sequence[Message]) -> str:
    return next((q.language for m in messages if (q := getattr(m, "question", None)) and hasattr(q, "language")), "")
