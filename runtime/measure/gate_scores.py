"""Labelled sentences, and how many of them the gate shows, marks and withholds."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import get_args

import msgspec
from msgspec.structs import replace

from actors.gate.check import check_sentence
from actors.gate.flags import Flag, Standing, standing
from bus.wire.messages import same_fields
from index.text.citations import markers
from prompts.contracts import Evidence
from prompts.thinking import without_thinking
from runtime.measure.lines import BadLine, decoded


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered piece of evidence; only its number and its text are needed."""

    n: int
    text: str
    source_id: str = ""
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence with its evidence. `language` is its own."""

    id: str
    answer: str
    evidence: tuple[Item, ...]
    language: str | None = None
    label: str | None = None

    def numbered(self) -> tuple[Evidence, ...]:
        return tuple(Evidence(**same_fields(item, Evidence)) for item in self.evidence)


_FORM = 'each line must be {"id": "…", "answer": "…", "evidence": [{"n": 1, "text": "…"}]}'


def read_lines(lines: Iterable[str | bytes]) -> Iterator[Line]:
    """The lines in order, blank ones skipped, without what no client of an engine sees.

    Raises: BadLine when it reaches a bad one.
    """
    for number, line in decoded(lines, Line, _FORM):
        numbers = [item.n for item in line.evidence]
        if len(set(numbers)) < len(numbers):
            raise BadLine(f"line {number}: two pieces of evidence have the same n; number them 1, 2, 3…")
        yield replace(line, answer=without_thinking(line.answer))


SUPPORTED = "supported"


def cited(line: Line) -> str:
    """The sentence of a line with marks for all its evidence, if it has none of its own."""
    return line.answer if markers(line.answer) else line.answer + "".join(f"[{item.n}]" for item in line.evidence)


class Sentences(msgspec.Struct, frozen=True, kw_only=True):
    """Supported sentences of a language, or all others: how many, and the shares of each standing and of each kind of flag."""

    sentences: int
    standings: dict[Standing, float]
    flags: dict[str, float]


def standings(lines: Sequence[Line]) -> dict[str, tuple[Sentences, Sentences]]:
    """For each language, and for all of them under "all": the supported sentences and the others."""
    checked = [(line, check_sentence(cited(line), line.numbered())) for line in lines]
    languages = sorted({line.language or "" for line in lines})
    return {
        language or "none": (_shares(checked, languages, supported=True), _shares(checked, languages, supported=False))
        for language, languages in (*((one, (one,)) for one in languages), ("all", languages))
    }


def _shares(
    checked: Sequence[tuple[Line, tuple[Flag, ...]]], languages: Collection[str], *, supported: bool
) -> Sentences:
    own = [
        flags
        for line, flags in checked
        if (line.label == SUPPORTED) == supported and (line.language or "") in languages
    ]
    found = Counter(map(standing, own))
    kinds = Counter(kind for flags in own for kind in {one.kind for one in flags})
    return Sentences(
        sentences=len(own),
        standings={name: found[name] / max(1, len(own)) for name in get_args(Standing)},
        flags={kind: count / max(1, len(own)) for kind, count in sorted(kinds.items())},
    )
