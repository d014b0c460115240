"""Requests about runs over NATS, for integrations: ask under an id of the client's own, and read a record.

gw.runs.ask     the fields of a question, with `run_id`   ->  RunAccepted, or RequestRefused
gw.runs.get     {"run_id": …}                             ->  RunRecord, or RequestRefused

A client repeats a request that gets no reply: the same question under the same id is one run.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.journal.records import TRACEPARENT
from bus.runs.run_record import RunRecord
from bus.runs.runs import KeyReused, NoSuchRun, Runs, no_such_run
from bus.transport.replying import reply_with
from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked
from bus.wire.requests import check_question, parse_body
from bus.wire.subjects import ASK_RUN, CANARY, GET_RUN, BadId, check_id, is_canary

_REFUSED: dict[type[Exception], str] = {BadId: "bad_id", NoSuchRun: "no_such_run", KeyReused: "key_reused"}


class RunRequest(QuestionAsked, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="question_asked"):
    """A question, and the id of its run: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -."""

    run_id: str


class RecordRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for the record of a run."""

    run_id: str


class RunAccepted(msgspec.Struct, frozen=True, kw_only=True):
    """The question is stored. `already_asked`: it was stored before; its record and events are those of the first time."""

    run_id: str
    code: Literal["asked", "already_asked"]


class RequestRefused(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`code`, `detail` and `field` are those of the same error over HTTP."""

    code: str
    detail: str
    field: str = ""


async def serve_runs(client: Client, runs: Runs) -> Callable[[], Awaitable[None]]:
    """Answer both requests; one of several processes answers each. Returns a function that stops it."""

    async def ask(msg: Msg) -> RunAccepted:
        given = parse_body(msg.data, RunRequest)
        run_id = check_id(given.run_id)
        if is_canary(run_id):
            raise Invalid("bad_id", f"run ids that begin with {CANARY!r} are reserved for readiness; use another")
        question = QuestionAsked(**{name: getattr(given, name) for name in QuestionAsked.__struct_fields__})
        check_question(question)
        trace = (msg.headers or {}).get(TRACEPARENT)
        submitted = await runs.submit(question, run_id, headers={TRACEPARENT: trace} if trace else None)
        return RunAccepted(run_id=run_id, code="asked" if submitted.created else "already_asked")

    async def get(msg: Msg) -> RunRecord:
        run_id = parse_body(msg.data, RecordRequest).run_id
        record = await runs.record(run_id) if await runs.access(run_id) is None else None  # a key's runs are its own
        if record is None:
            raise no_such_run(run_id)
        return record

    def answering(answer: Callable[[Msg], Awaitable[msgspec.Struct]]) -> Callable[[Msg], Awaitable[bytes]]:
        async def answered(msg: Msg) -> bytes:
            try:
                return msgspec.json.encode(await answer(msg))
            except Invalid as wrong:
                refused = RequestRefused(code=wrong.code, detail=str(wrong), field=wrong.field)
            except tuple(_REFUSED) as error:
                refused = RequestRefused(code=_REFUSED[type(error)], detail=str(error))
            return msgspec.json.encode(refused)

        return answered

    def failed(why: str) -> bytes:
        return msgspec.json.encode(RequestRefused(code="unavailable", detail=why))

    stops = [
        await reply_with(client, subject, answering(answer), failed, queue="runs", what="request about a run")
        for subject, answer in ((ASK_RUN, ask), (GET_RUN, get))
    ]

    async def stop() -> None:
        for each in stops:
            await each()

    return stop
