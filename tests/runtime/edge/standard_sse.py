"""A reader of event streams that follows the HTML standard (section 9.2.6) exactly, as browsers do, for any split of the bytes."""

import codecs
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Received:
    event: str
    data: str
    id: str


@dataclass
class EventStream:
    """Feed it bytes; `received` is what a browser would have dispatched."""

    received: list[Received] = field(default_factory=list)
    last_event_id: str = ""
    retry_ms: int | None = None

    def __post_init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._started = False
        self._event, self._data, self._id = "", "", ""

    def feed(self, chunk: bytes) -> None:
        self._text += self._decode.decode(chunk)
        if not self._started and self._text:
            self._started = True
            self._text = self._text.removeprefix("\ufeff")
        while (line := self._line()) is not None:
            self._take(line)

    def _line(self) -> str | None:
        """The next whole line. A CR that ends the chunk waits: an LF may belong to it."""
        for at, char in enumerate(self._text):
            if char == "\n" or (char == "\r" and at + 1 < len(self._text)):
                after = at + 2 if self._text[at : at + 2] == "\r\n" else at + 1
                line, self._text = self._text[:at], self._text[after:]
                return line
            if char == "\r":
                return None
        return None

    def close(self) -> None:
        """The end of the stream: a CR that waited is a line end, an event without its empty line is dropped."""
        if self._text.endswith("\r"):
            self._take(self._text[:-1])
        self._text = ""

    def _take(self, line: str) -> None:
        if not line:
            self._dispatch()
            return
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "" if colon:
                pass  # a comment
            case "event":
                self._event = value
            case "data":
                self._data += value + "\n"
            case "id" if "\0" not in value:
                self._id = value
            case "retry" if value.isascii() and value.isdigit():
                self.retry_ms = int(value)

    def _dispatch(self) -> None:
        self.last_event_id = self._id
        if self._data:
            self.received.append(Received(self._event or "message", self._data.removesuffix("\n"), self._id))
        self._event, self._data = "", ""
