"""Runs recorded through the whole pipeline and the extractive engine, over contexts supplied with the question."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from groundwire.wire import Context, ContextMetadata

from bus.journal.journal import Journal
from bus.transport.connection import connect
from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked
from runtime.engines.engine import Engine
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.trace import Trace
from tests.whole import Whole, whole

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


type Recorder = Callable[..., AbstractAsyncContextManager[Whole]]


@pytest.fixture(scope="session")
def recorder(bus_settings: BusSettings, tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """The whole pipeline on an engine, over the session's nats-server."""

    def recording(engine: Engine, **options: Any) -> AbstractAsyncContextManager[Whole]:
        folder = tmp_path_factory.mktemp("recorder")
        return whole(folder, engine, url=bus_settings.url, **{"cache_entries": 0, **options})

    return recording


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
        return {name: await record.traced(question) for name, question in QUESTIONS.items()}
