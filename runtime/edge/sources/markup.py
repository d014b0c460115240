"""A stretch of a document as HTML, block by block: headings, lists, tables and code as such, citations marked.

Elements are built, never written as markup: a document's text can only become text.

A page of a PDF is its picture with the cited words marked over it, and its text below for a screen reader. The marks are shapes in
the picture's own points, so they stay where they belong at any width and need neither script nor style.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from groundwire.wire import Block

from bus.powers.sources import WIDEST, WIDTH, NotServed, PageAsked, PageView, SourceText, TextAsked, ask_sources
from index.languages import LANGUAGES
from index.languages.characters import visible
from index.languages.tables.texts import SourcePage
from index.text.sentences import CELLS
from runtime.edge.sources.data import Addresses
from runtime.edge.state import Edge

#: The target of a link to the cited text.
CITED = "cited"
_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")
_BULLET = re.compile(r"[-*+\u2022]\s+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


def put(parent: Element, text: str) -> Element:
    text = _CONTROL.sub("", visible(text))
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
    return parent


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """A new last child; an attribute `class_` is `class`, `aria_label` is `aria-label`."""
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return put(SubElement(parent, tag, names), text)


def add_links(parent: Element, links: Mapping[str, str], *, label: str) -> None:
    """Add a bar of links, words to address; none for those without an address, no bar without a link."""
    if any(links.values()):
        bar = add(parent, "nav", aria_label=label)
        for words, address in links.items():
            if address:
                add(bar, "a", words, href=address)


def article_of(text: SourceText) -> Element:
    """An element for the text, in the document's language if it is supported."""
    return Element("article", {"lang": text.language} if text.language in LANGUAGES else {})


@dataclass(slots=True)
class MarkedBlocks:
    """Adds blocks of `text` to an element; marks the characters `marked` of the document, the first mark as the target of links.

    `table`: the word for a table. `focus`: whether the reader begins at the first mark. `depth`: of the heading above.
    """

    text: SourceText
    marked: tuple[int, int]
    table: str
    focus: bool = True
    depth: int = 1
    is_marked: bool = False

    def add_to(self, parent: Element, start: int, end: int) -> None:
        """Add the text from `start` to `end`, offsets of the document."""
        for group, blocks in groupby(_blocks(self.text, start, end), key=_group):
            match group:
                case "table":
                    self._add_table(parent, list(blocks))
                case "list":
                    items = add(parent, "ul")
                    for block in blocks:
                        self._add_item(items, block)
                case _:
                    for block in blocks:
                        self._add_block(parent, block)

    def _add_block(self, parent: Element, block: Block) -> None:
        match block.kind:
            case "heading" if block.start == 0 and self._slice(block.start, block.end) == self.text.title:
                pass  # the page has it already
            case "heading":
                self.depth = min(max(block.level, 1) + 1, self.depth + 1, 6)
                self._put(add(parent, f"h{self.depth}", dir="auto"), block.start, block.end)
            case "code":
                self._put(add(add(parent, "pre", dir="ltr"), "code"), block.start, block.end)
            case "quotation":
                self._put(add(add(parent, "blockquote", dir="auto"), "p"), block.start, block.end)
            case _:
                self._put(add(parent, "p", dir="auto"), block.start, block.end)

    def _add_item(self, items: Element, block: Block) -> None:
        bullet = _BULLET.match(self._slice(block.start, block.end))
        level = f"level{min(max(block.level, 1), 6)}"
        item = add(items, "li", class_=level if bullet else f"{level} plain", dir="auto")
        self._put(item, block.start + (bullet.end() if bullet else 0), block.end)

    def _add_table(self, parent: Element, blocks: list[Block]) -> None:
        """Rows name their columns themselves; below a displayed header they need not."""
        box = add(parent, "div", class_="wide", role="region", aria_label=self.table, tabindex="0", dir="auto")
        table = add(box, "table")
        columns: list[str] = []
        for block in blocks:
            cells = list(self._cells(block))
            row = add(table, "tr")
            if block.kind == "table_header":
                columns = [self._slice(start, end) for start, end in cells]
                for start, end in cells:
                    self._put(add(row, "th", scope="col"), start, end)
                continue
            placed = self._placed(cells, columns)
            if placed is None:
                self._put(add(row, "td", colspan=str(max(1, len(columns)))), block.start, block.end)
                continue
            for start, end in placed:
                self._put(add(row, "td"), start, end)

    def _cells(self, block: Block) -> Iterator[tuple[int, int]]:
        at = block.start
        for cell in self._slice(block.start, block.end).split(CELLS):
            yield at, at + len(cell)
            at += len(cell) + len(CELLS)

    def _placed(self, cells: Sequence[tuple[int, int]], columns: Sequence[str]) -> list[tuple[int, int]] | None:
        """Each column's cell, without the column's name; None for a row that does not name them in their order."""
        placed: list[tuple[int, int]] = []
        waiting = iter(cells)
        cell = next(waiting, None)
        for column in columns:
            name = f"{column}: "
            if cell is not None and column and self._slice(*cell).startswith(name):
                placed.append((cell[0] + len(name), cell[1]))
                cell = next(waiting, None)
            else:
                placed.append((0, 0))
        return placed if cell is None and columns else None if columns else list(cells)

    def _slice(self, start: int, end: int) -> str:
        return self.text.text[start - self.text.start : end - self.text.start]

    def _put(self, box: Element, start: int, end: int) -> None:
        """Add these characters to an element, the cited characters in a mark."""
        begin, stop = max(start, self.marked[0]), min(end, self.marked[1])
        if begin >= stop or not self._slice(begin, stop).strip():
            put(box, self._slice(start, end))
            return
        put(box, self._slice(start, begin))
        first = not self.is_marked and self.focus
        here = {"id": CITED, "tabindex": "-1", "autofocus": ""} if first else {}
        put(SubElement(box, "mark", here), self._slice(begin, stop))
        self.is_marked = True
        put(box, self._slice(stop, end))


