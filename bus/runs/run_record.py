"""The record of a run, as `GET /v1/runs/{id}` returns it: built from the journal at any time, by any process."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from groundwire.wire import Citation, NearPassage, Reference, StageTiming, StructuredAnswer

from bus.journal.records import AskRecord
from bus.runs.story import RunStory, StageRun
from bus.wire.messages import Draft, Message, PassagesReady
from bus.wire.parts import Conflict, Contradiction
from bus.wire.settled import Settled, UnverifiedSentence, WithheldSentence
from index.masking import mask, masked
from index.text.citations import strip_markers
from prompts.vocabulary import Confidence, Cut, Outcome, Reason, Unrun


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a question. Times in seconds; `asked_at` and `finished_at` in epoch seconds.

    `first_shown_s`: from the question's arrival to the first token; None without a token. `withheld_share`: withheld
    sentences over all sentences of the draft, 0..1. `calls`, `tokens_in` and `tokens_out`: of all models together. `model` lists
    each model that took part as `engine:model`, separated by commas. `passages`: the closest ones, where nothing is claimed;
    `nearby`: the same beside an answer whose `confidence` is not high; `missing`: the words of the question that its sources lack.
    `probability`: that the answer answers the question, as measured; None when it is not known. `unrun`: why nothing ran.
    `withdrawn`: text that the client saw before it was taken back. The citations belong to `withdrawn` if there is one, else to
    `answer`. `cut`: why the answer ends early: the request's `max_tokens`.
    `conversation`: the first run of the conversation, which may be this run.
    `structured`: the parts of an answer of that style; None for the other styles, and where nothing is answered.
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
    structured: StructuredAnswer | None = None
    cut: Cut | None = None
    confidence: Confidence | None = None
    probability: float | None = None
    re_gate: str | None = None
    citations: tuple[Citation, ...] = ()
    references: tuple[Reference, ...] = ()
    passages: tuple[NearPassage, ...] = ()
    nearby: tuple[NearPassage, ...] = ()
    missing: tuple[str, ...] = ()
    unverified: tuple[UnverifiedSentence, ...] = ()
    withheld: tuple[WithheldSentence, ...] = ()
    withheld_share: float = 0.0
    conflicts: tuple[Conflict, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    snapshot: str = ""
    rounds: int = 0
    model: str = ""
    prompt_versions: dict[str, str] = {}
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    asked_at: float = 0.0
    finished_at: float | None = None
    took_s: float | None = None
    first_shown_s: float | None = None
    stages: tuple[StageTiming, ...] = ()


def ending(outcome: Outcome | None, reason: Reason | None) -> str:
    """The end of a run for a person, as `refused (no_results)`; `running` before its end."""
    return f"{outcome or 'running'}{f' ({reason})' if reason else ''}"


_AS_SETTLED = (
    *("reason", "detail", "answer", "confidence", "probability", "re_gate", "citations", "references", "passages"),
    *("withheld", "conflicts", "contradictions"),
)


def record_of(story: RunStory) -> RunRecord | None:
    """The record of a run; None without its question."""
    if not story.run_id:
        return None
    question, ended, asked_at, finished_at = story.question, story.settled, story.asked_at, story.finished_at
    settled = ended or Settled(outcome="answered", profile=question.profile)
    resolved = next(iter(story.questions), None)  # the question as the first stage resolved it
    shown_at = story.first_shown_at
    return RunRecord(
        **{name: getattr(settled, name) for name in _AS_SETTLED},
        run_id=story.run_id,
        status="finished" if ended else "running",
        question=question.question if resolved and not resolved.masked else mask(question.question),
        profile=question.profile,
        conversation=question.conversation or story.run_id,
        language=settled.language or question.language or (resolved.language if resolved else ""),
        outcome=settled.outcome if ended else None,
        unrun=settled.unrun or None,
        withdrawn=settled.withdrawn or "",
        structured=_structured(story.draft, settled),
        cut=settled.cut or None,
        unverified=settled.unverified or (),
        withheld_share=_withheld_share(story.draft, settled),
        nearby=_nearby(story, settled) if settled.outcome == "answered" and settled.confidence != "high" else (),
        snapshot=settled.snapshot or _snapshot(story.messages),
        rounds=settled.rounds if ended else 0,
        model=", ".join(dict.fromkeys(_model(ask) for ask in story.asks if ask.model or ask.engine)),
        prompt_versions={ask.prompt: ask.version for ask in story.asks if ask.version},
        calls=sum(each.calls for each in story.stages),
        tokens_in=sum(ask.tokens_in for ask in story.asks),
        tokens_out=sum(ask.tokens_out for ask in story.asks),
        asked_at=asked_at,
        finished_at=finished_at,
        took_s=round(finished_at - asked_at, 6) if finished_at else None,
        first_shown_s=round(max(0.0, shown_at - asked_at), 6) if shown_at else None,
        stages=tuple(_timing(each, asked_at) for each in story.stages),
    )


def _timing(run: StageRun, asked_at: float) -> StageTiming:
    return StageTiming(
        stage=run.stage.actor,
        lane=run.record.key.lane,
        began_s=round(run.began_s(asked_at), 6),
        took_s=run.stage.took_s,
        attempt=run.stage.attempt,
        fallback=run.fallback,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
    )


def _model(ask: AskRecord) -> str:
    return ":".join(dict.fromkeys(filter(None, (ask.engine, ask.model))))


def _structured(draft: Draft | None, settled: Settled) -> StructuredAnswer | None:
    if draft is None or draft.style != "structured" or settled.outcome != "answered":
        return None
    text, _, notice = settled.answer.partition("\n\n") if settled.conflicts else (settled.answer, "", "")
    sources = settled.citations or settled.references  # a model may list its sources and mark no sentence
    lines = [strip_markers(line).strip() for line in text.splitlines() if line.strip()]
    return StructuredAnswer(
        summary=" ".join(line for line in lines if not line.startswith("- ")),
        details=tuple(line.removeprefix("- ") for line in lines if line.startswith("- ")),
        citations=tuple(dict.fromkeys(each.source_id for each in sources)),
        notice=strip_markers(notice),
    )


def _nearby(story: RunStory, settled: Settled) -> tuple[NearPassage, ...]:
    """The closest passages of the rules' choice, with their texts from the message that the choice was made in; none that is
    cited as a whole.
    """
    choice = next((each.stage.choice for each in reversed(story.stages) if each.stage.choice is not None), None)
    ready = next((m for m in reversed(story.messages) if isinstance(m, PassagesReady)), None)
    if choice is None or ready is None:
        return ()
    found = tuple(
        msgspec.structs.replace(
            near, text=each.text[near.source_start - each.char_start : near.source_end - each.char_start]
        )
        for near in choice.near
        for each in (*ready.passages, *ready.near)
        if each.source_id == near.source_id
        and each.char_start <= near.source_start
        and near.source_end <= each.char_end
    )
    cited = [(each.source_id, range(each.source_start, each.source_end + 1)) for each in settled.citations]
    by_place = {(each.source_id, each.source_start, each.source_end): each for each in found}
    found = tuple(
        near
        for (source, start, end), near in by_place.items()
        if not any(source == of and start in span and end in span for of, span in cited)
    )
    return masked(found) if ready.question.masked else found


def _withheld_share(draft: Draft | None, settled: Settled) -> float:
    return round(len(settled.withheld) / len(draft.sentences), 4) if draft and draft.sentences else 0.0


def _snapshot(messages: Sequence[Message]) -> str:
    return next((m.snapshot for m in reversed(messages) if isinstance(m, PassagesReady)), "")
