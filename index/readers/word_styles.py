"""What a paragraph of WordprocessingML is, by its style, its outline level and its numbering."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from index.languages import every
from index.model import BlockKind
from index.readers.formats import roman
from index.readers.word_text import CODE_STYLE, W, is_monospaced, value

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NAMES = "|".join(every(lambda language: language.headings.style.split()))
_HEADING = re.compile(rf"(?:{_NAMES}) ?(\d)\b", re.IGNORECASE)
_QUOTE = re.compile(r"quot|block text", re.IGNORECASE)
_CONTENTS = re.compile(r"toc \d|toc heading", re.IGNORECASE)
_LIST_STYLE = re.compile(r"list (?:bullet|number) (\d)", re.IGNORECASE)
_PLACE = re.compile(r"%(\d)")
_BODY_TEXT = 9  # the outline level of other text


class Role(NamedTuple):
    """A paragraph's kind. `marker`: what numbering writes before it, "- " for a bullet, None without numbering.

    `continues`: a further paragraph of a list item. `term`: it is defined by the next paragraph. `caption`: it introduces a
    table that follows.
    """

    kind: BlockKind | None  # None: the table of contents
    level: int = 0
    marker: str | None = None
    continues: bool = False
    term: bool = False
    caption: bool = False


class _Level(NamedTuple):
    form: str
    text: str
    start: int


class Styles:
    """The styles and numberings of one document. Asked for each paragraph in turn, it counts the items of ordered lists."""

    def __init__(self, styles: "Element", numbering: "Element | None") -> None:
        self._styles = {style.get(W + "styleId", ""): style for style in styles.findall(W + "style")}
        self._default = next(
            (
                name
                for name, style in self._styles.items()
                if style.get(W + "type") == "paragraph" and style.get(W + "default") in ("1", "true")
            ),
            "",
        )
        self._abstract: dict[str, Element] = {}
        self._numbers: dict[str, Element] = {}
        if numbering is not None:
            self._abstract = {one.get(W + "abstractNumId", ""): one for one in numbering.findall(W + "abstractNum")}
            self._numbers = {one.get(W + "numId", ""): one for one in numbering.findall(W + "num")}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def name(self, identifier: str) -> str:
        style = self._styles.get(identifier)
        return value(style.find(W + "name")) if style is not None else ""

    def role(self, paragraph: "Element") -> Role:
        properties = paragraph.find(W + "pPr")
        chain = list(self._chain(properties))
        names = [value(style.find(W + "name")) for style in chain]
        marker, depth, continues = self._marker(properties, chain)
        heading = next((result for result in map(_HEADING.match, names) if result), None)
        outline = _outline(properties, chain)
        own = names[0].lower() if names else ""
        role = Role("prose", caption="caption" in own)
        if any(map(_CONTENTS.match, names)):
            role = Role(None)
        elif heading or outline is not None or own == "title":
            level = int(next(filter(None, heading.groups()))) if heading else (outline or 0) + 1
            role = Role("heading", level, marker)
        elif any(map(CODE_STYLE.search, names)) or any(map(is_monospaced, _run_properties(chain))):
            role = Role("code")
        elif marker is not None or continues:
            deeper = next(filter(None, map(_LIST_STYLE.match, names)), None)
            depth = int(deeper[1]) if deeper and depth == 1 else depth
            role = Role("list_item", depth, marker, continues)
        elif any(map(_QUOTE.search, names)):
            role = Role("quotation")
        elif own in ("definition term", "definition"):
            role = Role("definition", term=own.endswith("term"))
        return role

    def _chain(self, properties: "Element | None") -> Iterator["Element"]:
        """A paragraph's style, its parent style, and so on."""
        identifier = value(properties.find(W + "pStyle")) if properties is not None else ""
        identifier = identifier if identifier in self._styles else self._default
        seen: set[str] = set()
        while identifier in self._styles and identifier not in seen:
            seen.add(identifier)
            style = self._styles[identifier]
            yield style
            identifier = value(style.find(W + "basedOn"))

    def _marker(self, properties: "Element | None", chain: list["Element"]) -> tuple[str | None, int, bool]:
        """The marker before the paragraph, its depth, and whether it goes on with the item before. Counts it."""
        index = None if properties is None else properties.find(W + "numPr")
        number, depth = "", ""
        for one in (index, *(style.find(f"{W}pPr/{W}numPr") for style in chain)):
            if one is not None:
                number = number or value(one.find(W + "numId"))
                depth = depth or value(one.find(W + "ilvl"))
        abstract = self._resolve(number)
        if abstract is None:
            return None, 0, False
        at = int(depth) if depth.isdigit() else self._linked_level(abstract, chain)
        level = self._level(number, abstract, at)
        if level is None or (level.form == "none" and not level.text):
            return None, 0, False
        if level.form == "bullet":
            return ("- ", at + 1, False) if level.text.strip() else (None, at + 1, True)
        counts = self._counts.setdefault(abstract.get(W + "abstractNumId", ""), {})
        self._begin(number, counts)
        for deeper in [one for one in counts if one > at]:
            del counts[deeper]
        counts[at] = counts.get(at, level.start - 1) + 1

        def counted(place: re.Match[str]) -> str:
            above = int(place[1]) - 1
            of = self._level(number, abstract, above) or level
            return _written(counts.setdefault(above, of.start), of.form)

        return f"{_PLACE.sub(counted, level.text).strip()} ".lstrip(), at + 1, False

    def _begin(self, number: str, counts: dict[int, int]) -> None:
        """A list that begins again gives its first number."""
        if number in self._begun:
            return
        self._begun.add(number)
        for override in self._numbers[number].findall(W + "lvlOverride"):
            start = value(override.find(W + "startOverride"))
            if start.isdigit():
                counts[int(override.get(W + "ilvl", "0"))] = int(start) - 1

    def _resolve(self, number: str) -> "Element | None":
        """The definition behind a numbering, through the style that it may be borrowed from."""
        for _ in range(4):
            if number not in self._numbers:
                return None
            abstract = self._abstract.get(value(self._numbers[number].find(W + "abstractNumId")))
            linked = "" if abstract is None else value(abstract.find(W + "numStyleLink"))
            if not linked:
                return abstract
            style = self._styles.get(linked)
            number = "" if style is None else value(style.find(f"{W}pPr/{W}numPr/{W}numId"))
        return None

    def _linked_level(self, abstract: "Element", chain: list["Element"]) -> int:
        names = {style.get(W + "styleId") for style in chain}
        linked = (one for one in abstract.findall(W + "lvl") if value(one.find(W + "pStyle")) in names)
        return int(next((one.get(W + "ilvl", "0") for one in linked), "0"))

    def _level(self, number: str, abstract: "Element", at: int) -> _Level | None:
        own = [one.find(W + "lvl") for one in self._numbers[number].findall(W + "lvlOverride")]
        for one in (*(level for level in own if level is not None), *abstract.findall(W + "lvl")):
            if one.get(W + "ilvl") == str(at):
                start = value(one.find(W + "start"))
                form = value(one.find(W + "numFmt")) or "decimal"
                return _Level(form, value(one.find(W + "lvlText")), int(start) if start.isdigit() else 1)
        return None


def _outline(properties: "Element | None", chain: list["Element"]) -> int | None:
    """The outline level, from 0; None for body text."""
    for one in (properties, *(style.find(W + "pPr") for style in chain)):
        level = "" if one is None else value(one.find(W + "outlineLvl"))
        if level.isdigit():
            return int(level) if int(level) < _BODY_TEXT else None
    return None


def _run_properties(chain: list["Element"]) -> Iterator["Element"]:
    for style in chain:
        properties = style.find(W + "rPr")
        if properties is not None:
            yield properties


def _written(number: int, form: str) -> str:
    """A number in one of the forms of lists; in digits where the form is not one of these."""
    if form in ("lowerRoman", "upperRoman"):
        return roman(number) if form == "lowerRoman" else roman(number).upper()
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form.startswith("decimalEnclosedCircle") and 0 < number <= 20:
        return chr(0x245F + number)
    return f"{number:02}" if form == "decimalZero" else str(number)