def _group(block: Block) -> str:
    if block.kind in ("table_header", "table_row"):
        return "table"
    return "list" if block.kind in ("list_item", "link") else ""


def _blocks(text: SourceText, start: int, end: int) -> Iterator[Block]:
    """The blocks of a stretch, cut at both ends; the paragraphs of a document that has none."""
    if text.blocks:
        for block in text.blocks:
            if block.start < end and block.end > start:
                yield Block(start=max(block.start, start), end=min(block.end, end), kind=block.kind, level=block.level)
        return
    for match in _PARAGRAPH.finditer(text.text, max(0, start - text.start), max(0, end - text.start)):
        yield Block(start=text.start + match.start(), end=text.start + match.end())


PDF = "application/pdf"
LARGEST_PAGE = 1_000_000
#: The longest that a page may take to be drawn, in seconds, with its wait for others.
DRAW_S = 30.0


async def add_page(
    main: Element, edge: Edge, asked: TextAsked, cited: tuple[int, int], to: Addresses, words: SourcePage
) -> None:
    """Add one page. Raises NoSuchSource, Unavailable."""
    client, number = edge.runs.client, asked.page or 1
    text = await ask_sources(client, asked, SourceText, timeout_s=edge.timeouts.search_s)
    view: PageView | None = None
    wanted = PageAsked(source_id=asked.source_id, page=number, start=cited[0], end=cited[1], groups=asked.groups)
    with contextlib.suppress(NotServed):
        view = await ask_sources(client, wanted, PageView, timeout_s=DRAW_S)
    pages = view.pages if view else text.pages or number
    main.set("class", "pages")
    places = {"start": cited[0], "end": cited[1]} if cited[1] else {}
    before = to.page(**places, page=number - 1) if number > 1 else ""
    after = to.page(**places, page=number + 1) if number < pages else ""
    here = words.page.format(page=number, pages=pages)
    add_links(main, {words.previous_page: before, words.next_page: after}, label=here)
    if view is None:
        add(main, "p", here, class_="facts")
        add(main, "p", words.no_picture, class_="note")
    else:
        _add_picture(main, view, number, here, to, words)
    is_cited = cited[0] < text.end and cited[1] > text.start
    if view is not None and is_cited and not view.marks:
        add(main, "p", words.not_marked, class_="note")
    add(main, "h2", words.page_text)
    body = article_of(text)
    MarkedBlocks(text, cited, words.columns, focus=view is None or not view.marks, depth=2).add_to(
        body, text.start, text.end
    )
    main.append(body)


def _add_picture(main: Element, view: PageView, number: int, here: str, to: Addresses, words: SourcePage) -> None:
    figure = add(main, "figure")
    size = f"0 0 {view.width:g} {view.height:g}"
    drawing = SubElement(
        figure, "svg", {"viewBox": size, "role": "img", "aria-label": words.picture.format(page=number)}
    )
    whole = {"width": f"{view.width:g}", "height": f"{view.height:g}"}
    SubElement(drawing, "image", {"href": to.picture(number, WIDTH), **whole})
    if view.marks:
        lit = SubElement(drawing, "g", {"id": CITED, "tabindex": "-1", "autofocus": ""})
        for left, top, right, bottom in view.marks:
            box = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            SubElement(lit, "rect", {name: f"{value:g}" for name, value in box.items()} | {"rx": "1"})
    caption = add(figure, "figcaption", f"{here} ")
    add(caption, "a", words.larger, href=to.picture(number, WIDEST))
