"""Walk an HTML tree once and build its blocks: the seam for every format that is HTML or is converted to it."""

import re
from dataclasses import dataclass, field

from lxml import etree
from lxml.html import HtmlElement

from index.model import BlockKind
from index.readers import html_inline as inline
from index.readers import html_tables as tables
from index.readers.formats import TextBuilder
from index.readers.html_shown import beside, template, unseen

BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
     "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
     "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "plaintext",
     "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp")
)  # fmt: skip
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CODE = frozenset(("pre", "listing", "xmp", "plaintext"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
#: Tables inside the cells of tables, beyond which a table is read as if it only arranged the page.
_DEEPEST_TABLE = 20


@dataclass(eq=False)
class _Part:
    """An open element that gives the text inside it its kind. `prefix` begins its first block: a marker or a term; `stretch`
    is where that block stands.
    """

    kind: BlockKind | None
    level: int = 0
    prefix: str = ""
    anchor: str = ""
    syntax: str = ""
    begun: bool = False
    terms: list[str] = field(default_factory=list)
    stretch: tuple[int, int] | None = None


class Walk:
    """One pass without recursion: pages nest deeper than Python's stack. `everything`: menus and the like are read too."""

    def __init__(self, builder: TextBuilder, *, everything: bool = False, tables_above: int = 0) -> None:
        self._builder = builder
        self._everything = everything
        self._tables_above = tables_above
        self._text: list[str] = []
        self._after: dict[HtmlElement, str] = {}  # what follows the text of an open inline element
        self._aids: list[list[str]] = []  # of each open `ruby`, what helps to read it
        self._aid_at: int | None = None
        self._lists: list[inline.Counter] = []
        self._parts: dict[HtmlElement, _Part] = {}  # the open ones, the innermost last
        self._code = 0  # how many of them are code
        self._terms: dict[HtmlElement, _Part] = {}  # by open `dl`, the terms that wait for their description
        self._held: tuple[_Part, list[str]] | None = None  # the item or definition that may go on

    def walk(self, root: HtmlElement) -> None:
        events = etree.iterwalk(root, events=("start", "end"))
        for event, element in events:
            if event == "end":
                self._end(element)
                if element is not root:
                    self._say(element.tail)
            elif self._start(element):
                self._say(element.text)
            else:
                events.skip_subtree()
        self._flush()
        self._release()

    def _say(self, text: str | None) -> None:
        if text:
            self._text.append(text if self._in_code() else inline.squeezed(text))

    def _in_code(self) -> bool:
        return self._code > 0

    # ---------------------------------------------------------------- elements

    def _start(self, element: HtmlElement) -> bool:
        """Open an element; False when its content is skipped, or has been read."""
        tag = element.tag
        if tag == "script" and (root := template(element)) is not None:
            self._flush()
            self.walk(root)
            return False
        if tag == "input" and element.get("type") == "checkbox" and self._lists:
            self._text.append("[x] " if element.get("checked") is not None else "[ ] ")
        if unseen(element) or (not self._everything and beside(element)):
            return False
        if tag not in BLOCKS:
            return self._start_inline(element)
        if self._in_code() and tag not in _CODE:
            self._break_line()
            return True
        self._flush()
        if tag in _HEADINGS or element.get("role") == "heading":
            self._parts[element] = _Part("heading", inline.level(element), anchor=inline.anchor(element))
        elif tag in _LISTS:
            self._lists.append(inline.Counter(element))
        elif tag == "li":
            self._item(element)
        elif tag == "blockquote":
            self._parts[element] = _Part("quotation")
        elif tag in _CODE:
            self._parts[element] = _Part("code", syntax=inline.syntax(element))
            self._code += 1
        elif tag == "table":
            return self._table(element)
        elif tag in ("dl", "dt", "dd"):
            self._definitions(element)
        return True

    def _item(self, element: HtmlElement) -> None:
        marker = self._lists[-1].marker(element) if self._lists else "- "
        around = sum(part.kind == "list_item" for part in self._parts.values())
        if inline.is_in_notes(element):
            self._parts[element] = _Part("prose", prefix=f"[{marker.rstrip('. ')}] ")
        else:
            self._parts[element] = _Part("list_item", max(len(self._lists), around + 1), marker)

    def _start_inline(self, element: HtmlElement) -> bool:
        tag = element.tag
        if tag == "br":
            self._text.append("\n")
        elif tag == "img":
            self._text.append(inline.squeezed(inline.alt(element)))
        elif tag == "math":
            self._text.append(inline.formula(element))
            return False
        elif tag == "a" and inline.leads_here(element):
            return False
        elif tag == "ruby":
            self._aids.append([])
        elif tag in ("rt", "rtc") and self._aids:
            self._aid_at = len(self._text)
        elif not self._in_code():
            before, after = inline.around(element, self._text, BLOCKS)
            self._text.append(before)
            self._after[element] = after
        return True

    def _end(self, element: HtmlElement) -> None:
        tag = element.tag
        if tag not in BLOCKS:
            self._text.append(self._after.pop(element, ""))
            if tag in ("rt", "rtc") and self._aid_at is not None:
                self._aids[-1] += self._text[self._aid_at :]
                del self._text[self._aid_at :]
                self._aid_at = None
            elif tag == "ruby" and (aids := "".join(self._aids.pop()).strip()):
                self._text.append(f"({aids})")
            return
        if self._in_code() and tag not in _CODE:
            self._break_line()
            return
        self._flush()
        part = self._parts.pop(element, None)
        self._code -= part is not None and part.kind == "code"
        if part is not None and self._held and self._held[0] is part and tag == "li":
            self._release()
        elif tag in _LISTS and self._lists and self._lists[-1].list is element:
            self._lists.pop()
        elif tag == "dl":
            self._close_terms(self._terms.pop(element))

    def _break_line(self) -> None:
        """Inside code a block begins a line."""
        if self._text and not self._text[-1].endswith("\n"):
            self._text.append("\n")

    def _definitions(self, element: HtmlElement) -> None:
        if element.tag == "dl":
            self._terms[element] = _Part("definition")
            return
        owner = next(element.iterancestors("dl"), None)
        waiting = self._terms.get(owner)
        if waiting is None:  # outside any list of definitions
            return
        if element.tag == "dt":
            if waiting.prefix:
                self._close_terms(waiting)
                waiting = self._terms[owner] = _Part("definition")
            waiting.anchor = waiting.anchor or element.get("id", "")
            self._parts[element] = _Part(None, terms=waiting.terms)
        elif waiting.terms:
            for part in self._parts.values():
                if part.kind is None and part.terms is waiting.terms:  # its own term is still open
                    part.kind = "prose"
            waiting.prefix = f"{', '.join(waiting.terms)}: "
            self._parts[element] = waiting

    def _close_terms(self, part: _Part) -> None:
        if self._held and self._held[0] is part:
            self._release()
        elif part.terms and not part.begun:
            self._add(", ".join(part.terms), "definition", 0, part.anchor)

    def _table(self, table: HtmlElement) -> bool:
        """Read a table; False, or True when its cells are to be read as what they hold."""
        result = tables.rows(table)
        if self._tables_above >= _DEEPEST_TABLE or tables.arranges_the_page(table, result):
            return True
        for text in tables.outside_cells(table):
            self._add(inline.squeezed(text), "prose")
        for caption in table.iterchildren("caption"):
            self._add(self._read(caption)[0], "prose")
        inside = self._tables_above > 0
        for part in tables.piece_in_a_cell(result, self._read) if inside else tables.pieces(result, self._read):
            self._add(*part)
        return False

    def _read(self, cell: HtmlElement) -> tuple[str, list[tables.CellPart]]:
        """A cell's text, and the code in it."""
        if not len(cell):
            return inline.squeezed(cell.text or ""), []
        builder = TextBuilder()
        Walk(builder, everything=self._everything, tables_above=self._tables_above + 1).walk(cell)
        inner = builder.finish("", "")
        parts = [
            tables.CellPart(inner.text[block.start : block.end], block.kind, block.level, block.anchor, block.syntax)
            for block in inner.blocks
        ]
        apart = [part for part in parts if part.kind == "code"]
        return " ".join(part.text for part in parts if part not in apart), apart

    # ---------------------------------------------------------------- blocks

    def _flush(self) -> None:
        text, self._text = "".join(self._text), []
        if not text.strip():
            return
        part = next(reversed(self._parts.values()), None)
        if part is not None and part.kind == "code":
            self._add(text, "code", syntax=part.syntax)
            return
        for paragraph in re.split(r"\n\s*\n", text):
            lines = [" ".join(line.split()) for line in paragraph.split("\n")]
            self._paragraph("\n".join(filter(None, lines)), part)

    def _paragraph(self, text: str, part: _Part | None) -> None:
        if not text:
            return
        if part is None:
            self._add(text, "prose")
        elif part.kind is None:
            part.terms.append(text)
        elif part.kind == "heading":
            self._add(" ".join(text.split()), "heading", part.level, part.anchor)
        elif part.kind == "quotation":
            self._add(text, "quotation")
        elif self._held and self._held[0] is part:
            self._held[1].append(text)
        elif part.begun:
            self._make_way()
            self._builder.add(text, intro=part.stretch if part.kind == "list_item" else None)
        else:
            part.begun = True
            self._make_way()
            self._held = (part, [part.prefix + text])

    def _add(self, text: str, kind: BlockKind, level: int = 0, anchor: str = "", syntax: str = "") -> None:
        self._make_way()
        self._builder.add(text, kind, level, anchor=anchor, syntax=syntax)

    def _make_way(self) -> None:
        """Before another block: add what is held back, and the terms whose description has no text of its own before that block."""
        self._release()
        for part in self._parts.values():
            if part.kind == "definition" and not part.begun:
                part.begun = True
                self._builder.add(part.prefix, "definition", anchor=part.anchor)

    def _release(self) -> None:
        if self._held:
            (part, lines), self._held = self._held, None
            part.stretch = self._builder.add("\n".join(lines), part.kind or "prose", part.level, anchor=part.anchor)
