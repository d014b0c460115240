"""The blocks of a document out of its laid-out pages, with the evidence of all pages together.

Headings are larger than the prose; text at the same position of most pages is left out; paragraphs go on over pages. A
word that the end of a line divided is whole again, and a compound keeps its hyphen; the raised number of a footnote becomes `[1]`
where a note with that number is found.
"""

import re
from collections import Counter
from collections.abc import Iterable

from index.languages.characters import WIDE
from index.readers.formats import TextBuilder, row
from index.readers.pdf_blocks import LONGEST_HEADING, Body, Part, parts_of
from index.readers.pdf_page import Page, Run, Table
from index.readers.pdf_properties import Bookmark
from index.readers.tabular import has_labels, labelled
from index.readers.text import chapters

_NUMBERS = re.compile(r"\d+|^[ivxlc]+$")
_NO_LETTER = re.compile(r"[\W_]+")
#: A line is a running header or footer when it is in this share of a page's height, at this share of the pages.
_MARGIN, _REPEATED = 0.12, 0.3
_LEAST_PAGES = 3


def fill(builder: TextBuilder, pages: list[Page], outline: list[Bookmark]) -> str:
    """Add every block. The title is the first heading of the first page, if it is of the highest level."""
    body = _body(pages)
    repeated = _repeated(pages, body)
    kept = [[run for run in page.runs if _place(page, run) not in repeated] for page in pages]
    words = words_of(run.text for runs in kept for run in runs)
    parts: list[Part] = []
    for page, runs in zip(pages, kept, strict=True):
        for part in parts_of(page, runs, body):
            _append(parts, part, page.number)
    mark_notes(parts)
    level_of = _Levels(parts, outline)
    title = ""
    above: Table | None = None
    visible = 0
    for part in parts:
        first = part.pages[0][1]
        if first != visible:
            builder.page(first)
            visible = first
        if part.table is not None:
            above = _add_table(builder, part.table, above, words)
            continue
        above = None
        if part.kind == "code":
            builder.add("\n".join(part.texts), "code")
            continue
        text = joined(part.texts, words)
        level = level_of(part, text)
        builder.add(text, "heading" if level else part.kind, level or part.level)
        if level == 1 and not title and first == pages[0].number:
            title = text
        for position, number in part.pages[1:]:
            visible = number
            builder.page(number, back=len(text) - _offset(text, joined(part.texts[:position], words)))
    return title


def _body(pages: list[Page]) -> Body:
    """The size in which most letters are set, and whether most of those are bold."""
    sizes: Counter[float] = Counter()
    bold: Counter[float] = Counter()
    for page in pages:
        for run in page.runs:
            size = round(run.size * 2) / 2
            sizes[size] += len(run.text)
            bold[size] += len(run.text) * run.bold
    if not sizes:
        return Body(10, bold=False)
    size = sizes.most_common(1)[0][0]
    return Body(size, bold=2 * bold[size] > sizes[size])


def _place(page: Page, run: Run) -> tuple[str, bool] | None:
    """What a running header or footer has in common on all its pages; None for a run that is not near an edge."""
    if _MARGIN * page.height < run.bottom and run.top < (1 - _MARGIN) * page.height:
        return None
    return _NUMBERS.sub("#", run.text), run.bottom <= _MARGIN * page.height


def _repeated(pages: list[Page], body: Body) -> set[tuple[str, bool] | None]:
    """Running headers, footers and page numbers. Larger text is a repeated title."""
    times: Counter[tuple[str, bool] | None] = Counter()
    for page in pages:
        times.update({_place(page, run) for run in page.runs if run.size <= 1.15 * body.size})
    del times[None]
    least = max(_LEAST_PAGES, _REPEATED * len(pages))
    results = {position for position, count in times.items() if count >= least}
    # The name of a chapter next to the page number repeats on fewer pages.
    for page in pages:
        numbers = [
            run for run in page.runs if (position := _place(page, run)) in results and position and position[0] == "#"
        ]
        for run in page.runs if numbers else ():
            position = _place(page, run)
            if times[position] > 1 and any(abs(run.bottom - number.bottom) < 0.5 * run.size for number in numbers):
                results.add(position)
    return results


def _append(parts: list[Part], part: Part, number: int) -> None:
    """Add a block, to the one before if that goes on in it: at the top of a column, after a line that ends no sentence."""
    before = next((one for one in reversed(parts) if not one.note), None)
    if part.top and before is not None and before.open and part.kind == "prose" and not part.note:
        first = part.texts[0][:1]
        if abs(before.size - part.size) < 0.1 * part.size and first.isalpha() and first == first.lower():
            if before.pages[-1][1] != number:
                before.pages.append((len(before.texts), number))
            before.texts += part.texts
            before.open = part.open
            return
    parts.append(part)


def _add_table(builder: TextBuilder, table: Table, above: Table | None, words: frozenset[str]) -> Table:
    """A table that goes on from the one above, on the page before, has the same columns and need not repeat their names."""
    rows = [[joined(cell.splitlines(), words) for cell in row] for row in table.rows]
    columns = [joined(name.splitlines(), words) for name in table.columns]
    whole = [columns, *rows] if any(columns) else rows
    if above is not None and above.columns and _same(above.edges, table.edges) and table.columns != above.columns:
        rows = whole
        table = table._replace(columns=above.columns)
        columns = [joined(name.splitlines(), words) for name in above.columns]
    elif has_labels(whole):
        table, columns, rows = table._replace(columns=()), [], [[labelled(cells)] for cells in whole]
    elif above is None or not table.columns or table.columns != above.columns:
        builder.add(row(columns), "table_header")
    for cells in rows:
        builder.add(row(cells, columns if len(cells) > 1 else ()), "table_row")
    return table


