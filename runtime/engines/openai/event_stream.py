"""Server-sent events out of bytes as they arrive, by the HTML standard ("Interpreting an event stream").

Lines end in LF, CR or CRLF, also across pieces; a byte order mark at the beginning is dropped; broken UTF-8 is replaced; an
event that no empty line ends is not told.
"""

import codecs
import re

import msgspec

_LINE_END = re.compile(r"\r\n|\n|\r")


class StreamedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`id`: the last one that the stream gave, with this event or before it."""

    data: str
    event: str = "message"
    id: str = ""


class EventStream:
    """`feed` it what arrives. `retry_ms`: how long the server asks a client to wait before it comes back, None unsaid.

    `longest`: about as many characters may an event have; ValueError beyond.
    """

    def __init__(self, longest: int = 8_000_000) -> None:
        self.retry_ms: int | None = None
        self.last_id = ""
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._longest = longest
        self._rest: list[str] = []  # of a line that has not ended
        self._size = 0
        self._data: list[str] = []
        self._event = self._id = ""
        self._after_cr = False

    def feed(self, piece: bytes) -> list[StreamedEvent]:
        """The events that `piece` completes."""
        text = self._decoder.decode(piece)
        if self._after_cr and text:
            text = text.removeprefix("\n")
            self._after_cr = False
        self._after_cr = self._after_cr or text.endswith("\r")
        self._size += len(text)
        *whole, rest = _LINE_END.split(text)
        told = []
        for line in whole:
            if self._rest:
                line = "".join([*self._rest, line])  # noqa: PLW2901 - the beginning came in a piece before
                self._rest.clear()
            event = self._line(line)
            if event is not None:
                told.append(event)
        if rest:
            self._rest.append(rest)
        if self._size > self._longest:
            raise ValueError(f"an event of the stream is longer than {self._longest:,} characters")
        return told

    def _line(self, line: str) -> StreamedEvent | None:
        if not line:
            return self._end()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdecimal():
            self.retry_ms = int(value)
        return None

    def _end(self) -> StreamedEvent | None:
        data, event = self._data, self._event
        self._data, self._event, self._size = [], "", 0
        self.last_id = self._id
        return StreamedEvent(data="\n".join(data), event=event or "message", id=self.last_id) if data else None
