"""Ask, follow, cancel, look up: what a client of the pipeline does, be it the edge, the command line or an integration."""

import asyncio
import contextlib
import hashlib
import logging
import math
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from bus.journal.access import Access, access_in, access_key, grant
from bus.journal.journal import LAGS, Journal
from bus.journal.records import Record, readable
from bus.journal.room import Room
from bus.runs.citing import was_cut_off, with_sentences, with_shown
from bus.runs.router import EventRouter, Numbered, Reader
from bus.runs.run_record import RunRecord, record_of
from bus.runs.story import story_of
from bus.wire.errors import Unavailable
from bus.wire.messages import Message, QuestionAsked, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import CHAT, Key, cancel_subject, check_id, finished, key_of, run_filters

#: How long a client waits for a server that does not answer before it gets an error.
PATIENCE_S = 10.0
#: A run's last events are stored this long after its end, or not at all: another process sends them again within seconds.
EVENTS_LATE_S = 20.0
#: For how long a server may be silent that a question was sent to, and the question still not be run.
LONGEST_STALL_S = 3600.0
#: How often a question is looked for that the stream's leader has.
_LOOKS = 3
WITHDRAWN = "nats-server did not confirm the question in time, so it was withdrawn"

log = logging.getLogger("groundwire.runs")


class NoSuchRun(LookupError):
    """There is no run with this id, or the journal no longer keeps it."""


class EventsGone(LookupError):
    """The run is over and its events have expired or were lost; its record is still available."""


class KeyReused(ValueError):
    """The idempotency key or the run id already belongs to another question."""


class NoAnswer(Unavailable):
    """Something was sent to nats-server, and no answer came in time: it may have been done, or be done later."""


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """The run of a question; `created` is false when it existed before."""

    run_id: str
    created: bool


