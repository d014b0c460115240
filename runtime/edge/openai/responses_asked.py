"""A request to /v1/responses as a question: the refused parameters, and the question with the conversation before it.

The conversation is the one of `previous_response_id` (its run's own history, question and answer), then the messages of `input`
but the last, which is the question.
"""

from collections.abc import AsyncIterator

import msgspec
from aiohttp import web
from groundwire.wire import Turn
from msgspec.structs import replace

from bus.runs.run_record import RunRecord
from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked, same_fields
from bus.wire.parts import Constraints
from bus.wire.requests import check_text
from bus.wire.subjects import key_of
from runtime.edge.cited import markdown, within
from runtime.edge.door import CALLER, Caller
from runtime.edge.openai.asking import MOST_TOKENS, NO_PENALTY, Rule, check_model, unsupported
from runtime.edge.openai.responses_kept import Kept, kept_of
from runtime.edge.openai.responses_schemas import InputItem, ResponseAsked
from runtime.edge.parameters import idempotency_key
from runtime.edge.problems import Problem
from runtime.edge.request_parsing import TURN_CHARS, TURNS, history_of
from runtime.edge.state import EDGE, Edge

_TEXTS = ("input_text", "output_text", "text", "refusal")
#: The values of `include`; none of them adds anything here.
_INCLUDABLE = (
    "reasoning.encrypted_content",
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "message.input_image.image_url",
)

#: The parameters that are refused by name: a client would wait for their effect, or read the answer by it.
RULES: tuple[Rule[ResponseAsked], ...] = (
    (
        "tools",
        lambda body: bool(body.tools) and body.tool_choice != "none",
        "no tool is ever called, and your documents are searched for every question; leave them out",
    ),
    (
        "tool_choice",
        lambda body: body.tool_choice not in (None, "none", "auto"),
        "no tool is ever called; leave it out",
    ),
    ("include", lambda body: not set(body.include or ()) <= set(_INCLUDABLE), "this cannot be included; leave it out"),
    (
        "top_logprobs",
        lambda body: bool(body.top_logprobs),
        "an answer is checked text without log probabilities; leave it out",
    ),
    ("presence_penalty", lambda body: bool(body.presence_penalty), NO_PENALTY),
    ("frequency_penalty", lambda body: bool(body.frequency_penalty), NO_PENALTY),
    (
        "stream_options",
        lambda body: bool(body.stream_options and body.stream_options.include_obfuscation),
        "events are not padded; leave include_obfuscation out",
    ),
    (
        "conversation",
        lambda body: body.conversation is not None,
        "a conversation has no id of its own; use previous_response_id",
    ),
    ("prompt", lambda body: body.prompt is not None, "no prompts are kept here; put the question into input"),
    ("moderation", lambda body: body.moderation is not None, "answers are checked against the documents; leave it out"),
    ("image", lambda body: body.image is not None, "pictures are not read; leave it out"),
    ("access_programs", lambda body: body.access_programs is not None, "there are none here; leave it out"),
    (
        "background",
        lambda body: bool(body.background) and body.store is False,
        "what is not stored cannot be come back to; leave store out",
    ),
    (
        "text.format",
        lambda body: bool(body.text and body.text.format and body.text.format.type != "text"),
        "an answer is text with citations; send `text`",
    ),
)


async def question_of(request: web.Request, body: ResponseAsked) -> tuple[ResponseAsked, QuestionAsked]:
    """The request with its model, and its question. The run ends with the client unless it is a background run or has an
    idempotency key.

    Raises Problem, Unavailable.
    """
    edge, caller = request.app[EDGE], request[CALLER]
    before: tuple[Turn, ...] = ()
    conversation: str | None = None
    if body.previous_response_id is not None:
        model, before, conversation = await _conversation(edge, caller, body.previous_response_id)
        body = replace(body, model=body.model or model)
    if body.model is None:
        raise Problem(400, "invalid", "model: is missing; name a profile, such as general")
    await check_model(request, body.model)
    turns = [*before, *[turn async for turn in _turns(edge, caller, body)]]
    last = turns.pop() if turns else None
    if last is None or last.role != "user":
        raise Problem(400, "invalid", "input: has no question; end with a user message")
    try:
        check_text("question", last.content)
    except Invalid as wrong:
        raise Invalid(wrong.code, f"input: {wrong}") from None
    key = idempotency_key(request)
    priority = body.priority or ("batch" if body.service_tier == "flex" else "interactive")
    own = {
        "question": last.content,
        "conversation_history": _shortened(turns, edge.settings.max_body_bytes, truncate=body.truncation != "disabled"),
        "profile": body.model,
        "priority": priority,
        "constraints": Constraints(
            max_tokens=min(body.max_output_tokens, MOST_TOKENS) if body.max_output_tokens else None
        ),
        "on_disconnect": "continue" if body.background or key else "cancel",
        "idempotency_key": key,
        "conversation": conversation,
    }
    return body, QuestionAsked(**(same_fields(body, QuestionAsked) | own))


