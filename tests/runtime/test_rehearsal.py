"""Before readiness an actors process answers what the documents ask, and keeps nothing of it."""

from pathlib import Path

from actors.pipeline import pipeline
from bus.delivery.rehearsal import rehearse
from bus.powers.searching import SearchReply, SearchRequest
from bus.powers.served_index import ExampleQuestion, Held, ServedIndex, answer_served_index
from bus.transport.connection import connect
from bus.transport.settings import BusSettings
from bus.wire.subjects import EVENTS, RUNS
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.whole import find, whole

QUESTION = "When are refunds paid?"


async def test_rehearsal_is_not_kept(tmp_path: Path) -> None:
    searched: list[str] = []

    async def noted(request: SearchRequest) -> SearchReply:
        searched.append(request.query)
        return await find(request)

    async def served() -> ServedIndex:
        raise NotImplementedError

    async def held(_: object) -> Held:
        example = ExampleQuestion(question=QUESTION, language="en", source_id="refunds.md")
        return Held(documents=1, examples=(example,))

    async with whole(tmp_path, ExtractiveEngine(), find=noted, in_place=True) as every:
        searching = await connect(every.users.bus(BusSettings(), "search"), name="held", user="search")
        await answer_served_index(searching, served, held)
        before = [(await every.journal.usage(stream)).last for stream in (RUNS, EVENTS)]
        await rehearse(every.worker.client, pipeline(), every.inference.answer)
        assert searched
        assert [(await every.journal.usage(stream)).last for stream in (RUNS, EVENTS)] == before
        _, record = await every.ask(QUESTION)
        assert record.outcome == "answered"
        await searching.close()
