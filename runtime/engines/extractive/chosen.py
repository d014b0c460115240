"""Quote evidence that rules chose as the answer: all of it, each thing once, and never more than a person reads at a glance."""

import re
from collections.abc import Set
from dataclasses import replace
from typing import Final

from actors.choosing.units import LONG_STEPS
from index.languages import spoken
from index.languages.detection import detect
from index.languages.negation import excludes
from index.text.citations import strip_markers
from index.text.passages import weigh
from index.text.sentences import split
from prompts import notices
from prompts.contracts import SECTIONS, Evidence
from runtime.engines.extractive.quoted import Quoted, in_reading_order, said_once
from runtime.engines.extractive.quoting import Limits, answers, cite, clean, laid_out, quoted_unit, shorten
from runtime.engines.extractive.ranking import Read, read_units

#: The most that is shown, in weights without the markers.
MOST: Final = 600.0
_FENCE = "```"
_STOPS: Final = (".", "!", "。", "！", "…", ";", "；")
#: A line with the number and the year of a document, which says nothing about its subject.
_IMPRINT: Final = re.compile(r"(?=.*(?<![A-Za-z0-9])[A-Z]{1,6}-[\w-]*\d)(?=.*(?<!\d)(?:19|20)\d\d(?!\d)).{1,80}\Z")
#: Room for a full stop and for what closes a fence.
_ENDING = 8.0


def is_chosen(evidence: tuple[Evidence, ...]) -> bool:
    """Whether rules chose the evidence as the answer, so that all of it is to be shown."""
    return any(each.lead for each in evidence)


def quote_chosen(question: str, evidence: tuple[Evidence, ...], language: str = "") -> list[Quoted]:
    """Every unit of the evidence that was chosen, in reading order, without what the gate would withhold.

    Where that is more than MOST, or of steps LONG_STEPS times it, what answers stays and the rest goes, the last first. Other
    evidence only speaks against it.
    """
    evidence = tuple(each for each in evidence if each.lead)
    asked = (question, language or detect(question))
    units = read_units(evidence)
    shown: set[tuple[int, int]] = set()
    leading: set[tuple[int, int]] = set()
    found: list[Quoted] = []
    for read in units:
        if (read.passage, read.position) in shown:
            continue
        source = evidence[read.passage]
        quoted = quoted_unit(read, source, Limits(0, 0), 0, whole=True, asked=asked)
        if quoted is not None:
            shown.update((read.passage, position) for position in quoted.positions)
            found.append(quoted)
            if _leads(read, quoted, source):
                leading.add((source.n, quoted.position))
    if not found:  # nothing but what introduces something that is not shown
        cut = (quoted_unit(read, evidence[read.passage], Limits(0, 0), 0, whole=False, asked=asked) for read in units)
        found = [quoted for quoted in cut if quoted is not None]
    told = [each for each in found if (each.evidence.n, each.position) in leading or not _IMPRINT.match(each.text)]
    return _fitting(said_once(told or found), leading)


def in_brief(found: list[Quoted], most: int) -> list[Quoted]:
    """At most so many sentences, in reading order: those that answer before others; headings and questions only alone."""
    parts = [(at, part) for at, each in enumerate(found) for part in _parts(each)]
    said = [each for each in parts if states(each[1])] or parts
    kept = sorted(said, key=lambda each: (not answers(each[1]), each[0]))[:most]
    return in_reading_order([part for at, part in sorted(kept, key=said.index)])


def states(part: Quoted) -> bool:
    """Whether it says something: a heading and a question do not."""
    return bool(part.item) or part.stands_alone or part.text.endswith(_STOPS)


def _parts(quoted: Quoted) -> list[Quoted]:
    """Each sentence of a unit by itself; a list, a row or code as it is."""
    if quoted.item or quoted.stands_alone:
        return [quoted]
    texts = [quoted.text[start:end].strip() for start, end in split(quoted.text)]
    return [replace(quoted, text=text, cited=cite(text, quoted.evidence.n)) for text in texts]


def source_line(quoted: list[Quoted], language: str) -> str:
    """The titles of the documents that are quoted, as the last line of an answer."""
    sources = spoken(language).phrases.sources
    titles = dict.fromkeys(sources.title.format(title=name_of(each.evidence)) for each in quoted)
    return sources.line.format(titles=notices.comma(language).join(titles))


def name_of(evidence: Evidence) -> str:
    return clean(evidence.title or evidence.source_id)


def _leads(read: Read, quoted: Quoted, evidence: Evidence) -> bool:
    """Whether what is quoted from a unit on has the sentence that answers."""
    at = evidence.text.find(evidence.lead)
    last = evidence.units[max(quoted.positions)].end if evidence.units else read.unit.end
    return read.unit.start <= at < last


def _fitting(found: list[Quoted], leading: Set[tuple[int, int]]) -> list[Quoted]:
    kept = in_reading_order(found)
    lead = [each for each in kept if (each.evidence.n, each.position) in leading]
    whole = any(each.item[:1].isdigit() or excludes(each.evidence.section.split(SECTIONS)[-1]) for each in lead)
    most = MOST * (LONG_STEPS if whole else 1)
    beside = [each for each in kept if (each.evidence.n, each.position) not in leading]
    for each in [*reversed(beside), *(each for each in reversed(kept) if each not in beside)]:
        if _weight(kept) <= most or len(kept) == 1:
            break
        kept.remove(each)
    return [_cut(kept[0])] if kept and _weight(kept) > most else kept


def _weight(quoted: list[Quoted]) -> float:
    return weigh(strip_markers(laid_out(quoted)))


def _cut(quoted: Quoted) -> Quoted:
    """The beginning of a part that is too long: of several lines as many as fit, else up to a clause."""
    if "\n" not in quoted.cited:
        length = next(n for n in range(len(quoted.text), 0, -1) if n == 1 or weigh(quoted.text[:n]) <= MOST - _ENDING)
        text = shorten(quoted.text, length)
        return replace(quoted, text=text, cited=cite(text, quoted.evidence.n), item="")
    kept: list[str] = []
    room = MOST - _ENDING
    for line in quoted.cited.splitlines():
        room -= weigh(strip_markers(line)) + 1
        if room < 0:
            break
        kept.append(line)
    fenced = next((line for line in quoted.cited.splitlines() if line.startswith(_FENCE)), "")
    if fenced and sum(line.startswith(_FENCE) for line in kept) == 1:
        kept.append("`" * (len(fenced) - len(fenced.lstrip("`"))))
    return replace(quoted, cited="\n".join(kept), item="")
