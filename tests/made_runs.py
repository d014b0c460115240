"""Recorded runs without a bus: a question over given pages, answered by rules or by a scripted model that is often wrong."""

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import msgspec

from actors.evidence.spans import share_held
from actors.pipeline import pipeline
from bus.journal.records import Record, encode
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Collection, Passage
from bus.wire.subjects import Key
from index.languages.words import written_terms
from runtime.engines.engine import Engine, Request
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from runtime.forking.fork import fork
from runtime.forking.live_powers import Live
from runtime.processes.inference import Inference
from runtime.replay.trace import Trace
from runtime.settings import InferenceSettings

ASKED_AT = 1_700_000_000.0


def passage(source: str, text: str, language: str, number: int, site: str = "https://docs.example.org") -> Passage:
    return Passage(
        source_id=source,
        title=source.removesuffix(".md"),
        url=f"{site}/{number}",
        score=0.5,
        score_type="share",
        text=text,
        char_start=0,
        char_end=len(text),
        language=language,
        snapshot="20260101-abc",
    )


def by_share(request: SearchRequest, pages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The best of these pages by the share of the query's terms that they hold."""
    shares = [(page, round(share_held(request.query, page.text), 4)) for page in pages]
    ranked = sorted(shares, key=lambda each: -each[1])[: request.k]
    return tuple(
        msgspec.structs.replace(page, score=share, coverage=share, cosine=0.2) for page, share in ranked if share > 0
    )


class Pages:
    """A search over a few pages."""

    def __init__(self, pages: Sequence[Passage]) -> None:
        self.pages = tuple(pages)

    async def __call__(self, request: SearchRequest) -> SearchReply:
        rarity = {term: 0.5 for term, _ in written_terms(request.query)}
        collection = Collection(languages={request.language: len(self.pages)}, rarity=rarity)
        return SearchReply(passages=by_share(request, self.pages), snapshot="20260101-abc", collection=collection)


def doubtful(chance: random.Random) -> Engine:
    """A model that repeats a sentence of its evidence: as it is, with another number, or without a citation."""

    def reply(request: Request) -> str:
        variables = request.variables
        evidence = getattr(variables, "retrieved_chunks", ()) or getattr(variables, "evidence", ())
        if not variables.name.startswith("answer_") or not evidence or variables.reply_type() is not str:
            return default_script(request)
        said = []
        for n, span in enumerate(evidence[:3], 1):
            for sentence in re.split(r"(?<=[.。]) *(?=\s|$)|(?<=。)", span.text)[:3]:
                text = sentence.strip(" .。")
                if not text:
                    continue
                mood = chance.random()
                if mood < 0.25:
                    text = re.sub(r"\d+", lambda m: str(int(m[0]) + 7), text, count=1)
                said.append(f"{text} [{n}]." if mood < 0.85 else f"{text}.")
        return " ".join(said) or "Nothing."

    return ScriptedEngine(reply)


async def made(question: QuestionAsked, pages: Sequence[Passage], run_id: str, engine: Engine | None = None) -> Trace:
    """The trace of a run; without an engine, rules answer."""
    return await made_by(question, live_over(Pages(pages), engine, engine is not None), run_id)


def live_over(
    find: Callable[[SearchRequest], Awaitable[SearchReply]] | None = None,
    engine: Engine | None = None,
    has_model: bool | None = None,
) -> Live:
    inference = Inference(engine or ExtractiveEngine(), InferenceSettings(cache_entries=0))
    return Live(inference, find=find, has_model=has_model)


async def made_by(question: QuestionAsked, live: Live, run_id: str) -> Trace:
    """The trace of a run, as if it forked none."""
    asked = Record(Key("question_asked", run_id), 1, ASKED_AT, encode(question), {})
    trace = await fork(Trace(run_id, (asked,)), pipeline(), "classify_intent", run_id, live)
    headers = {"Gw-Parent", "Gw-Forked-At", "Gw-Taken-Over"}
    records = (
        replace(r, headers={name: value for name, value in r.headers.items() if name not in headers})
        for r in trace.records
    )
    return replace(trace, records=tuple(records))
