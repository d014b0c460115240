"""The stored request of a response, `gw.response.<run_id>.main` in the journal.

A response exists for the caller of its run while it has that record and no `gw.response.<run_id>.deleted`. A response that is not
to be stored has none. Its answer is the run's own record.
"""

import re
from typing import Literal

import msgspec

from bus.runs.runs import NoSuchRun, Runs
from bus.transport.envelope import UNREADABLE, set_aside
from bus.wire.messages import MAIN, AnswerSettled
from bus.wire.subjects import ID_PATTERN, RESPONSE, Key, key_of
from runtime.edge.door import Caller
from runtime.edge.openai.responses_schemas import ResponseAsked
from runtime.edge.problems import Problem
from runtime.edge.state import Edge

DELETED = "deleted"

_IDS = {"response": re.compile(f"resp_({ID_PATTERN})"), "message": re.compile(f"msg_({ID_PATTERN})")}


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it was accepted; `created_at` in epoch seconds."""

    created_at: int
    asked: ResponseAsked


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Kept).decode


def response_id(run_id: str) -> str:
    return f"resp_{run_id}"


def item_id(run_id: str) -> str:
    """Of the answer's message."""
    return f"msg_{run_id}"


async def keep(runs: Runs, run_id: str, kept: Kept) -> Kept:
    """Store the request once; an earlier one stays. Raises Unavailable."""
    if await runs.put_beside(Key(RESPONSE, run_id), _encode(kept)):
        return kept
    return _decode((await runs.beside([Key(RESPONSE, run_id).subject]))[0].data)


async def kept_of(
    edge: Edge, caller: Caller, name: str, of: Literal["response", "message"] = "response"
) -> tuple[str, Kept]:
    """The run and the request of a response of the caller's, by its id or that of its message. Raises Problem 404, Unavailable."""
    parsed = _IDS[of].fullmatch(name)
    if parsed is None:
        raise _none(name, of)
    run_id = parsed[1]
    try:
        await edge.check_theirs(caller, run_id)
    except NoSuchRun:
        raise _none(name, of) from None
    records = {record.key.lane: record for record in await edge.runs.beside([f"gw.{RESPONSE}.{run_id}.*"])}
    if MAIN not in records or DELETED in records:
        raise _none(name, of)
    try:
        return run_id, _decode(records[MAIN].data)
    except UNREADABLE as error:  # damaged, or of a version with other parameters
        set_aside("response", records[MAIN].key.subject, error)
        raise _none(name, of) from None


async def delete(runs: Runs, run_id: str) -> None:
    """Raises Unavailable."""
    await runs.put_beside(Key(RESPONSE, run_id, DELETED), b"{}")


async def was_withdrawn(runs: Runs, run_id: str) -> bool:
    """Whether the answer was withdrawn after the client had received sentences of it. Raises Unavailable."""
    settled = await runs.beside([key_of(AnswerSettled, run_id).subject])
    return any(isinstance(record.message, AnswerSettled) and record.message.retract for record in settled)


def _none(name: str, of: str) -> Problem:
    detail = f"there is no {of} {name[:80]}; the id may be wrong, or it was not stored, was deleted or has expired"
    return Problem(404, "no_such_response", detail)
