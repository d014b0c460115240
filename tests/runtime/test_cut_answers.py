"""`max_tokens`: the shown text ends there, the record has the reason, the model stops, no unchecked text is shown."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.pipeline import pipeline
from bus.powers.events import tokens_of
from bus.wire.parts import Constraints
from index.text.citations import markers
from runtime.engines.engine import Delta, Finished, Request
from runtime.replay.journal_traces import read_run
from runtime.replay.replayer import replay
from tests.runtime.test_markers import CONTEXTS, LIE, QUESTION, Engine, text_of, told
from tests.whole import Whole, whole

SENTENCES = ("The shop opens at nine on weekdays [3]. ", "Refunds are paid within 14 days of the return [1]. ")
RELEASES = ("sentence", "token", "draft")


class Endless(Engine):
    """Emits SENTENCES for ever; `left` is set when no client reads any more."""

    def __init__(self) -> None:
        super().__init__()
        self.left = asyncio.Event()
        self.budgets: list[int] = []

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        if request.variables.name != "answer_simple" or not self.hold:
            async for part in super().generate(request):
                yield part
            return
        self.budgets.append(request.max_tokens)
        try:
            for piece in itertools.cycle(tokens_of("".join(SENTENCES))):
                yield Delta(piece)
                await asyncio.sleep(0.001)
        finally:
            self.left.set()


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Endless]]:
    engine = Endless()
    async with whole(tmp_path_factory.mktemp("cut"), engine, cache_entries=0) as made:
        yield made, engine


async def cut(stack: tuple[Whole, Endless], said: str, constraints: Constraints, **fields: Any) -> tuple[Any, Any]:
    run, engine = stack
    engine.said, engine.hold, engine.more = (lambda _: [said]), False, {}
    events, record = await run.ask(QUESTION, contexts=CONTEXTS, constraints=constraints, **fields)
    assert (await replay(await read_run(run.journal, record.run_id), pipeline())).divergence is None
    return events, record


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (1, "The…"),
        (7, "The shop opens at nine on weekdays…"),
        (8, "The shop opens at nine on weekdays [1]."),
        (100, ""),
    ],
)
async def test_so_many_tokens_are_shown(stack: tuple[Whole, Endless], release: str, most: int, shown: str) -> None:
    events, record = await cut(stack, "".join(SENTENCES), Constraints(max_tokens=most), release=release)
    assert record.outcome == "answered"
    assert record.cut == ("length" if shown else None)
    assert text_of(events) == record.answer
    if shown:
        assert record.answer.rstrip() == shown
        assert [reference["source_id"] for reference in told(events)] == ["doc3.md"]
    assert [c.n for c in record.citations] == [n for m in markers(record.answer) for n in m.numbers]


@pytest.mark.parametrize("release", ["sentence", "draft"])
async def test_a_cut_shows_nothing_unchecked(stack: tuple[Whole, Endless], release: str) -> None:
    _, record = await cut(stack, f"{LIE} [1]. {SENTENCES[0]}", Constraints(max_tokens=2), release=release)
    assert record.answer == "The shop…"
    assert [w.text.strip() for w in record.withheld] == [f"{LIE} [1]."]


@pytest.mark.parametrize("style", ["synthesis", "structured", "report", "hint"])
async def test_every_style_is_cut(stack: tuple[Whole, Endless], style: str) -> None:
    events, record = await cut(stack, "".join(SENTENCES), Constraints(max_tokens=3), style=style)
    assert (text_of(events).rstrip("…"), record.cut) == ("The shop opens", "length")


@pytest.mark.parametrize("release", ["sentence", "token"])
async def test_model_stops_at_the_limit(stack: tuple[Whole, Endless], release: str) -> None:
    run, engine = stack
    engine.said, engine.hold, engine.more = (lambda _: []), True, {}
    engine.left.clear()
    events, record = await run.ask(QUESTION, contexts=CONTEXTS, constraints=Constraints(max_tokens=10), release=release)
    assert (text_of(events).rstrip(), record.cut) == ("The shop opens at nine on weekdays [1]. Refunds are…", "length")
    await asyncio.wait_for(engine.left.wait(), 30)
    assert engine.budgets[-1] == 4 * 10 + 160
    trace = await read_run(run.journal, record.run_id)
    assert (await replay(trace, pipeline())).divergence is None


async def test_fixed_texts_and_refusals_are_cut(stack: tuple[Whole, Endless]) -> None:
    run, engine = stack
    engine.hold, engine.more = False, {}
    events, record = await run.ask("Hello?", contexts=(), constraints=Constraints(max_tokens=1))
    assert (record.outcome, record.cut) == ("refused", "length")
    assert text_of(events) == record.answer == tokens_of(record.answer.rstrip("…"))[0] + "…"
    _, record = await cut(stack, f"{LIE} [1]. {LIE} [1].", Constraints(max_tokens=2))
    assert (record.outcome, record.cut, len(record.answer.split())) == ("closest", "length", 2)
