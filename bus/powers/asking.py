"""The power `ask` over the bus, both ends: a request on `gw.ask`, answered by frames until the reply is complete.

Core NATS only: when the device falls silent the client asks again, and sends the text already shown as the beginning of the
reply.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.journal.records import AskRecord
from bus.transport.connection import inbox_of, status_of
from bus.transport.envelope import read, set_aside
from bus.transport.health import Watch
from bus.wire import errors
from bus.wire.errors import Failure, NoReply, Poison
from bus.wire.subjects import ASK
from prompts.vocabulary import Priority

log = logging.getLogger("groundwire.bus")

#: A device that is silent for this long counts as dead; a live one sends a sign of life every second.
SILENCE_S = 3.5
ALIVE_S = 1.0


class AskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`deadline` is in epoch seconds. `pieces`: send deltas as they are generated, not only the whole reply.

    `max_tokens`: at most so many tokens of the model; 0 for the prompt's own limit.
    """

    prompt: str
    variables: msgspec.Raw
    run_id: str
    actor: str
    priority: Priority
    deadline: float
    pieces: bool = False
    already_shown: str = ""
    profile: str = ""
    max_tokens: int = 0


#: What answers an ask: pieces of text, then the record. Raises Failure.
type Answer = Callable[[AskRequest], AsyncIterator[str | AskRecord]]


