"""The documents of an index over the bus, both ends: request and reply on `gw.sources`, one question about one document or many.

A request names the client's groups; a document outside them is reported as missing.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import msgspec
from groundwire.wire import Block, ListedSource
from msgspec import Meta
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.envelope import read
from bus.transport.replying import reply_to, reply_with
from bus.wire.errors import Failure, Unavailable
from bus.wire.subjects import SOURCES

#: The longest stretch of text in one reply, in characters, and how many documents one names.
LONGEST = 100_000
MOST = 1000
#: What a reply may take; the server refuses a message over 1 MB.
REPLY_BYTES = 900_000
#: How much of a file one reply holds, in bytes.
PIECE = 256 * 1024
#: How wide the picture of a page may be, in pixels, and how wide it usually is.
NARROWEST, WIDEST, WIDTH = 200, 3200, 1600

Offset = Annotated[int, Meta(ge=0, le=2**40)]
Width = Annotated[int, Meta(ge=NARROWEST, le=WIDEST)]
Page = Annotated[int, Meta(ge=1, le=1_000_000)]


class Asked(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """Base of the requests. `groups`: see `bus.journal.access`."""

    groups: tuple[str, ...] | None = None


class TextAsked(Asked, frozen=True, kw_only=True):
    """A stretch of a document's text, at most LONGEST characters; or, of a document with pages, the text of `page`."""

    source_id: str
    start: Offset = 0
    end: Offset = LONGEST
    page: Page | None = None


class ListAsked(Asked, frozen=True, kw_only=True):
    """The documents whose ids follow `after`, at most MOST."""

    after: str = ""
    most: Annotated[int, Meta(ge=1, le=MOST)] = 100


class PieceAsked(Asked, frozen=True, kw_only=True):
    """At most PIECE bytes from `offset` on of a document's own file; or of the picture of `page`, `width` pixels wide.

    `version`: of the piece before, where there was one.
    """

    source_id: str
    offset: Offset = 0
    page: Page | None = None
    width: Width = WIDTH
    version: str = ""


class PageAsked(Asked, frozen=True, kw_only=True):
    """The places of the words `start..end` of a document in the picture of a page."""

    source_id: str
    page: Page
    start: Offset = 0
    end: Offset = 0


class SourceText(ListedSource, frozen=True, kw_only=True, tag=True):
    """A document, and the characters `start..end` of its text, as offsets of the whole.

    `blocks` say what each stretch is: prose, a heading, a table's row. `page_starts` are pairs of an offset and the page that
    starts there, `pages` the last one with text. `original`: the path of the file itself, empty where it is not served, and
    `media_type` its type.
    """

    snapshot: str
    start: int
    end: int
    text: str
    blocks: tuple[Block, ...] = ()
    pages: int | None = None
    page_starts: tuple[tuple[int, int], ...] = ()
    original: str = ""
    media_type: str = ""

    def page_at(self, offset: int) -> int | None:
        """The page that this character is on; None before the first page, and without pages."""
        return next((page for start, page in reversed(self.page_starts) if start <= offset), None)


class SourceList(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Documents by id; `count` is the total for this client. `next`: what `after` is for the next; empty at the
    end.
    """

    items: tuple[ListedSource, ...]
    count: int
    snapshot: str
    next: str = ""


class Piece(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A part of a file of `size` bytes. `version` is another when its bytes are; `name` is the file's own."""

    data: bytes
    size: int
    version: str
    name: str
    media_type: str


class PageView(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A page of `pages`, `width` by `height` points. `marks`: left, top, right and bottom of each line that is cited."""

    pages: int
    width: float
    height: float
    marks: tuple[tuple[float, float, float, float], ...] = ()


class _Refused(msgspec.Struct, frozen=True, tag=True):
    why: Literal["none", "not_served", "unavailable"]
    detail: str


type Question = TextAsked | ListAsked | PieceAsked | PageAsked
type Found = SourceText | SourceList | Piece | PageView


class NoSuchSource(Failure):
    """There is no such document, or the client may not see it."""


class NotServed(Failure):
    """The document exists, but not the requested part; the message gives the reason."""


_encoder = msgspec.msgpack.Encoder()
_questions: msgspec.msgpack.Decoder[Question] = msgspec.msgpack.Decoder(TextAsked | ListAsked | PieceAsked | PageAsked)
_replies: msgspec.msgpack.Decoder[Found | _Refused] = msgspec.msgpack.Decoder(
    SourceText | SourceList | Piece | PageView | _Refused
)


def no_such_source(source_id: str) -> NoSuchSource:
    return NoSuchSource(f"there is no source {source_id[:200]!r}; /v1/sources lists those that there are")


async def ask_sources[Reply: Found](
    client: Client, question: Question, kind: type[Reply], *, timeout_s: float
) -> Reply:
    """Raises NoSuchSource, NotServed, Unavailable."""
    reply = await reply_to(client, SOURCES, _encoder.encode(question), _replies, timeout_s=timeout_s)
    match reply:
        case _Refused(why="none"):
            raise NoSuchSource(reply.detail)
        case _Refused(why="not_served"):
            raise NotServed(reply.detail)
        case _Refused():
            raise Unavailable(reply.detail)
    if not isinstance(reply, kind):
        raise Unavailable(f"the search process answered with {type(reply).__name__}; update it")
    return reply


async def answer_sources(client: Client, find: Callable[[Question], Awaitable[Found]]) -> Callable[[], Awaitable[None]]:
    """Answer with `find`, several questions at a time. Returns a function that stops it."""

    async def answer(msg: Msg) -> bytes:
        reply: Found | _Refused
        try:
            reply = await find(read(_questions, msg.data, "this question"))
        except NoSuchSource as none:
            reply = _Refused("none", str(none))
        except NotServed as reason:
            reply = _Refused("not_served", str(reason))
        return _encoder.encode(reply)

    return await reply_with(
        client, SOURCES, answer, lambda why: _encoder.encode(_Refused("unavailable", why)), what="reading of sources"
    )


def fits(reply: Found) -> bool:
    return len(_encoder.encode(reply)) <= REPLY_BYTES
