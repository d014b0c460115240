"""Text of documents and people, made safe for a terminal. Only this module prints, and only it adds styles.

A terminal obeys what it is sent: an escape sequence clears the screen or makes a link that shows one address and opens another, a
carriage return or a backspace prints over earlier text, a bidirectional control shows a text in another order than it is
read. All of that is taken out; what letters and emoji of any script are made of stays.
"""

import logging
import os
import re
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final

import click
import msgspec

from index.languages.characters import INVISIBLE

_JOINERS: Final = "\u200c\u200d"  # between two letters of some scripts, between two pictures of an emoji
_VARIANTS: Final = "\ufe0e\ufe0f"  # behind a picture: as text, as emoji
_BREAKS: Final = re.compile(r"\r(?!\n)|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_LONE: Final = re.compile(r"[\ud800-\udfff]")
_HIDDEN: Final = rf"\x00-\x08\x0e-\x1f\x7f-\x9f\u2028\u2029{INVISIBLE}\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_DROPPED: Final = re.compile(f"(?![{_JOINERS}{_VARIANTS}])[\r{_HIDDEN}]")
_SEEN: Final = rf"[^\x00-\x7f\s{_JOINERS}{_VARIANTS}]"
#: Joiners and variants in places where they join and change nothing, as in a hidden text made of them.
_IDLE: Final = re.compile(
    f"(?<!{_SEEN})[{_VARIANTS}]|[{_JOINERS}](?!{_SEEN})|(?<!{_SEEN})(?<!{_SEEN}[{_VARIANTS}])[{_JOINERS}]"
)
_MOST_MARKS: Final = 8  # on one letter; no script stacks more
_MARKED: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS + 1},}}")
_IN_JSON: Final = re.compile(f"[{_HIDDEN}\ud800-\udfff]")
_IN_LOG: Final = re.compile(f"[\t\n\x0b-\r{_HIDDEN}\ud800-\udfff]")
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Bold:
    """A text to print in bold."""

    text: str


def program() -> str:
    """The command as a person repeats it; `uv run` sets the variable."""
    return "uv run groundwire" if "UV_RUN_RECURSION_DEPTH" in os.environ else "groundwire"


def fit(text: str) -> str:
    """`text` as a terminal may print it: of control characters only newline and tab, nothing that is not seen or turns the order.

    Other breaks of a line become a space, and halves of surrogate pairs, which are in names of files that are not UTF-8, U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _DROPPED.sub("", _BREAKS.sub(" ", text))
    if text.isascii():
        return text
    return _IDLE.sub("", _fewer_marks(_LONE.sub("\ufffd", text), lambda mark: ""))


def _fewer_marks(text: str, instead: Callable[[str], str]) -> str:
    """`text` with no more marks on a letter than a script needs; `instead` replaces each of the others."""

    def fewer(found: re.Match[str]) -> str:
        kept: list[str] = []
        stacked = 0
        for character in found[0]:
            stacked = stacked + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
            kept.append(character if stacked <= _MOST_MARKS else instead(character))
        return "".join(kept)

    return _MARKED.sub(fewer, text)


def one_line(text: str) -> str:
    """`text`, fit for a terminal, as one line: a title or a message cannot forge a line of the program."""
    return " ".join(fit(text).split())


def escaped(text: str) -> str:
    """`text` as one line in which every character that `fit` drops, and every newline and tab, is an escape."""
    return text if text.isprintable() else _IN_LOG.sub(lambda found: _NAMED.get(found[0]) or _escape(found[0]), text)


def json_line(line: bytes) -> str:
    """The same JSON with what a terminal would obey, or not show, as escapes."""
    text = line.decode(errors="replace")
    if text.isascii() and text.isprintable():
        return text
    return _fewer_marks(_IN_JSON.sub(lambda found: _escape(found[0]), text), _escape)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def say(*pieces: str | Bold, err: bool = False, nl: bool = True) -> None:
    """Print the pieces as one text, on standard output or, with `err`, on standard error."""
    click.echo(styled(*pieces), sys.stderr if err else sys.stdout, nl=nl)  # named, or click takes ASCII for UTF-8


def say_json(value: object) -> None:
    """Print `value` as one line of JSON; msgspec.Raw is a line that is JSON already."""
    click.echo(json_line(msgspec.json.encode(value)), sys.stdout)


def styled(*pieces: str | Bold) -> str:
    """The pieces as one text, fit for a terminal, with the sequences for bold pieces."""
    return "".join(
        click.style(fit(piece.text), bold=True) if isinstance(piece, Bold) else fit(piece) for piece in pieces
    )


type _Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class OneLine(logging.Formatter):
    """A record is one line, its control characters as escapes; the lines of a traceback below it are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return escaped(super().formatMessage(record))

    def formatException(self, ei: _Raised) -> str:
        return _below(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return _below(super().formatStack(stack_info))


def _below(text: str) -> str:
    return "\n".join(f"  {escaped(line)}" for line in text.split("\n"))
