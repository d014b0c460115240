"""Runs recorded through the real worker and the extractive engine, over contexts supplied with the question."""

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Protocol

import pytest
from groundwire.wire import Context, ContextMetadata

from actors.pipeline import pipeline
from actors.question.resolved import RULES, Defaults, resolving_under
from bus.delivery.worker import Worker
from bus.journal.journal import Journal
from bus.powers.asking import AskServer
from bus.runs.runs import Runs
from bus.transport.connection import connect, keep_trying
from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked
from runtime.engines.engine import Engine
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.processes.inference import Inference
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import Trace
from runtime.settings import InferenceSettings

REFUNDS = "Refunds are paid within 14 days of the return. Shipping costs 3,000 won. The shop opens at nine."
LADDERS = "Ladders must be checked every 6 months. A broken ladder must not be used. The foreman keeps the list."


def given(*texts: str, language: str = "en") -> tuple[Context, ...]:
    return tuple(
        Context(content=text, metadata=ContextMetadata(source_id=f"doc{n}", title=text.split()[0], language=language))
        for n, text in enumerate(texts, start=1)
    )


#: A question for each way through the pipeline.
QUESTIONS = {
    "simple": QuestionAsked(question="How many days until refunds are paid?", contexts=given(REFUNDS, LADDERS)),
    "all events": QuestionAsked(
        question="How often must ladders be checked?", contexts=given(REFUNDS, LADDERS), events="all"
    ),
    "complex": QuestionAsked(
        question="What is the difference between when refunds are paid and when ladders must be checked,"
        " and who insures the moon base?",
        contexts=given(REFUNDS, LADDERS),
    ),
    "refused": QuestionAsked(question="Who is the king of France?", contexts=given(REFUNDS)),
    "closest": QuestionAsked(
        question="Qui dirige les étudiants ?",
        contexts=given(
            "La bibliothèque est ouverte de 8 heures à 20 heures. Chaque étudiant peut emprunter cinq livres. "
            "Le retard coûte 0,50 euro par jour.",
            language="fr",
        ),
        events="all",
    ),
    "declined": QuestionAsked(question="hello", contexts=given(REFUNDS)),
    "draft": QuestionAsked(
        question="How many days until refunds are paid?", contexts=given(REFUNDS), profile="library", release="draft"
    ),
    "token": QuestionAsked(question="How many days until refunds are paid?", contexts=given(REFUNDS), release="token"),
    "token in Chinese": QuestionAsked(
        question="运费是多少元？", contexts=given("退款在14天内支付。运费为30元。商店不得出售刀具。"), release="token"
    ),
    "structured": QuestionAsked(
        question="How often must ladders be checked?", contexts=given(LADDERS), style="structured"
    ),
    "report": QuestionAsked(question="How often must ladders be checked?", contexts=given(LADDERS), style="report"),
    "nothing given": QuestionAsked(question="How often must ladders be checked?", contexts=()),
}


class Recording:
    """Asks a question of the whole pipeline and gives its trace, as the journal has it."""

    def __init__(self, runs: Runs, journal: Journal, worker: Worker) -> None:
        self.runs, self.journal, self.worker = runs, journal, worker

    async def __call__(self, question: QuestionAsked, run_id: str | None = None) -> Trace:
        submitted = await self.runs.submit(question, run_id)
        async for _ in self.runs.events(submitted.run_id):
            pass
        return await read_run(self.journal, submitted.run_id)


class Recorder(Protocol):
    def __call__(
        self, engine: Engine, *, cache_entries: int = 0, defaults: Defaults | None = None
    ) -> contextlib.AbstractAsyncContextManager[Recording]: ...


@contextlib.asynccontextmanager
async def recording(
    settings: BusSettings, engine: Engine, *, cache_entries: int = 0, defaults: Defaults | None = None
) -> AsyncIterator[Recording]:
    client = await connect(settings.url, name="recorder")
    keep_trying(client)
    server = AskServer(client, Inference(engine, InferenceSettings(cache_entries=cache_entries)).answer)
    close = await server.start()
    worker = Worker(pipeline(), settings)
    with resolving_under(defaults or Defaults(has_model=engine.name != RULES)):
        await worker.start()
    journal = Journal(client)
    runs = Runs(journal)
    await runs.start()
    yield Recording(runs, journal, worker)
    assert (worker.bugs, server.bugs) == ([], [])
    await runs.stop()
    await worker.stop()
    await close()
    await client.close()


@pytest.fixture(scope="session")
def recorder(bus_settings: BusSettings) -> Recorder:
    return partial(recording, bus_settings)


@pytest.fixture(scope="session")
async def journal(bus_settings: BusSettings) -> AsyncIterator[Journal]:
    """The journal, without any worker."""
    client = await connect(bus_settings.url, name="journal")
    yield Journal(client)
    await client.close()


@pytest.fixture(scope="session")
async def traces(recorder: Recorder) -> dict[str, Trace]:
    """One trace for each of QUESTIONS."""
    async with recorder(ExtractiveEngine()) as record:
        return {name: await record(question) for name, question in QUESTIONS.items()}
