"""The stored request of a response, `gw.response.<run_id>.main` in the journal.

A response exists for the caller of its run while it has that record and no `gw.response.<run_id>.deleted`. A response that is not
to be stored has none. Its answer is the run's own record.

The current state of a response is computed from the stored request and the run's record, so any edge gives the same.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec
from groundwire.wire import NearPassage
from msgspec import UNSET
from msgspec.structs import replace

from actors.outcome.refusals import code_of, words_of
from actors.text.limit import tokens_in
from bus.runs.run_record import RunRecord
from bus.runs.runs import NoSuchRun, Runs
from bus.transport.envelope import set_aside
from bus.wire.errors import UNREADABLE
from bus.wire.messages import MAIN, AnswerSettled, same_fields
from bus.wire.settled import Settled
from bus.wire.subjects import ID_PATTERN, RESPONSE, Key, key_of
from runtime.edge.cited import cited, cited_passages, markdown, opened_passages, opened_references, within
from runtime.edge.door import Caller
from runtime.edge.openai.responses_schemas import (
    Incomplete,
    IncompleteDetails,
    OutputMessage,
    OutputText,
    Response,
    ResponseAsked,
    ResponseCitation,
    ResponseError,
    ResponseUsage,
)
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


def item_id(run_id: str) -> str:
    return f"msg_{run_id}"


async def keep(runs: Runs, run_id: str, kept: Kept) -> Kept:
    """Store the request once; an earlier one stays. Raises Unavailable."""
    if await runs.put_beside(Key(RESPONSE, run_id), _encode(kept)):
        return kept
    return _decode((await runs.latest([Key(RESPONSE, run_id).subject]))[0].data)


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
    records = {record.key.lane: record for record in await edge.runs.latest([f"gw.{RESPONSE}.{run_id}.*"])}
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
    settled = await runs.latest([key_of(AnswerSettled, run_id).subject])
    return any(isinstance(record.message, AnswerSettled) and record.message.retract for record in settled)


def _none(name: str, of: str) -> Problem:
    detail = f"there is no {of} {name[:80]}; the id may be wrong, or it was not stored, was deleted or has expired"
    return Problem(404, "no_such_response", detail)


#: The names of the run's own entries in a response's metadata.
OUTCOME, REASON = "groundwire_outcome", "groundwire_reason"


def begun(run_id: str, kept: Kept) -> Response:
    """The response before its run has ended."""
    body = kept.asked
    given = {name: value for name, value in same_fields(body, Response).items() if value is not None}
    own = {
        "id": f"resp_{run_id}",
        "created_at": kept.created_at,
        "status": "in_progress",
        "model": body.model or "",
        "service_tier": "flex" if body.service_tier == "flex" else "default",
        "tool_choice": "none" if body.tool_choice == "none" else "auto",
    }
    echoed = {name: given[name] for name in given if name not in ("tools", "reasoning", "text", "top_logprobs")}
    return Response(**(echoed | own))


def response_of(run_id: str, kept: Kept, record: RunRecord, base: str, *, withdrawn: bool) -> Response:
    """The response now. `base`: the address of our own sources. `withdrawn`: the answer was withdrawn after its release."""
    response = begun(run_id, kept)
    if record.outcome is None:
        return response
    passages = opened_passages(record.passages, base)
    quoted = within(passages, record.answer, response.max_output_tokens)
    text = record.answer + markdown(quoted)
    sent = tokens_in(text)
    metadata = {OUTCOME: record.outcome} | ({REASON: record.reason} if record.reason else {})
    response = replace(
        response,
        completed_at=int(record.finished_at or 0),
        usage=ResponseUsage(input_tokens=record.tokens_in, output_tokens=sent, total_tokens=record.tokens_in + sent),
        metadata=response.metadata | metadata,
        references=() if withdrawn else opened_references(record.references, base),
        passages=passages,
        outcome=record.outcome,
        unverified_at=tuple((each.answer_start, each.answer_end) for each in record.unverified) or UNSET,
    )
    if record.outcome == "failed":
        end = Settled(
            outcome="failed",
            question=record.question,
            reason=record.reason,
            language=record.language,
            unrun=record.unrun or UNSET,
            detail=record.detail,
        )
        return replace(
            response, status="failed", completed_at=None, error=ResponseError(code=code_of(end), message=words_of(end))
        )
    why = _incomplete(record, withdrawn)
    if why is None and len(quoted) < len(passages):
        why = "max_output_tokens"
    part = part_of(text, quoted, response, base)
    message = OutputMessage(id=item_id(run_id), status="incomplete" if why else "completed", content=(part,))
    response = replace(response, output=(message,) if text else ())
    if why is None:
        return replace(response, status="completed")
    return replace(
        response,
        status="cancelled" if why == "cancelled" else "incomplete",
        completed_at=None,
        incomplete_details=IncompleteDetails(reason=why),
    )


def _incomplete(record: RunRecord, withdrawn: bool) -> Incomplete | None:
    if record.outcome == "cancelled":
        return "cancelled"
    if withdrawn:
        return "content_filter"
    return "max_output_tokens" if record.cut == "length" else None


def part_of(text: str, quoted: Sequence[NearPassage], response: Response, base: str) -> OutputText:
    """The text that the client received, as an answer or in place of one, with a citation for each marker and passage.

    `quoted`: the passages at its end.
    """
    quoted_at = len(text) - len(markdown(quoted))
    spans = (*cited(text, response.references, base), *cited_passages(quoted_at, quoted, base))
    annotations = (ResponseCitation(start_index=s.start, end_index=s.end, url=s.url, title=s.title) for s in spans)
    return OutputText(text=text, annotations=tuple(annotations))
