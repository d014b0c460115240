"""The closest passages as Markdown, for clients that display only text: each quoted under its title, matches in bold.

A document's text stays text: no part of it becomes a link, a picture, markup or a heading.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, islice

from actors.text.limit import tokens_in
from bus.wire.settled import NearPassage
from index.languages.characters import visible
from runtime.terminal import fit

#: Characters that mean something inside a line, and what makes an address a link by itself.
_INLINE = re.compile(r"[\\`*\[\]<>~&@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
#: What means something at the beginning of a line: indentation, then a heading, a list, a rule or a table.
_BEGINNING = re.compile(r"([ \t]*)(?:([#+=|-]|:(?=-))|(\d{1,9})(?=[.)]))?")
_WEB = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)


def markdown(passages: Sequence[NearPassage]) -> str:
    """The passages, numbered, after a blank line; empty for none."""
    return "".join(f"\n\n{each}" for each in each_markdown(passages))


def within(passages: Sequence[NearPassage], text: str, most: int | None) -> tuple[NearPassage, ...]:
    """The first passages, each whole, that have at most so many tokens together with the text before them."""
    if most is None:
        return tuple(passages)
    counts = accumulate(map(tokens_in, each_markdown(passages)), initial=tokens_in(text))
    return tuple(passage for passage, count in zip(passages, islice(counts, 1, None), strict=True) if count <= most)


def each_markdown(passages: Sequence[NearPassage]) -> list[str]:
    return [f"{_heading(n, passage)}\n\n{_quoted(passage)}" for n, passage in enumerate(passages, 1)]


def _heading(n: int, passage: NearPassage) -> str:
    title = _plain(passage.title or passage.source_id)
    name = f"[{title}](<{passage.url}>)" if _WEB.fullmatch(passage.url) and fit(passage.url) == passage.url else title
    page = f"p. {passage.page}" if passage.page is not None else ""
    position = ", ".join(part for part in (_plain(" › ".join(passage.headings)), page) if part)
    return f"**{n}. {name}**" + (f" {position}" if position else "")


def _quoted(passage: NearPassage) -> str:
    """The text as a quotation, a line of it a line; the stretches that match in bold."""
    pieces: list[str] = []
    at = 0
    for start, end in passage.marked:
        pieces += [_escaped(passage.text[at:start]), f"**{_escaped(passage.text[start:end])}**"]
        at = end
    pieces.append(_escaped(passage.text[at:]))
    lines = [_BEGINNING.sub(_as_text, line.rstrip(), count=1) for line in "".join(pieces).strip("\n").split("\n")]
    return "  \n".join(f"> {line}".rstrip() for line in lines)


def _as_text(match: re.Match[str]) -> str:
    """The beginning of a line, so that its indentation is kept and makes no code."""
    indented = "\u00a0" * len(match[1].expandtabs(4))
    return indented + (f"\\{match[2]}" if match[2] else f"{match[3]}\\" if match[3] else "")


def _escaped(text: str) -> str:
    return _INLINE.sub(lambda match: "\\" + match[0], visible(fit(text)))


def _plain(text: str) -> str:
    return _escaped(" ".join(text.split()))
