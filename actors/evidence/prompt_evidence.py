"""Passages, findings and evidence as prompts have them.

Bus structs become prompt structs: same fields, but separate types, since neither layer knows the other.
"""

from collections.abc import Mapping, Sequence

import msgspec
from groundwire.wire import Block
from msgspec import UNSET, UnsetType

from actors.evidence.section import introductions
from actors.evidence.standing import Dated, out_of_date, replaced_in_part
from bus.wire.parts import Analysis, Passage, Span
from index.text.units import units
from prompts import contracts


def chunks_of(passages: Sequence[Passage], *, to_model: bool) -> tuple[contracts.Chunk, ...]:
    """The passages as a judge sees them; to a model also says what replaces one, where that is among them."""
    old = _replaced(passages) if to_model else {}
    return tuple(_chunk_of(passage, old) for passage in passages)


def _chunk_of(passage: Passage, old: Mapping[str, str]) -> contracts.Chunk:
    return contracts.Chunk(
        source_file=passage.source_id,
        score=passage.score,
        content=passage.text,
        section=contracts.SECTIONS.join(passage.headings),
        intro=" ".join(passage.intros),
        units=_units(passage.text, passage.blocks, passage.char_start, introductions(passage)),
        date=_date_of(passage),
        replaced_by=_in_place_of(passage, old),
    )


def _replaced[D: Dated](parts: Sequence[D]) -> dict[str, str]:
    """The documents that are replaced as a whole: of one that an amendment changes, most stays in force."""
    old = out_of_date(parts)
    in_part = replaced_in_part(parts, old)
    return {name: by for name, by in old.items() if name not in in_part}


def _date_of(part: Passage | Span) -> str | UnsetType:
    """The day that the document itself gives, not the one on which a program saved it."""
    return UNSET if part.about.saved else part.about.date[:10] or UNSET


def _in_place_of(part: Passage | Span, old: Mapping[str, str]) -> str | UnsetType:
    return old[part.source_id] or "a later text" if part.source_id in old else UNSET


def analysis_to_prompt(analysis: Analysis) -> contracts.Relevance:
    return msgspec.convert(analysis, contracts.Relevance, from_attributes=True)


def evidence_of(spans: tuple[Span, ...], *, to_model: bool = False) -> tuple[contracts.Evidence, ...]:
    """What an answering prompt sees: the span with what introduces it, not all of its passage; `to_model` as in `chunks_of`."""
    old = _replaced(spans) if to_model else {}
    return tuple(
        contracts.Evidence(
            n=span.n,
            source_id=span.source_id,
            title=span.title,
            text=span.text,
            section=contracts.SECTIONS.join(span.headings),
            intro=span.intro,
            lead=""
            if span.lead is None
            else span.text[span.lead[0] - span.source_start : span.lead[1] - span.source_start],
            units=_units(span.text, span.blocks, span.source_start, _introductions(span)),
            date=_date_of(span),
            replaced_by=_in_place_of(span, old),
        )
        for span in spans
    )


def _introductions(span: Span) -> dict[tuple[int, int], str]:
    """The text of each introduction of the span's blocks: a slice of the span, or for its first block the span's `intro`."""
    texts: dict[tuple[int, int], str] = {}
    for block in span.blocks:
        if block.intro is None:
            continue
        start, end = block.intro
        if span.source_start <= start:
            texts[block.intro] = span.text[start - span.source_start : end - span.source_start]
        elif not texts:
            texts[block.intro] = span.intro
    return texts


def _units(
    text: str, blocks: tuple[Block, ...], offset: int, intros: Mapping[tuple[int, int], str]
) -> tuple[contracts.Unit, ...]:
    """The units of a text with blocks; none without, since a sentence can be found by anyone."""
    if not blocks:
        return ()
    return tuple(
        contracts.Unit(
            start=unit.start,
            end=unit.end,
            kind=unit.kind,
            intro=intros.get((unit.intro[0] + offset, unit.intro[1] + offset), "") if unit.intro else "",
            code=unit.code,
            syntax=unit.syntax,
        )
        for unit in units(text, blocks, offset)
    )
