"""The lines that the gate commands read: an answer with the evidence to check it against."""

from collections.abc import Iterable, Iterator

import msgspec

from prompts.contracts import Evidence
from runtime.measure.lines import BadLine, decoded


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered piece of evidence; only its number and its text are needed."""

    n: int
    text: str
    source_id: str = ""
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to check. `language` is the language required of it, used by `gate`; only evaluation sets have a `label`."""

    id: str
    answer: str
    evidence: tuple[Item, ...]
    language: str | None = None
    label: str | None = None

    def numbered(self) -> tuple[Evidence, ...]:
        return tuple(
            Evidence(n=item.n, source_id=item.source_id, title=item.title, text=item.text) for item in self.evidence
        )


_FORM = 'each line must be {"id": "…", "answer": "…", "evidence": [{"n": 1, "text": "…"}]}'


def read_lines(lines: Iterable[str | bytes]) -> Iterator[Line]:
    """The lines in order, blank ones skipped.

    Raises: BadLine when it reaches a bad one.
    """
    for number, line in decoded(lines, Line, _FORM):
        numbers = [item.n for item in line.evidence]
        if len(set(numbers)) < len(numbers):
            raise BadLine(f"line {number}: two pieces of evidence have the same n; number them 1, 2, 3…")
        yield line