class AskFrame(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """One frame of a reply from the device."""


class Piece(AskFrame, frozen=True, kw_only=True, tag="d"):
    """`at`: how many characters of this exchange came before it, so that a lost piece is noticed."""

    text: str
    at: int


class Alive(AskFrame, frozen=True, kw_only=True, tag="a"):
    pass


class Whole(AskFrame, frozen=True, kw_only=True, tag="w"):
    record: AskRecord


class Refused(AskFrame, frozen=True, kw_only=True, tag="x"):
    kind: str
    why: str
    calls: int = 1


_encoder = msgspec.json.Encoder()
_frames = msgspec.json.Decoder(Piece | Alive | Whole | Refused)
_requests = msgspec.json.Decoder(AskRequest)
#: How failures are named on the wire: the first class that matches.
_FAILURES: dict[str, type[Failure]] = {
    "no_reply": errors.NoReply,
    "too_long": errors.TooLong,
    "rejected": errors.Rejected,
    "refused": errors.ContentRefused,
    "stopped": errors.ContentStopped,
    "bad_reply": errors.BadReply,
    "busy": errors.Busy,
    "over_quota": errors.OverQuota,
    "garbled": errors.Unreadable,
    "unavailable": errors.Unavailable,
}


@dataclass(frozen=True, slots=True)
class AskClient:
    """Asks over the bus until the request's deadline."""

    client: Client

    async def __call__(self, request: AskRequest) -> AsyncIterator[str | AskRecord]:
        """Pieces of the reply, each once, then its record. Raises NoReply at the deadline, and the device's own Failure."""
        why = ""
        while True:
            before = request.already_shown
            try:
                async for frame in self._frames(request):
                    if isinstance(frame, Piece):
                        before += frame.text
                        yield frame.text
                    elif isinstance(frame, Whole):
                        yield msgspec.structs.replace(frame.record, already_shown=request.already_shown)
                    elif frame.kind == "busy":
                        raise Silent(frame.why)
                    else:
                        failure = _FAILURES.get(frame.kind, errors.Unavailable)(frame.why)
                        failure.calls = frame.calls
                        raise failure
                return
            except Silent as silent:
                if time.time() >= request.deadline:
                    why = why or str(silent)  # an attempt cut off by the deadline knows less than the previous one
                    raise NoReply(f"{request.prompt}: no reply before the deadline ({why})") from None
                why = str(silent)
            request = msgspec.structs.replace(request, already_shown=before)
            await asyncio.sleep(0.1)

    async def _frames(self, request: AskRequest) -> AsyncIterator[Piece | Whole | Refused]:
        """The frames of one attempt. Raises Silent without a listener, when the device stops sending, or when a piece was lost."""
        queue: asyncio.Queue[Msg] = asyncio.Queue()
        inbox = inbox_of(self.client)
        reply = await inbox.open(queue.put_nowait)
        finished, heard = False, 0
        try:
            await self.client.publish(ASK, _encoder.encode(request), reply=reply)
            while not finished:
                left = min(SILENCE_S, request.deadline - time.time())
                try:
                    async with asyncio.timeout(max(left, 0.001)):
                        msg = await queue.get()
                except TimeoutError:
                    raise Silent("the device is silent") from None
                if status_of(msg) == "503":
                    raise Silent("no inference process is running; start one with `groundwire up`")
                try:
                    frame = read(_frames, msg.data, "this frame")
                except Poison as poison:
                    set_aside("reply", ASK, poison)
                    continue
                if isinstance(frame, Alive):
                    continue
                if isinstance(frame, Piece):
                    if frame.at != heard:
                        raise Silent("a piece of the reply was lost")
                    heard += len(frame.text)
                finished = isinstance(frame, Whole | Refused)
                yield frame
        except nats.errors.Error as error:
            raise Silent(str(error)) from None
        finally:
            inbox.close(reply)
            if not finished:
                await self._give_up(reply)

    async def _give_up(self, reply: str) -> None:
        """Cancel the request on the device, so that it frees the slot at once."""
        if self.client.is_connected:
            await self.client.publish(f"{ASK}.stop", reply.encode())


class Silent(Exception):
    """The device did not answer; worth retrying until the deadline."""


class AskServer:
    """The other end: passes requests to `answer`, one task each, and stops those without a waiting client.

    `bugs` collects exceptions that are not a Failure.
    """

    def __init__(self, client: Client, answer: Answer, *, watch: Watch | None = None) -> None:
        self.client = client
        self.answer = answer
        self.bugs: list[Exception] = []
        self.watch = watch or Watch()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, *, queue: str = "inference") -> Callable[[], Awaitable[None]]:
        """Start listening. Returns a function that stops listening and ends the work in flight."""
        asked = await self.client.subscribe(ASK, queue=queue, cb=self._take, pending_msgs_limit=-1)
        stops = await self.client.subscribe(f"{ASK}.stop", cb=self._stop)
        self.watch.keep("signs of life", self._say_alive)

        async def close() -> None:
            with contextlib.suppress(nats.errors.Error):  # a lost connection delivers nothing more anyway
                await asked.unsubscribe()
                await stops.unsubscribe()
            await self.watch.stop()
            tasks = tuple(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        return close

    async def _take(self, msg: Msg) -> None:
        if not msg.reply:
            set_aside("request", ASK, "it has no reply subject")
            return
        task = asyncio.create_task(self._serve(msg))
        self._tasks[msg.reply] = task
        task.add_done_callback(lambda _: self._tasks.pop(msg.reply, None))

    async def _stop(self, msg: Msg) -> None:
        if task := self._tasks.get(msg.data.decode(errors="replace")):
            task.cancel()

    async def _serve(self, msg: Msg) -> None:
        loop = asyncio.get_running_loop()
        made: list[str] = []  # pieces from this turn of the event loop are sent together, as one frame
        sending: list[asyncio.Task[None]] = []
        left = 0

        def leave() -> None:
            nonlocal left
            text = "".join(made)
            made.clear()
            if text:
                sending[:] = [task for task in sending if not task.done()]
                sending.append(asyncio.ensure_future(self._send(msg.reply, Piece(text=text, at=left))))
                left += len(text)

        async def all_left() -> None:
            leave()
            await asyncio.gather(*sending)  # the record must not overtake the pieces

        try:
            request = read(_requests, msg.data, "this ask")
            async for part in self.answer(request):
                if isinstance(part, AskRecord):
                    await all_left()
                    await self._send(msg.reply, Whole(record=part))
                elif request.pieces:
                    if not made:
                        loop.call_soon(leave)
                    made.append(part)
        except Failure as failure:
            await all_left()
            await self._send(msg.reply, Refused(kind=_kind(failure), why=str(failure), calls=failure.calls))
        except (Poison, msgspec.DecodeError) as error:
            set_aside("request", ASK, error)
            why = str(error) if isinstance(error, Poison) else f"this ask cannot be read: {error}"
            await self._send(msg.reply, Refused(kind="bad_reply", why=why))
        except Exception as bug:
            # The outermost handler of this process: the client must not be left waiting for a reply that will never come.
            log.exception("a bug in the engine")
            self.bugs.append(bug)
            await self._send(msg.reply, Refused(kind="unavailable", why=f"the engine broke ({type(bug).__name__})"))

    async def _say_alive(self) -> None:
        """Send every waiting client a sign of life each second."""
        while True:
            await asyncio.sleep(ALIVE_S)
            for reply in tuple(self._tasks):
                await self._send(reply, Alive())

    async def _send(self, reply: str, frame: AskFrame) -> None:
        try:
            await self.client.publish(reply, _encoder.encode(frame))
        except nats.errors.Error:
            return  # the client will ask again


def _kind(failure: Failure) -> str:
    return next((kind for kind, cls in _FAILURES.items() if isinstance(failure, cls)), "unavailable")
