"""What a search process serves: request and reply on `gw.index`.

An empty request asks for which snapshot that is and which files could not be read; `HeldAsked` for what callers in some groups
find in it.
"""

from collections.abc import Awaitable, Callable

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.journal.access import Groups
from bus.transport.envelope import read
from bus.transport.replying import reply_to, reply_with
from bus.wire.errors import Unavailable
from bus.wire.subjects import INDEX


class SkippedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is not in the index. `failed`: it should be, but could not be read."""

    name: str
    reason: str
    failed: bool


class ServedIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The snapshot that is served. `served_since` is when this process took it up, `created` when it was made, `read_at` when its
    files were last looked at. `languages` counts passages, `formats` documents. `skipped` are the first 200 of `skipped_count`,
    those that failed before the others.
    """

    snapshot: str
    served_since: str
    created: str
    documents: int
    passages: int
    languages: dict[str, int]
    formats: dict[str, int]
    embedder: str
    read_at: str
    skipped: tuple[SkippedFile, ...] = ()
    skipped_count: int = 0
    failed_count: int = 0


class HeldAsked(msgspec.Struct, frozen=True, kw_only=True):
    """`groups`: the groups whose documents count; None: every document."""

    groups: Groups = None


class ExampleQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question that a document asks itself: a heading, or an entry of a list of questions."""

    question: str
    language: str
    source_id: str


class HeldDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One of the documents."""

    source_id: str
    title: str


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller's questions are answered from. `languages` counts passages. `titles` are some of the documents."""

    documents: int
    languages: dict[str, int] = {}
    titles: tuple[HeldDocument, ...] = ()
    examples: tuple[ExampleQuestion, ...] = ()


class _Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    served: ServedIndex | None = None
    held: Held | None = None
    problem: str = ""


_replies = msgspec.json.Decoder(_Reply)
_asked = msgspec.json.Decoder(HeldAsked)


async def answer_served_index(
    client: Client,
    served: Callable[[], Awaitable[ServedIndex]],
    held: Callable[[Groups], Awaitable[Held]] | None = None,
) -> None:
    """Answer for this process until its connection closes; one of several answers each request."""

    async def answer(msg: Msg) -> bytes:
        if not msg.data or held is None:
            reply = _Reply(served=await served())
        else:
            reply = _Reply(held=await held(read(_asked, msg.data, "this request").groups))
        return msgspec.json.encode(reply)

    await reply_with(
        client, INDEX, answer, lambda problem: msgspec.json.encode(_Reply(problem=problem)), what="look at the index"
    )


async def served_index(client: Client, *, timeout_s: float) -> ServedIndex:
    """Raises Unavailable."""
    reply = await _ask(client, b"", timeout_s)
    if reply.served is None:
        raise Unavailable(reply.problem)
    return reply.served


async def held_for(client: Client, groups: Groups, *, timeout_s: float) -> Held:
    """What callers in these groups find. Raises Unavailable."""
    reply = await _ask(client, msgspec.json.encode(HeldAsked(groups=groups)), timeout_s)
    if reply.held is None:
        raise Unavailable(reply.problem or "the search process is of an older version; restart it")
    return reply.held


async def _ask(client: Client, data: bytes, timeout_s: float) -> _Reply:
    return await reply_to(client, INDEX, data, _replies, timeout_s=timeout_s)
