"""The whole pipeline in this process over a nats-server of its own: actors, inference, a search over a few pages, a client."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actors.pipeline import pipeline
from actors.question.resolved import RULES, Defaults, resolving_under
from actors.text.numbering import as_evidence
from bus.delivery.worker import Worker
from bus.journal.janitor import Janitor
from bus.journal.journal import Journal
from bus.powers.asking import AskServer
from bus.powers.events import numbers_behind, shown_text
from bus.powers.searching import SearchReply, SearchRequest, serve_search
from bus.runs.requests import serve_runs
from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs
from bus.transport.connection import Client, connect, declare_streams, keep_trying
from bus.transport.health import Watch
from bus.transport.settings import BusSettings
from bus.wire.messages import Message, QuestionAsked
from bus.wire.parts import Passage
from index.model import Document
from index.search.searcher import Searcher
from runtime.engines.engine import Engine
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.processes import nats_users
from runtime.processes.inference import Inference
from runtime.processes.nats_users import Credentials
from runtime.processes.search import Threads
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import Trace
from runtime.settings import InferenceSettings
from tests.bus.wires import serving
from tests.index.conftest import update
from tests.made_runs import by_share, passage

PAGES = {
    "refunds.md": (
        "en",
        "Refunds are paid within 14 days of the return. The shipping fee of 3,000 won is not refunded. "
        "Opened software cannot be returned.",
    ),
    "opening.md": (
        "en",
        "The shop opens at nine on weekdays. On Saturdays it opens at ten and closes at two. "
        "The shop is closed on public holidays.",
    ),
    "환불.md": (
        "ko",
        "환불은 반품을 받은 날부터 14일 안에 지급됩니다. 배송비 3,000원은 환불되지 않습니다. "
        "개봉한 소프트웨어는 반품할 수 없습니다.",
    ),
    "近视.md": (
        "zh",
        "儿童每天应在户外活动至少两小时。低浓度阿托品滴眼液每晚使用一次。角膜塑形镜只能在夜间佩戴。",
    ),
    "bibliotheque.md": (
        "fr",
        "La bibliothèque est ouverte de 8 heures à 20 heures. Chaque étudiant peut emprunter cinq livres pendant trois semaines. "
        "Le retard coûte 0,50 euro par jour.",
    ),
    "الحضور.md": (
        "ar",
        "يجب على الطالب حضور 75 في المئة من المحاضرات. يبدأ الفصل الدراسي في شهر سبتمبر. "
        "تغلق المكتبة أبوابها في الساعة الثامنة مساء.",
    ),
    "biblioteca.md": (
        "es",
        "La biblioteca abre de 9:00 a 21:00. Un investigador puede llevarse diez libros durante dos meses. "
        "Cada día de retraso cuesta 0,30 euros.",
    ),
}


def passages() -> tuple[Passage, ...]:
    return tuple(
        passage(source, text, language, n, site="https://example.org")
        for n, (source, (language, text)) in enumerate(PAGES.items())
    )


async def find(request: SearchRequest) -> SearchReply:
    """Pages of the asked language by the share of the query's terms that they hold."""
    ranked = by_share(request, [page for page in passages() if page.language == request.language])
    return SearchReply(passages=ranked, snapshot="20260101-abc")


@dataclass
class RunResult:
    """The result of one question: every line for the client, the shown text, and the run's record.

    `said`: the shown text, with the numbers of the evidence that the model wrote.
    """

    lines: list[str]
    shown: str
    record: RunRecord
    said: str

    @property
    def types(self) -> list[str]:
        """The events' types in order, a run of tokens as one."""
        found = [str(msgspec.json.decode(line)["type"]) for line in self.lines]
        return [one for at, one in enumerate(found) if at == 0 or one != found[at - 1]]


