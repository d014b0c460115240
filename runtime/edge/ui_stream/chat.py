"""/api/chat: the default address of the AI SDK's `useChat`; resume the stream of an answer, or stop it.

A chat belongs to its caller: the same id of another key is another chat.
"""

import re

from aiohttp import web
from groundwire.wire import Turn

from bus.runs.router import Reader
from bus.runs.runs import EventsGone, NoSuchRun
from bus.wire.messages import QuestionAsked, same_fields
from bus.wire.requests import check_text
from runtime.edge.door import CALLER, Caller
from runtime.edge.parameters import IDEMPOTENCY_KEY
from runtime.edge.problems import ErrorFormat, Problem
from runtime.edge.request_parsing import history_of
from runtime.edge.routes import Reply, Route, json_response, parameter
from runtime.edge.runs import keyed
from runtime.edge.sse import stream
from runtime.edge.state import EDGE, Edge
from runtime.edge.ui_stream import schemas as ui
from runtime.edge.ui_stream.stream import UI_HEADERS, UiForm

#: How many times the usual size a body may have: the SDK sends all messages again, with sources and passages.
BODY_TIMES = 16
#: More events than a run has.
ALL_EVENTS = 1_000_000_000

#: The SDK shows the whole body of an error to the person.
TEXT_ERRORS = ErrorFormat(str, "text/plain", lambda problem: problem.detail)

CHAT_ID = parameter("chat_id", "path", "The chat's id.", type="string", pattern=ui.CHAT_ID)
STREAM = (
    "A UI message stream: server-sent events that each hold a chunk; after the last one, the data `[DONE]`. A run that fails ends"
    " with an error chunk, one that was cancelled with abort."
)


@Route(
    "POST",
    "/api/chat",
    {200: Reply(STREAM, events=ui.CHUNKS)},
    "ask",
    problems=(409,),
    parameters=(IDEMPOTENCY_KEY,),
    errors=TEXT_ERRORS,
    body_times=BODY_TIMES,
)
async def send(request: web.Request, body: ui.UiChatAsked) -> web.StreamResponse:
    """Ask as the AI SDK's useChat: the last message is the question, those before it are its history."""
    edge, caller = request.app[EDGE], request[CALLER]
    async with edge.submit(caller, keyed(request, question_of(body)), "ui") as reader:
        if body.resume:
            await edge.runs.add_to_chat(reader.run_id, body.id, caller.access)
        return await ui_stream(request, reader, resumes=body.resume)


@Route(
    "GET",
    "/api/chat/{chat_id}/stream",
    {200: Reply(STREAM, events=ui.CHUNKS), 204: Reply("This chat has no current run.")},
    "read",
    parameters=(CHAT_ID,),
    errors=TEXT_ERRORS,
)
async def resume(request: web.Request) -> web.StreamResponse:
    """Join the current run of a chat with `resume`, from its first chunk."""
    edge = request.app[EDGE]
    run_id = await latest_run(edge, request[CALLER], chat_id_of(request))
    if run_id is None:
        return web.Response(status=204)
    try:
        reader = await edge.runs.read(run_id)
    except (NoSuchRun, EventsGone):
        return web.Response(status=204)
    with reader:
        if reader.ends_by(ALL_EVENTS):
            return web.Response(status=204)
        return await ui_stream(request, reader, resumes=True)


async def ui_stream(request: web.Request, reader: Reader, *, resumes: bool) -> web.StreamResponse:
    """The SDK comes back after a broken connection, not after a stream that ended."""
    form = UiForm(request, reader.run_id)
    return await stream(request, reader, form, "ui", headers=UI_HEADERS, cut="abort" if resumes else None)


@Route(
    "POST",
    "/api/chat/{chat_id}/stop",
    {200: Reply("Which run was the latest, and whether it was cancelled.", ui.UiStopped)},
    "ask",
    parameters=(CHAT_ID,),
    errors=TEXT_ERRORS,
)
async def stop(request: web.Request) -> web.Response:
    """Cancel the latest run of a chat with `resume`."""
    edge = request.app[EDGE]
    run_id = await latest_run(edge, request[CALLER], chat_id_of(request))
    try:
        cancelled = run_id is not None and await edge.cancel(run_id)
    except NoSuchRun:  # the journal has let it go meanwhile
        run_id, cancelled = None, False
    return json_response(ui.UiStopped(run_id=run_id or "", cancelled=cancelled))


async def latest_run(edge: Edge, caller: Caller, chat_id: str) -> str | None:
    """The latest run of the caller's chat; None if there is none. Raises Unavailable."""
    run_id = await edge.runs.latest_of_chat(chat_id, caller.access)
    if run_id is None:
        return None
    try:
        await edge.check_theirs(caller, run_id)
    except NoSuchRun:
        return None
    return run_id


def chat_id_of(request: web.Request) -> str:
    """Raises Problem 400."""
    chat_id = request.match_info["chat_id"]
    if not re.fullmatch(ui.CHAT_ID, chat_id):
        raise Problem(
            400, "bad_id", f"a chat's id has 1 to 256 characters, none of them a control character: {chat_id!r:.80}"
        )
    return chat_id


def question_of(body: ui.UiChatAsked) -> QuestionAsked:
    """The last user message as the question, the messages before it as its history. Raises Problem."""
    messages = messages_before_answer(body)
    if not messages or messages[-1].role != "user":
        raise Problem(422, "no_question", "messages: the last one is not the user's; end with what the person asks")
    last = messages[-1]
    if any(part.type == "file" for part in last.parts):
        raise Problem(422, "no_files", "messages: the last one has a file; send text, answers come from the index")
    check_text("last message", last.text)
    turns = (Turn(role=message.role, content=message.text) for message in messages[:-1] if message.role != "system")
    return QuestionAsked(
        **same_fields(body, QuestionAsked),
        question=last.text,
        conversation_history=history_of(turns),
        on_disconnect="continue" if body.resume else "cancel",
    )


def messages_before_answer(body: ui.UiChatAsked) -> tuple[ui.UiMessage, ...]:
    """The messages up to the question, without an answer that is to be replaced."""
    if body.trigger == "regenerate-message":
        for at, message in enumerate(body.messages):
            if message.id == body.message_id and message.role == "assistant":
                return body.messages[:at]
    return body.messages


def routes(edge: Edge) -> list[Route]:
    return [send, resume, stop]
