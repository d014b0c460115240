"""The turns of keys that have pages drawn, over a real nats-server."""

import asyncio

from bus.powers.sources import PageAsked, PageView, Question, answer_sources
from runtime.edge.sources.drawing import Drawing
from tests.polling import until
from tests.runtime.edge.conftest import Bus

VIEW = PageView(pages=1, width=1, height=1)


async def test_key_waits_for_its_turn_and_is_forgotten(bus: Bus) -> None:
    drawing = Drawing()
    first, over = asyncio.Event(), asyncio.Event()
    asked: list[str] = []

    async def find(question: Question) -> PageView:
        assert isinstance(question, PageAsked)
        asked.append(question.source_id)
        first.set()
        await over.wait()
        return VIEW

    def wanted(key: str, name: str) -> asyncio.Task[PageView]:
        page = PageAsked(source_id=name, page=1)
        return asyncio.create_task(drawing.ask(bus.client, key, page, PageView))

    close = await answer_sources(bus.client, find)
    ann = wanted("ann", "a")
    await first.wait()
    later, bob = wanted("ann", "b"), wanted("bob", "c")
    await until(lambda: len(asked) == 2)
    assert asked == ["a", "c"]
    ann.cancel()  # has left; its page is drawn, and its turn is not over
    await asyncio.wait([ann])
    assert set(drawing._turns) == {"ann", "bob"}
    over.set()
    assert await later == await bob == VIEW
    assert asked == ["a", "c", "b"]
    del ann, later, bob
    await until(lambda: not drawing._turns)
    await close()
