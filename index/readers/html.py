"""HTML by lxml: what a reader of the page sees, without scripts, menus and footers."""

import re
from urllib.parse import urlsplit

from lxml import etree
from lxml import html as lxml_html

from index.model import BlockKind, Document
from index.readers.building import TextBuilder, row
from index.readers.formats import Format, Source
from index.readers.unreadable import Unreadable

_SKIPPED = frozenset(
    ("script", "style", "noscript", "template", "nav", "footer", "svg", "math", "iframe", "object", "form", "button",
     "select", "head")
)  # fmt: skip
_LISTS = frozenset(("ul", "ol", "dl"))
_BREAKS = frozenset(
    ("p", "div", "section", "article", "main", "header", "aside", "blockquote", "pre", "li", "dt", "dd", "tr", "table",
     "ul", "ol", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "br", "hr", "figure", "figcaption", "address", "details",
     "summary", "body", "html")
)  # fmt: skip
_HEADING = re.compile(r"h([1-6])")


def read_html(source: Source) -> Document:
    """Raises Unreadable for a page without text."""
    try:
        root = lxml_html.document_fromstring(source.data, parser=lxml_html.HTMLParser(huge_tree=True))
    except (etree.LxmlError, ValueError) as error:
        raise Unreadable(f"no readable HTML ({error})") from error
    found = root.findtext(".//title")
    link = root.find(".//link[@rel='canonical']")
    url = link.get("href", "") if link is not None else ""
    builder = TextBuilder()
    _Walk(builder).walk(root)
    if not builder:
        raise Unreadable("the page has no text", failed=False)
    return builder.finish(
        source.source_id, " ".join((found or "").split()) or source.title, url if urlsplit(url).scheme else ""
    )


def read_fragment(builder: TextBuilder, html: str) -> None:
    """Add the blocks of a piece of HTML, as it stands inside another format; a piece without visible text adds nothing."""
    try:
        root = lxml_html.document_fromstring(f"<div>{html}</div>", parser=lxml_html.HTMLParser(huge_tree=True))
    except (etree.LxmlError, ValueError):
        return
    _Walk(builder).walk(root)


class _Walk:
    """One pass over the tree without recursion: pages nest deeper than Python's stack."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._text: list[str] = []
        self._skipping = 0
        self._collecting: str | None = None  # the outermost open list or table
        self._depth = 0
        self._rows: list[str] = []
        self._cells: list[str] = []

    def walk(self, root: lxml_html.HtmlElement) -> None:
        for event, element in etree.iterwalk(root, events=("start", "end")):
            if not isinstance(element.tag, str):  # a comment or a processing instruction
                if event == "end" and not self._skipping:
                    self._text.append(element.tail or "")
                continue
            tag = element.tag.lower()
            if event == "start":
                self._start(tag)
                if not self._skipping:
                    self._text.append(element.text or "")
            else:
                self._end(tag)
                if not self._skipping:
                    self._text.append(element.tail or "")
        self._flush("prose")

    def _start(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipping += 1
        if self._skipping:
            return
        if self._collecting is None and tag in _BREAKS:
            self._flush("prose")
        if tag == "table" or tag in _LISTS:
            if self._collecting is None:
                self._collecting = "table" if tag == "table" else "list"
            elif self._collecting == "list":
                self._line()
            self._depth += 1
        elif self._collecting == "list" and tag in ("li", "dt", "dd", "p", "div"):
            self._line()
        elif self._collecting and tag in _BREAKS:
            self._text.append(" ")
        elif tag == "br":
            self._text.append("\n")

    def _end(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipping -= 1
            return
        if self._skipping:
            return
        if self._collecting == "table":
            self._end_in_table(tag)
        elif self._collecting == "list":
            if tag in _LISTS or tag == "table":
                self._line()
                self._close("list_item")
        elif heading := _HEADING.fullmatch(tag):
            self._flush("heading", int(heading[1]))
        elif tag in _BREAKS:
            self._flush("code" if tag == "pre" else "prose")

    def _end_in_table(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cells.append(self._taken())
        elif tag == "tr":
            self._rows.append(row(self._cells))
            self._cells = []
        elif tag == "table" or tag in _LISTS:
            self._close("table_row")

    def _close(self, kind: BlockKind) -> None:
        self._depth -= 1
        if self._depth == 0:
            for line in self._rows:
                self._builder.add(line, kind)
            self._rows, self._collecting = [], None
            self._text = []

    def _line(self) -> None:
        text = self._taken()
        if text:
            self._rows.append(f"- {text}")

    def _taken(self) -> str:
        text = " ".join("".join(self._text).split())
        self._text = []
        return text

    def _flush(self, kind: BlockKind, level: int = 0) -> None:
        text = "".join(self._text)
        self._text = []
        self._builder.add(text if kind == "code" else " ".join(text.split()), kind, level)


FORMATS = (Format("HTML", (".html", ".htm", ".xhtml"), read_html, "lxml", "headings, lists, tables, code"),)
