"""Read JSON Lines files, for every measurement."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec


class BadLine(ValueError):
    """A line that cannot be read; the message names it, the fault and the expected form."""


def decoded[Line: msgspec.Struct](
    lines: Iterable[str | bytes], into: type[Line], form: str = "each line must be one JSON object"
) -> Iterator[tuple[int, Line]]:
    """The lines in order with their numbers, blank ones skipped.

    Raises: BadLine when it reaches a bad one.
    """
    decoder = msgspec.json.Decoder(into)
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            try:
                yield number, decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise BadLine(f"line {number}: {error}; {form}") from None


def read[Line: msgspec.Struct](path: Path, into: type[Line]) -> list[Line]:
    """The lines of a file. Raises: BadLine for the first bad one, for a file without lines, and for one that cannot be read."""
    try:
        with path.open("rb") as lines:
            found = [line for _, line in decoded(lines, into)]
    except BadLine as error:
        raise BadLine(f"{path}, {error}") from None
    except OSError as error:
        raise BadLine(f"{path} cannot be read ({error.strerror})") from None
    if not found:
        raise BadLine(f"{path} has no lines; write one JSON object on each")
    return found
