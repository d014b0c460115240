"""What is quoted, with its evidence; and the same sentence never twice, but once with all the evidence that says it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from actors.evidence.repeated import repeats
from index.text.citations import strip_markers
from index.text.sentences import split
from prompts.contracts import Evidence

#: After a full stop of this width no space follows.
_WIDE_STOPS = re.compile(r"[。！？｡][\"'”’»」』)）]*\Z")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A unit to quote and the evidence it is from. `cited`: as quoted, with its marker; several lines for code and for a list.

    `intro`: what introduces an item; `item`: an item as a line of a list, without it.
    `positions`: of all units that it shows. `also`: other evidence that says the same, which it cites too.
    `covered`: the share of the question in it, where it was ranked.
    """

    evidence: Evidence
    text: str
    cited: str
    position: int
    positions: tuple[int, ...]
    kind: str = ""
    intro: str = ""
    item: str = ""
    also: tuple[Evidence, ...] = ()
    covered: float = 0.0

    @property
    def cites(self) -> tuple[Evidence, ...]:
        return (self.evidence, *self.also)

    @property
    def stands_alone(self) -> bool:
        return "\n" in self.cited or self.kind == "table_row"


def said_once(found: Sequence[Quoted]) -> list[Quoted]:
    """The same without what an earlier one says; what a later one shows in full, with more below it, goes as well."""
    kept: list[Quoted] = []
    for quoted in found:
        whole = {(quoted.evidence.n, position) for position in quoted.positions}
        kept = [one for one in kept if not {(one.evidence.n, position) for position in one.positions} <= whole]
        said = [(at, sentence) for at, one in enumerate(kept) for sentence in _sentences(one.cited)]
        mine = _sentences(quoted.cited)
        again = [next((at for at, other in said if repeats(other, sentence)), None) for sentence in mine]
        if "\n" in quoted.cited or not any(at is not None for at in again):
            kept.append(quoted)
        elif any(at is None for at in again):
            new = in_one_line(sentence for sentence, at in zip(mine, again, strict=True) if at is None)
            kept.append(replace(quoted, cited=new, item=""))
        elif (at := again[0]) is not None:
            kept[at] = _citing(kept[at], quoted)
    return kept


def in_one_line(sentences: Iterable[str]) -> str:
    """The sentences one after the other, with the space between them that their script asks for."""
    text = ""
    for sentence in sentences:
        text += f"{'' if not text or _WIDE_STOPS.search(text) else ' '}{sentence}"
    return text


def in_reading_order(quoted: list[Quoted]) -> list[Quoted]:
    return sorted(quoted, key=lambda q: (q.evidence.n, q.position))


def _citing(one: Quoted, again: Quoted) -> Quoted:
    """The quotation, citing also the evidence of another one with the same words."""
    if again.evidence in one.cites or _bare(one.cited) != _bare(again.cited):
        return one
    cites = (*one.cites, again.evidence)
    before, after = ("".join(f"[{n}]" for n in sorted(e.n for e in each)) for each in (one.cites, cites))
    return replace(one, cited=one.cited.replace(before, after), item=one.item.replace(before, after), also=cites[1:])


def _sentences(cited: str) -> list[str]:
    return [cited[start:end] for start, end in split(cited)]


def _bare(cited: str) -> str:
    return " ".join(strip_markers(cited).split())