def _same(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    return len(one) == len(two) > 0 and all(abs(a - b) < 2 for a, b in zip(one, two, strict=True))


def _offset(text: str, before: str) -> int:
    """The continuation of these lines, with a last word that may have been divided."""
    at = len(before) - (before.endswith("-") and not text.startswith(before))
    return at + (text[at : at + 1] == " ")


class _Levels:
    """The level of each heading: its bookmark's, else that of its size among all headings; 0 for no heading."""

    def __init__(self, parts: list[Part], outline: list[Bookmark]) -> None:
        self._marked = {_plain(mark.title): mark.level for mark in outline}
        sizes: dict[tuple[float, bool], Counter[int]] = {}
        for part in parts:
            if part.kind == "heading":
                marked = self._marked.get(_plain(" ".join(part.texts)), 0)
                sizes.setdefault(part.style, Counter()).update([marked] if marked else [])
        self._levels: dict[tuple[float, bool], int] = {}
        level = 0
        for style in sorted(sizes, reverse=True):
            level = max(level, sizes[style].most_common(1)[0][0]) if sizes[style] else level + 1
            self._levels[style] = min(level, 6)

    def __call__(self, part: Part, text: str) -> int:
        if part.kind not in ("heading", "prose") or len(text) > LONGEST_HEADING or part.note:
            return 0
        if marked := self._marked.get(_plain(text)):
            return marked
        if part.kind == "heading":
            return self._levels[part.style]
        named = chapters(text) if len(part.texts) == 1 else ()
        return named[0].level if len(named) == 1 and named[0].kind == "heading" else 0


def _plain(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_PLAIN = str.maketrans(_DIGITS, "0123456789")
_RAISED_FIRST, _FIRST = re.compile(rf"([{_DIGITS}]+)(?=\s?\S)"), re.compile(r"(\d{1,3})(?=\s)")
#: The end of a sentence bears no exponent; nor does a word of three letters or more, in contrast to m² and x³.
_AFTER_END = re.compile(rf"(?<=[.,;:!?…。，！？；：”»’]) ?[{_DIGITS}]+")
_AFTER_WORD = re.compile(rf"(?<=[^\W\d_]{{3}})[{_DIGITS}]+|(?<=[^\W\d_a-zA-Z])[{_DIGITS}]+|(?<=\))[{_DIGITS}]+")


def mark_notes(parts: Iterable[Part]) -> None:
    """A raised number after a word is a mark only where a note with that number is found."""
    parts = [part for part in parts if part.texts and part.kind != "code"]
    noted: set[str] = set()
    for part in parts:
        first = _RAISED_FIRST.match(part.texts[0]) or (_FIRST.match(part.texts[0]) if part.note else None)
        if first:
            noted.add(_marked(first[0]))
            part.texts[0] = _marked(first[0]) + " " + part.texts[0][first.end() :].lstrip()
    for part in parts:
        part.texts = [_AFTER_END.sub(lambda found: _marked(found[0]), text) for text in part.texts]
        part.texts = [
            _AFTER_WORD.sub(lambda found: _marked(found[0]) if _marked(found[0]) in noted else found[0], text)
            for text in part.texts
        ]


def _marked(number: str) -> str:
    return f"[{number.strip().translate(_PLAIN)}]"


_SOFT = "\u00ad"
_HYPHENS = ("-", _SOFT, "\u2010")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST, _FIRST_WORD = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]$"), re.compile(r"[^\W\d_]+")
_HAN_END = re.compile(f"[{WIDE}\uff00-\uffef]$")
_HAN_START = re.compile(f"^[{WIDE}\uff00-\uffef]")
#: Parts of a compound that are words themselves have as many letters; shorter ones are syllables as often.
_LEAST = 3


def words_of(lines: Iterable[str]) -> frozenset[str]:
    """The words of a document's lines, in small letters, without those that the end of a line may have divided."""
    tokens: set[str] = set()
    divided = False
    for line in lines:
        result = line.lower().split()
        after, divided = divided, line.endswith(_HYPHENS) and _LAST.search(line) is not None
        tokens.update(result[1 if after else 0 : -1 if divided else None])
    return frozenset(_WORD.findall(" ".join(tokens)))


def joined(lines: Iterable[str], words: frozenset[str]) -> str:
    """One paragraph. A compound keeps its hyphen where the document's own words show that it is one."""
    text = ""
    for line in map(str.strip, lines):
        text = _add(text, line, words) if text else line
    return text.replace(_SOFT, "-")


def _add(text: str, line: str, words: frozenset[str]) -> str:
    last = _LAST.search(text) if text.endswith(_HYPHENS) else None
    first = _FIRST_WORD.match(line)
    if last is None or first is None:
        if text.endswith((_SOFT, "-", "/")) and not text.endswith((" -", " /")):
            return text.rstrip(_SOFT) + line
        return text + ("" if _HAN_END.search(text) and _HAN_START.match(line) else " ") + line
    one, two = last[1].lower(), first[0].lower()
    divided = text.endswith(_SOFT) or first[0][0].islower() or (last[1].isupper() and first[0].isupper())
    if divided and not _is_compound(one, two, words):
        return text[:-1] + line
    return text.replace(_SOFT, "-") + line if text.endswith(_SOFT) else text + line


def _is_compound(one: str, two: str, words: frozenset[str]) -> bool:
    if one + two in words:
        return False
    if f"{one}-{two}" in words:
        return True
    return len(one) >= _LEAST and len(two) >= _LEAST and one in words and two in words
