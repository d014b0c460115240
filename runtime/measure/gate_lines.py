"""The lines that the gate commands read: an answer with the evidence it is held against."""

from collections.abc import Iterable, Iterator

import msgspec

from prompts.contracts import Evidence


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered piece of evidence; only its number and its text are needed."""

    n: int
    text: str
    source_id: str = ""
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """`language` asks for the answer's language to be checked in `gate`; `label` is known in evaluation sets only."""

    id: str
    answer: str
    evidence: tuple[Item, ...]
    language: str | None = None
    label: str | None = None

    def numbered(self) -> tuple[Evidence, ...]:
        return tuple(
            Evidence(n=item.n, source_id=item.source_id, title=item.title, text=item.text) for item in self.evidence
        )


class BadLine(ValueError):
    """A line that cannot be read; the message names it, the reason and the form it should have."""


_FORM = 'each line must be {"id": "…", "answer": "…", "evidence": [{"n": 1, "text": "…"}]}'


def read_lines(lines: Iterable[str | bytes]) -> Iterator[Line]:
    """The lines in order, blank ones skipped.

    Raises: BadLine, when it gets to one.
    """
    decoder = msgspec.json.Decoder(Line)
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadLine(f"line {number}: {error}; {_FORM}") from None
        numbers = [item.n for item in line.evidence]
        if len(set(numbers)) < len(numbers):
            raise BadLine(f"line {number}: two pieces of evidence have the same n; number them 1, 2, 3…")
        yield line