@dataclass
class Whole:
    """Everything at work. `ask` and `tell` ask and wait for DONE."""

    worker: Worker
    inference: Inference
    runs: Runs
    journal: Journal
    users: Credentials
    janitor: Janitor
    settings: BusSettings
    stop_asks: Callable[[], Awaitable[None]]
    find: Callable[[SearchRequest], Awaitable[SearchReply]]

    @property
    def watches(self) -> tuple[Watch, ...]:
        """All background tasks that must not end."""
        return (self.worker.watch, self.janitor.watch, self.runs.router.watch)

    async def ask(self, question: str, **fields: object) -> tuple[list[dict[str, object]], RunRecord]:
        """The events of a run and its record."""
        asked = QuestionAsked(**{"question": question, "deadline_s": 100.0, **fields})  # type: ignore[arg-type]
        told = await self.tell(asked)
        return [msgspec.json.decode(line) for line in told.lines], told.record

    async def tell(self, question: QuestionAsked) -> RunResult:
        submitted = await self.runs.submit(question)
        lines = [line.decode() async for _, line in self.runs.events(submitted.run_id)]
        record = await self.runs.record(submitted.run_id)
        assert record is not None
        frames = await self.journal.frames(submitted.run_id)
        shown, numbers = shown_text(frames), next(filter(None, map(numbers_behind, reversed(frames))), ())
        return RunResult(lines, shown, record, as_evidence(shown, numbers))

    async def traced(self, question: QuestionAsked, run_id: str | None = None) -> Trace:
        submitted = await self.runs.submit(question, run_id)
        async for _ in self.runs.events(submitted.run_id):
            pass
        return await read_run(self.journal, submitted.run_id)

    async def messages(self, run_id: str) -> list[Message]:
        return [record.message for record in await self.journal.run(run_id)]


@contextlib.asynccontextmanager
async def whole(
    folder: Path,
    engine: Engine,
    *,
    cache_entries: int = 300,
    find: Callable[[SearchRequest], Awaitable[SearchReply]] = find,
    url: str = "",
    in_place: bool = False,
    defaults: Defaults | None = None,
) -> AsyncIterator[Whole]:
    """Ready for questions; `url`: over this server, not one of its own; `in_place`: the actors answer their asks.

    Bugs of actors or engine fail the test at the end.
    """
    with contextlib.ExitStack() as own:
        server = None if url else own.enter_context(serving(folder, with_users=True))
        users = server.users if server else nats_users.make(folder, url)
        plain = BusSettings(heartbeat_s=0.4, janitor_period_s=0.1)

        async def connected(user: str) -> Client:
            client = await connect(users.bus(plain, user), name="whole", user=user)
            keep_trying(client)
            return client

        settings = users.bus(plain, "actors")
        client = await connected("operator")
        await declare_streams(client.jetstream(timeout=2.0), settings)
        await engine.start()
        inference = Inference(engine, InferenceSettings(cache_entries=cache_entries))
        answering, searching = await connected("inference"), await connected("search")
        asks = AskServer(answering, inference.answer)
        stop_asks = await asks.start()
        stop_searches = await serve_search(searching, find)
        worker = Worker(pipeline(), settings, answer=inference.answer if in_place else None)
        with resolving_under(defaults or Defaults(has_model=engine.name != RULES, languages=())):
            await worker.start()
        janitor = Janitor(worker.journal, settings)
        await janitor.start()
        stop_requests = await serve_runs(worker.client, Runs(worker.journal))
        journal = Journal(client)
        runs = Runs(journal)
        await runs.start()
        yield Whole(worker, inference, runs, journal, users, janitor, settings, stop_asks, find)
        await runs.stop()
        await stop_requests()
        await janitor.stop()
        await worker.stop()
        await stop_asks()
        await stop_searches()
        for each in (answering, searching, client):
            await each.close()
        assert worker.bugs == []
        assert asks.bugs == []


@contextlib.asynccontextmanager
async def whole_over(folder: Path, documents: Iterable[Document]) -> AsyncIterator[Whole]:
    """All of it, with a search over a real index of these documents."""
    await asyncio.to_thread(update, folder / "index", documents)
    searcher = await asyncio.to_thread(Searcher.open, folder / "index")
    with contextlib.closing(searcher), contextlib.closing(Threads(lambda: searcher, 2)) as threads:
        async with whole(folder / "whole", ExtractiveEngine(), find=threads.find) as made:
            yield made
