"""Cut passages into what could be shown as an answer: a paragraph, an item with what introduces it, a row, code with its sentence.

A unit is the smallest such stretch that says something by itself.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from actors.choosing.asked import has_telephone
from actors.evidence.section import introductions
from bus.wire.parts import Passage
from index.languages import union
from index.text import units as cutting
from index.text.passages import weigh

#: The weight of what is chosen for one answer: a character 1, Korean 2, Chinese 3. Full stops that are added bring it to 600.
MOST = 580
#: Numbered steps and exclusions, of which none may be missing, may have so many times that weight.
LONG_STEPS = 2
#: A longer paragraph is several units, each of as many sentences as weigh this much.
LONG_PARAGRAPH = 300
#: The path of a mail.
MAIL = re.compile(r"\.(?:eml|msg|mbox)(?:/|$)")
#: A longer line of a mail, or one with a number or an address, is no greeting and no signature.
_COURTESY = 48
_NAMES_A_FACT = re.compile(r"[\d@]")
_COMMAS = (",", "،", "，")
_GREETS = (*_COMMAS, "!", "！")
#: A greeting, and what closes a mail, has at most so many lines.
_FEW = 3
#: The level of a heading that has no mark.
LOWEST = 6
#: A paragraph that begins so is an item of a list of steps.
_STEP = re.compile(union(lambda language: language.headings.step).pattern, re.IGNORECASE)


class Unit(msgspec.Struct, frozen=True):
    """`passage`: its number, from 0; offsets are into that passage's text. `section`: the number of its section there.

    `path`: the headings that lead to it. `intro`: what introduces it in the source and is not in it. `first`: nothing but a
    heading stands before it in its section. `order`: its number among all units of the passages.
    """

    passage: int
    start: int
    end: int
    kind: str
    text: str
    path: tuple[str, ...]
    intro: str
    section: int
    first: bool
    sentences: tuple[tuple[int, int], ...]
    weight: float
    order: int


def units_of(passages: Sequence[Passage]) -> list[Unit]:
    """The units of all passages, in reading order; headings and table headers are none."""
    found: list[Unit] = []
    for at, passage in enumerate(passages):
        # Without what differs from question to question, so that a passage is cut once.
        own = replace(passage, score=0.0, coverage=None, cosine=None, rerank_score=None)
        count = len(found)
        found += [replace(unit, passage=at, order=count + n) for n, unit in enumerate(_cut(own))]
    return found


@lru_cache(maxsize=1024)
def _cut(passage: Passage) -> tuple[Unit, ...]:
    """The units of one passage, counted from 0."""
    found: list[Unit] = []
    told = introductions(passage)
    offset = passage.char_start
    path = [(level, title) for level, title in enumerate(passage.headings, 1)]
    section, first = 0, passage.char_start == 0
    level_at = {block.start - offset: max(block.level, 1) for block in passage.blocks if block.kind == "heading"}
    group: list[cutting.Unit] = []

    def close() -> None:
        nonlocal first
        if not group:
            return
        signature = False
        if MAIL.search(passage.source_id):
            signature = _is_signature(passage.text, group)
            if not signature:
                _cut_courtesies(passage.text, group)
            if not group:
                return
        start, end = group[0].start, group[-1].end
        text = passage.text[start:end]
        intro = group[0].intro
        stretch = (intro[0] + offset, intro[1] + offset) if intro else None
        inside = intro is not None and start <= intro[0] < end
        found.append(
            Unit(
                passage=0,
                start=start,
                end=end,
                kind="list_item" if _STEP.match(text) else "definition" if signature else group[0].kind,
                text=text,
                path=tuple(title for _, title in path),
                intro="" if stretch is None or inside else told.get(stretch, ""),
                section=section,
                first=first,
                sentences=tuple((unit.start, unit.end) for unit in group),
                weight=weigh(text),
                order=len(found),
            )
        )
        first = False
        group.clear()

    for unit in cutting.units(passage.text, passage.blocks, offset):
        if unit.kind == "heading":
            close()
            line = passage.text[unit.start : unit.end]
            title = " ".join(line.lstrip("# ").split())
            level = level_at.get(unit.start) or len(line) - len(line.lstrip("#")) or LOWEST
            path = [above for above in path if above[0] < level] + [(level, title)]
            section, first = section + 1, True
            continue
        if not unit.answers:
            close()
            continue
        if group and not _same(passage, group, unit):
            close()
        group.append(unit)
    close()
    return tuple(found)


def _is_signature(text: str, group: Sequence[cutting.Unit]) -> bool:
    """Whether these are the lines that close a mail, with a telephone number: as its head, they answer for persons only."""
    closing, *lines = (text[one.start : one.end] for one in group)
    return (
        1 <= len(lines) <= _FEW
        and closing.endswith(_COMMAS)
        and all(weigh(line) < _COURTESY and not line.endswith(cutting.STOPS) for line in (closing, *lines))
        and any(map(has_telephone, lines))
    )


def _cut_courtesies(text: str, group: list[cutting.Unit]) -> None:
    """Take a mail's greeting and signature from the sentences of a paragraph; none may be left.

    A greeting is the short lines in front up to the last with a comma or an exclamation mark. A signature is the short lines
    from the last ones with a comma on, or two or three without any stop below a full stop or at the end of the passage.
    """
    lines = [text[one.start : one.end] for one in group]
    short = [
        weigh(line) < _COURTESY
        and not _NAMES_A_FACT.search(line)
        and (line.endswith(_GREETS) or not line.endswith(cutting.STOPS))
        for line in lines
    ]
    front = sum(1 for _ in takewhile(bool, short[:_FEW]))
    first = max((at + 1 for at in range(front) if lines[at].endswith(_GREETS)), default=0)
    back = sum(1 for _ in takewhile(bool, reversed(short[first:][-_FEW:])))
    last = min((at for at in range(len(group) - back, len(group)) if lines[at].endswith(_COMMAS)), default=len(group))
    bare = sum(1 for _ in takewhile(lambda at: short[at] and lines[at][-1:].isalnum(), range(len(group) - 1, -1, -1)))
    above = len(group) - bare
    ends = lines[above - 1].endswith(cutting.STOPS) if above > first else not text[group[-1].end :].strip()
    if ends and 2 <= bare <= _FEW:  # "Kind regards" and a name
        last = min(last, above)
    if first < len(group) or (len(group) == 1 and lines[0].endswith(_COMMAS)):
        group[:] = group[first:last]


def _same(passage: Passage, group: list[cutting.Unit], unit: cutting.Unit) -> bool:
    """Whether a sentence goes on with the group: sentences of one paragraph that together are not long."""
    last = group[-1]
    if unit.kind != last.kind or unit.kind not in ("prose", "quotation", "list_item", "definition"):
        return False
    block = next(
        (b for b in passage.blocks if b.start - passage.char_start <= last.start < b.end - passage.char_start), None
    )
    if block is not None and unit.start >= block.end - passage.char_start:
        return False
    if block is None and "\n\n" in passage.text[last.end : unit.start]:
        return False
    return weigh(passage.text[group[0].start : unit.end]) <= LONG_PARAGRAPH
