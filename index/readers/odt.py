"""OpenDocument text (ODT) by lxml: its content as HTML, with the meaning of its styles."""

import io
import zipfile

from lxml import etree
from lxml.html import HtmlElement, builder

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.html import primary_language
from index.readers.html_inline import squeezed
from index.readers.html_walk import Walk
from index.readers.packages import open_document_metadata, opened
from index.readers.xml import LINES, Converted, attribute, converted, name_of, parsed

_MEANS = {
    "list-item": "li", "list-header": "li", "table": "table", "table-header-rows": "thead", "table-row": "tr",
    "table-cell": "td", "line-break": "br", "span": "span", "a": "span", "desc": "span",
}  # fmt: skip
_LEFT_OUT = frozenset(
    ("tracked-changes", "annotation", "table-of-content", "alphabetical-index", "covered-table-cell", "forms", "object",
     "object-ole", "binary-data", "title", "automatic-styles", "styles", "master-styles", "font-face-decls", "settings",
     "scripts", "meta")
)  # fmt: skip
#: By HTML element, how the styles begin that mean it, in the names that every translation of the program writes.
_STYLES = {"h1": ("Title",), "pre": ("Preformatted", "Source_20_Code"), "blockquote": ("Quot", "Block_20_Quot"),
           "code": ("Source_",), "sup": ("super",), "sub": ("sub",)}  # fmt: skip


def read_odt(source: Source) -> Document:
    """Raises Unreadable."""
    if source.suffix == ".fodt":
        roots = [parsed(source.data, "ODT")]
    else:
        with opened(source.data, "ODT"), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            if b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise Unreadable("protected by a password; save it again without one")
            names = [name for name in ("content.xml", "styles.xml", "meta.xml") if name in archive.namelist()]
            roots = [parsed(archive.read(name), "ODT") for name in ("content.xml", *names[1:])]
    building = TextBuilder()
    styles = _Styles(roots)
    body = converted(roots[0], styles.convert)
    body.extend(builder.P(f"[{number}] {note}") for number, note in enumerate(styles.notes, 1))
    _join_code(body)
    Walk(building, everything=True).walk(body)
    if not building:
        raise Unreadable("the document has no text", failed=False)
    meta = next((index for root in roots if (index := root.find("{*}meta")) is not None), etree.Element("meta"))
    title, tag, metadata = open_document_metadata(meta)
    return building.finish(source.source_id, title or source.title, language=primary_language(tag), metadata=metadata)


class _Styles:
    """Converts elements of the content by the styles of the file; collects their notes."""

    def __init__(self, roots: list[etree._Element]) -> None:
        self._parents: dict[str, str] = {}
        self._numbered: set[tuple[str, int]] = set()
        self.notes: list[str] = []
        for root in roots:
            for style in root.iter("{*}style"):
                name = attribute(style, "name")
                position = next((attribute(one, "text-position") for one in style), "").split(" ")[0]
                self._parents[name] = (
                    position if position in ("super", "sub") else attribute(style, "parent-style-name")
                )
            for level in root.iter("{*}list-level-style-number"):
                if attribute(level, "num-format"):
                    self._numbered.add((attribute(level.getparent(), "name"), int(attribute(level, "level") or 1)))

    def convert(self, element: etree._Element, above: HtmlElement) -> Converted | None:
        name = name_of(element)
        result = Converted(_MEANS.get(name, "span" if above.tag in LINES else "div"))
        if name in _LEFT_OUT:
            return None
        if name == "h":
            result = Converted(f"h{min(max(_number(element, 'outline-level'), 1), 6)}")
        elif name == "list":
            result = Converted("ol" if self._is_numbered(element) else "ul")
        elif name == "note":
            texts = ("".join(one.itertext()) for one in element.iter("{*}note-body"))
            self.notes.append(squeezed(" ".join(texts)).strip())
            result = Converted("span", built=builder.SPAN(f"[{len(self.notes)}]"))
        elif name in ("s", "tab"):
            result = Converted("span", text="\t" if name == "tab" else " " * min(_number(element, "c"), 200))
        elif name == "table-cell":
            spans = {"colspan": "number-columns-spanned", "rowspan": "number-rows-spanned"}
            result = Converted("td", {html: attribute(element, odt) or "1" for html, odt in spans.items()})
        elif name in ("p", "span"):
            result = Converted(self._by_style(attribute(element, "style-name"), name))
        return result

    def _by_style(self, style: str, otherwise: str) -> str:
        """The tag of the nearest of a style and its parents that has one."""
        for _ in range(20):  # styles may lead in a circle
            for tag, names in _STYLES.items():
                if style.startswith(names) and (tag in ("code", "sup", "sub")) == (otherwise == "span"):
                    return tag
            style = self._parents.get(style, "")
        return otherwise

    def _is_numbered(self, element: etree._Element) -> bool:
        lists = [element, *(one for one in element.iterancestors() if name_of(one) == "list")]
        style = next(filter(None, (attribute(one, "style-name") for one in lists)), "")
        return (style, len(lists)) in self._numbered


def _join_code(body: HtmlElement) -> None:
    """Join the lines of code, each a paragraph, into one block."""
    for line in list(body.iter("pre")):
        before = line.getprevious()
        if before is not None and before.tag == "pre" and not (before.tail or "").strip():
            before.tail = None
            before.append(builder.SPAN("\n"))
            before.append(line)
            before.tail, line.tail = line.tail, None
            line.tag = "span"


def _number(element: etree._Element, name: str) -> int:
    number = attribute(element, name)
    return int(number) if number.isdecimal() and len(number) < 6 else 1


FORMATS = (
    Format(
        "OpenDocument text",
        (".odt", ".ott", ".fodt"),
        read_odt,
        "lxml",
        "headings, lists, tables with merged cells, code and quotations by their styles, notes; "
        "title, author, date, keywords",
        "headers and footers, comments, deleted text of tracked changes, formulas, tables of contents",
    ),
)