def text_of(record: RunRecord, kept: Kept) -> str:
    return record.answer + markdown(within(record.passages, record.answer, kept.asked.max_output_tokens))


def items_of(body: ResponseAsked) -> tuple[InputItem, ...]:
    return (InputItem(role="user", content=body.input),) if isinstance(body.input, str) else body.input


async def _conversation(edge: Edge, caller: Caller, name: str) -> tuple[str | None, tuple[Turn, ...], str]:
    """The model of a response, its conversation with its own question and answer, and the run that began that.

    Raises Problem 400, Unavailable.
    """
    try:
        run_id, kept = await kept_of(edge, caller, name)
    except Problem as problem:
        raise Problem(400, "previous_response_not_found", f"previous_response_id: {problem.detail}") from None
    record = await edge.runs.record(run_id)
    questions = await edge.runs.latest([key_of(QuestionAsked, run_id).subject])
    if record is None or record.status == "running" or not questions:
        raise Problem(400, "invalid", f"previous_response_id: {name} has not ended yet; ask again when it has")
    question = questions[0].message
    assert isinstance(question, QuestionAsked), "what could be read once can be read again"
    answer = Turn(role="assistant", content=text_of(record, kept)[:TURN_CHARS])
    turns = (*question.conversation_history, Turn(role="user", content=question.question), answer)
    return kept.asked.model, turns, record.conversation


async def _turns(edge: Edge, caller: Caller, body: ResponseAsked) -> AsyncIterator[Turn]:
    """The turns of the input; messages of systems and developers have no effect. Raises Problem, Unavailable.

    Of more than a question takes, the first are left out before they are looked up.
    """
    items = [(n, item) for n, item in enumerate(items_of(body)) if _is_turn(n, item)]
    if body.truncation == "disabled" and len(items) > TURNS + 1:
        raise _too_long()
    for n, item in items[-TURNS - 1 :]:
        if item.role in ("user", "assistant"):
            yield Turn(role=item.role, content=item.text)
        else:
            yield Turn(role="assistant", content=await _referred(edge, caller, f"input[{n}].id", item.id or ""))


def _is_turn(n: int, item: InputItem) -> bool:
    """Whether the item is part of the conversation. Raises Problem for an unreadable item."""
    if item.type == "item_reference":
        return True
    if item.type == "reasoning":
        return False
    if item.type != "message":
        raise unsupported(f"input[{n}]", f"{item.type[:80]} cannot be read; send messages")
    for m, part in enumerate(item.content if isinstance(item.content, tuple) else ()):
        if part.type not in _TEXTS:
            raise unsupported(f"input[{n}].content[{m}]", f"{part.type[:80]} cannot be read; send text")
    if item.role is None:
        raise Problem(400, "invalid", f"input[{n}].role: is missing; user, assistant, system or developer")
    return item.role in ("user", "assistant")


async def _referred(edge: Edge, caller: Caller, field: str, name: str) -> str:
    try:
        run_id, kept = await kept_of(edge, caller, name, "message")
    except Problem as problem:
        raise Problem(400, "invalid", f"{field}: {problem.detail}") from None
    record = await edge.runs.record(run_id)
    return text_of(record, kept) if record is not None else ""


def _shortened(turns: list[Turn], most_bytes: int, *, truncate: bool) -> tuple[Turn, ...]:
    """As much of the conversation as a question takes, the last of it. Raises Problem when it is more and may not be cut."""
    kept: list[Turn] = []
    size = 0
    for turn in reversed(history_of(turns)):
        size += len(msgspec.json.encode(turn.content))
        if size > most_bytes:
            break
        kept.insert(0, turn)
    if not truncate and kept != [turn for turn in turns if turn.content]:
        raise _too_long()
    return tuple(kept)


def _too_long() -> Problem:
    detail = (
        f"input: the conversation has more than {TURNS} messages, {TURN_CHARS} characters in one, or is too long in all"
    )
    return Problem(400, "context_length_exceeded", f"{detail}; shorten it, or leave truncation out")