class Runs:
    """The runs of one bus, for one process. Call `start` before reading anything, `stop` at the end."""

    def __init__(self, journal: Journal, *, patience_s: float = PATIENCE_S, secret: bytes = b"") -> None:
        """`secret` makes the ids of runs with an idempotency key; the edges of one bus share it. Random if empty."""
        self.client = journal.client
        self.journal = journal
        self.router = EventRouter(journal)
        self.room = Room(journal)
        self._patience_s = patience_s
        self._secret = secret or secrets.token_bytes(32)
        self._withdrawing: set[asyncio.Task[int | None]] = set()

    async def start(self) -> None:
        """Listen to the events of all runs. Raises Unavailable."""
        await self.router.start()

    async def stop(self) -> None:
        await self.router.stop()
        for task in self._withdrawing:
            task.cancel()
        await asyncio.gather(*self._withdrawing, return_exceptions=True)

    # ------------------------------------------------------------ submit

    async def identify(self, question: QuestionAsked, access: Access | None = None) -> QuestionRun:
        """The run that the question gets or has; nothing is written. Raises Unavailable.

        With an idempotency key, the id is derived from it and the secret, so that a repeated request is the same run; but a run
        that ended before it began is none, so that the key may be used again.
        """
        if question.idempotency_key is None:
            return QuestionRun(self.run_id_for(question), created=True)
        attempt = 0
        while True:
            run_id = self.run_id_for(question, access, attempt)
            records = await self.latest([key_of(QuestionAsked, run_id).subject, finished(run_id).subject])
            if not any(_is_unrun(record) for record in records):
                return QuestionRun(run_id, created=not records)
            attempt += 1

    async def submit(
        self,
        question: QuestionAsked,
        run_id: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> QuestionRun:
        """Write the question into the journal, once.

        A question whose ack does not come in time is withdrawn: its end is written behind it, so that it is not run if the server
        stores it later. Raises BadId, KeyReused, Unavailable.
        """
        run = QuestionRun(check_id(run_id), created=True) if run_id is not None else await self.identify(question)
        return await self._write_question(question, run, given=run_id is not None, headers=headers)

    async def _check_room(self, key: Key, *, repeatable: bool) -> None:
        """Raises Unavailable when the journal takes no more questions; a question that the journal has is not new."""
        async with self._patience():
            try:
                await self.room.check()
            except Unavailable:
                if not repeatable or not await self.journal.latest([key.subject]):
                    raise

    async def submit_and_read(
        self,
        question: QuestionAsked,
        *,
        access: Access | None = None,
        run: QuestionRun | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[QuestionRun, Reader]:
        """`submit`, with a reader that receives the events from the first one on. Raises what `submit` and `read` raise.

        `access` is written before the question; idempotency keys are those of its key and groups. `headers`: of the question.
        """
        run = run or await self.identify(question, access)
        reader = self.router.reader(run.run_id)
        try:
            if access is not None and run.created:
                async with self._patience():
                    await grant(self.journal, run.run_id, access, patience_s=self._patience_s)
            submitted = await self._write_question(question, run, headers=headers)
            if question.idempotency_key is not None:
                async with self._patience():
                    await reader.read_back()
        except BaseException:
            reader.close()
            raise
        return submitted, reader

    def run_id_for(self, question: QuestionAsked, access: Access | None = None, attempt: int = 0) -> str:
        """A new id, or the id that only this secret derives from the asker's idempotency key.

        A key that sees other documents than before is another asker: what it repeats is not what it may read. `attempt`: how many
        runs of that key were not run.
        """
        if question.idempotency_key is None:
            return secrets.token_hex(12)
        named = question.idempotency_key + (f"\0{attempt}" if attempt else "")  # a key is printable
        return self._derived(b"groundwire-run", access, named)

    def _derived(self, what: bytes, access: Access | None, name: str) -> str:
        """An id that only this secret derives from the asker and a name that the asker gave."""
        asker = ""
        if access is not None:
            groups = None if access.groups is None else sorted(access.groups)
            asker = msgspec.json.encode((access.key, groups)).decode()
        return hashlib.blake2b(f"{asker}\0{name}".encode(), key=self._secret, digest_size=12, person=what).hexdigest()

    async def _write_question(
        self,
        question: QuestionAsked,
        run: QuestionRun,
        *,
        given: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> QuestionRun:
        """`given`: the client chose the id, so others may have written a question under it."""
        key = key_of(QuestionAsked, run.run_id)
        repeatable = given or question.idempotency_key is not None
        if run.created:
            await self._check_room(key, repeatable=repeatable)
            try:
                created = await self._write(key, question, headers)
            except NoAnswer:
                self._withdraw(run.run_id, question)
                raise
            # If the server's reply was lost, the retry finds the first write: with an id we generated, that is not a repeat.
            if created or not repeatable:
                return run
        # The record exists, even if a server of a cluster that lags behind has none.
        there = readable((await self.latest([key.subject], behind=(key.subject, 1)))[0])
        if not isinstance(there, QuestionAsked) or _essence(there) != _essence(question):
            name, field = ("run id", "run_id") if given else ("key", "idempotency_key")
            raise KeyReused(f"the {name} belongs to another question; use a new {field}")
        return QuestionRun(run.run_id, created=False)

    # ------------------------------------------------------------ chats

    def conversation_id(self, chat: str, access: Access | None = None) -> str:
        """Of the asker's chat of this name; a key that sees other documents than before is another asker.

        Two clients may use one name, so only the secret derives the id from the asker and the name.
        """
        return self._derived(b"groundwire-chat", access, chat)

    async def add_to_chat(self, run_id: str, chat: str, access: Access | None = None) -> None:
        """Make the run the latest of the asker's chat, to be found by `latest_of_chat`. Raises Unavailable."""
        await self.put_beside(Key(CHAT, run_id, self.conversation_id(chat, access)), b"{}")

    async def latest_of_chat(self, chat: str, access: Access | None = None) -> str | None:
        """The run that was added to the asker's chat last, whichever process added it. Raises Unavailable."""
        async with self._patience():
            found = await self.journal.newest(Key(CHAT, "*", self.conversation_id(chat, access)).subject)
        return found.key.run_id if found else None

    # ------------------------------------------------------------ read

    async def read(self, run_id: str) -> Reader:
        """A reader of a run's events from the first one on. Raises BadId, NoSuchRun, EventsGone, Unavailable."""
        reader = self.router.reader(check_id(run_id))
        try:
            async with self._patience():
                if not await reader.read_back():
                    await self.check_awaited(run_id)
        except BaseException:
            reader.close()
            raise
        return reader

    async def check_awaited(self, run_id: str) -> None:
        """Raises EventsGone if the run gets no more events, although its reader has none. Raises NoSuchRun, Unavailable."""
        found = await self._of_run(run_id, [key_of(QuestionAsked, run_id).subject, finished(run_id).subject])
        if not found:
            raise no_such_run(run_id)
        if found[-1].key == finished(run_id) and time.time() - found[-1].time > EVENTS_LATE_S:
            raise EventsGone(f"the events of run {run_id} are gone; read its record instead")

    async def events(self, run_id: str) -> AsyncIterator[Numbered]:
        """A run's events up to and including DONE: each once, in order, even if the server restarts.

        Raises BadId, NoSuchRun, EventsGone, TooSlow, Unavailable.
        """
        with await self.read(run_id) as reader:
            while batch := await reader.batch():
                for numbered in batch:
                    yield numbered

    async def record(self, run_id: str) -> RunRecord | None:
        """What became of a run so far; None when there is no such run. Raises BadId, Unavailable.

        What a run that was stopped had shown is known as long as its events are kept.
        """
        story = story_of(await self._of_run(check_id(run_id), run_filters(run_id)))
        record = record_of(story)
        if record is None:
            return None
        if was_cut_off(record):
            async with self._patience():
                frames = await self.journal.frames(run_id)
            record = with_shown(record, story.messages, frames)
        return with_sentences(record)

    async def latest(self, filters: Sequence[str], behind: tuple[str, int] | None = None) -> list[Record]:
        """Records by their subjects, oldest first. Raises Unavailable."""
        async with self._patience():
            return await self.journal.latest(filters, behind=behind)

    async def put_beside(self, key: Key, data: bytes) -> bool:
        """Write a record that is no message of the pipeline, once. False: it exists. Raises Unavailable."""
        async with self._patience():
            return await self.journal.publish(key.subject, data, patience_s=self._patience_s) is not None

    async def access(self, run_id: str) -> Access | None:
        """The key and groups of the run's asker; None when no key asked, or there is no such run. Raises BadId, Unavailable."""
        asked = key_of(QuestionAsked, check_id(run_id)).subject
        return access_in(await self._of_run(run_id, [access_key(run_id).subject, asked]))

    async def _of_run(self, run_id: str, filters: Sequence[str]) -> list[Record]:
        """Those of a run, its question among them unless the stream's leader has none. Raises Unavailable.

        The question may be written between the two looks, and the server that answers may lag behind the leader.
        """
        asked = key_of(QuestionAsked, run_id).subject
        for _ in range(_LOOKS):
            found = await self.latest(filters)
            if any(record.key.subject == asked for record in found):
                return found
            async with self._patience():
                if not await self.journal.subjects(asked):
                    return found
        raise Unavailable(LAGS)

    # ------------------------------------------------------------ end

    async def cancel(self, run_id: str) -> bool:
        """End a run. False: it was already over. Raises BadId, NoSuchRun, Unavailable."""
        asked = await self._of_run(check_id(run_id), [key_of(QuestionAsked, run_id).subject])
        if not asked:
            raise no_such_run(run_id)
        question = readable(asked[0])
        settled = Settled(outcome="cancelled")
        if isinstance(question, QuestionAsked):
            settled = Settled(
                outcome="cancelled",
                question=question.question,
                language=question.language or "",
                profile=question.profile,
            )
        ended = await self._write(finished(run_id), RunFinished(settled=settled))
        if ended:
            await self.client.publish(cancel_subject(run_id), b"")
        return ended

    def _withdraw(self, run_id: str, question: QuestionAsked) -> None:
        """End a run whose question may or may not be stored, now or later.

        What one connection sends later is stored later, so the end comes right behind the question whenever the server gets to
        both, and the first stage looks for it. It is sent until the server confirms that the run has an end.
        """
        settled = Settled(outcome="failed", question=question.question, detail=WITHDRAWN, unrun="withdrawn")
        patience_s = (question.deadline_s or 0.0) + LONGEST_STALL_S
        write = self.journal.write(finished(run_id), RunFinished(settled=settled), patience_s=patience_s)
        task = asyncio.create_task(write, name=f"withdraw {run_id}")
        self._withdrawing.add(task)
        task.add_done_callback(self._withdrawn)

    def _withdrawn(self, task: asyncio.Task[int | None]) -> None:
        self._withdrawing.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.warning("%s: %s; it is run if its question was stored", task.get_name(), problem)

    # ------------------------------------------------------------ waiting for the server

    async def _write(self, key: Key, message: Message, headers: Mapping[str, str] | None = None) -> bool:
        async with self._patience():
            return await self.journal.write(key, message, headers=headers, patience_s=math.inf) is not None

    @contextlib.asynccontextmanager
    async def _patience(self) -> AsyncIterator[None]:
        """Wait for a connected server while there is time. Raises Unavailable.

        Nothing is sent until it is connected: a question must not go out later, when no client waits for its answer.
        """
        kind = Unavailable
        try:
            async with asyncio.timeout(self._patience_s):
                while not self.client.is_connected:  # noqa: ASYNC110 - nats-py has no event for this
                    await asyncio.sleep(0.02)
                kind = NoAnswer
                yield
        except TimeoutError:
            raise kind("nats-server does not answer; try again when it is back") from None


def no_such_run(run_id: str) -> NoSuchRun:
    return NoSuchRun(f"there is no run {run_id}; the id may be wrong, or the run has expired")


def _is_unrun(record: Record) -> bool:
    end = readable(record)
    return isinstance(end, RunFinished) and end.settled.unrun is not UNSET


def _essence(question: QuestionAsked) -> QuestionAsked:
    """What makes two requests the same, ignoring how their answer is delivered."""
    return msgspec.structs.replace(
        question, events="default", on_disconnect="continue", deadline_s=None, priority="interactive"
    )
