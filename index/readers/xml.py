"""XML by lxml: DocBook, DITA, JATS, TEI, FictionBook and OPML by their elements, any other XML by a rule.

The rule: an element with text of its own is a paragraph; one whose parts are all without parts, each of another name, is a
record and becomes a row; everything else only holds them together.
"""

from lxml import etree
from lxml.html import HtmlElement, builder

from index.model import Document, Metadata
from index.readers.building import TextBuilder
from index.readers.formats import Format, Source
from index.readers.html import read_html
from index.readers.html_inline import squeezed
from index.readers.html_metadata import iso_date, primary_language
from index.readers.html_walk import Walk
from index.readers.unreadable import Unreadable
from index.readers.xml_names import MAPS, NAMES, ROOTS, SECTIONS, TITLED
from index.readers.xml_tree import LINES, Told, add_notes, attribute, name_of, noted, parsed, told

_ORDERED = ("order", "number", "alpha", "roman")
_MOST_FIELDS = 40
_GIVEN, _FAMILY = ("given-names", "firstname", "first-name", "forename"), ("surname", "last-name")


def read_xml(source: Source) -> Document:
    """Raises Unreadable."""
    root = parsed(source.data, "XML")
    name = name_of(root)
    if name == "html":
        return read_html(source)
    if name in MAPS:
        raise Unreadable("a map, which lists topics and holds no text; add the topics", failed=False)
    known = name in ROOTS
    building = TextBuilder()
    teller = _Teller()
    body = told(root, teller.known if known else teller.unknown)
    add_notes(body, teller.notes)
    Walk(building, everything=True).walk(body)
    if not building:
        raise Unreadable("no text between its elements", failed=False)
    named = (root.find(path) for path in (".//{*}book-title", ".//{*}titleStmt/{*}title", "head/title"))
    headings = body.iter("h1", "h2") if known else ()
    title = next((_text(one) for one in (*named, *headings) if one is not None), "")
    language = primary_language(attribute(root, "lang"))
    metadata = _metadata(root) if known else Metadata()
    return building.finish(source.source_id, title or source.title, "", language, metadata)


class _Teller:
    """Says what elements become; remembers which hold text of their own."""

    def __init__(self) -> None:
        self._says: dict[etree._Element, bool] = {}
        self.notes: list[str] = []

    def known(self, element: etree._Element, above: HtmlElement) -> Told | None:
        """An element of one of the vocabularies of documents."""
        name, parent = name_of(element), name_of(element.getparent()) if element.getparent() is not None else ""
        tag = NAMES.get(f"{parent}/{name}", NAMES.get(name))
        attributes = {key: found for key in ("id", "colspan", "rowspan") if (found := attribute(element, key))}
        if tag is None:
            return Told(self._plain(element, above), attributes)
        if tag == "heading":
            tag = "p" if parent in TITLED else f"h{_level(element)}"
        if tag == "p" and above.tag in LINES and above.tag != "p":
            tag = "span"
        if name == "fn" and parent == "fn-group":
            parts = [_text(one) for one in element if name_of(one) != "label"]
            number = _first_text(element, "label") or str(element.getparent().index(element) + 1)
            return Told("p", built=builder.P(f"[{number}] {' '.join(filter(None, parts)) or _text(element)}"))
        if tag == "footnote" or (name == "note" and element.get("place") in ("foot", "end")):
            return Told("span", built=noted(_text(element), self.notes))
        if name == "xref" and element.get("ref-type") == "fn":
            return Told("span", attributes, "[", "]")
        if tag == "outline":
            return Told("li", text=element.get("text") or element.get("title") or "")
        if name == "list" and (element.get("list-type") or element.get("type") or "").startswith(_ORDERED):
            tag = "ol"
        if name == "cell" and element.getparent().get("role") == "label":
            tag = "th"
        if tag == "pre" or (name == "code" and "\n" in "".join(element.itertext())):
            tag = "pre"
            attributes["data-lang"] = element.get("language") or ""
            attributes["class"] = element.get("outputclass") or ""
        if name == "entry":
            attributes |= _merged(element)
        if tag == "annotation":
            attributes["encoding"] = element.get("encoding") or ""
        return Told(tag, attributes) if tag else None

    def unknown(self, element: etree._Element, above: HtmlElement) -> Told:
        """An element of any other XML."""
        if self._plain(element, above) == "div":
            if len(element) > 1 and all(
                name_of(one) == name_of(element[0]) and self._is_record(one, 1) for one in element
            ):
                return Told("table", built=_table(list(element)))
            if self._is_record(element):
                return Told("dl", built=_definitions(element))
        return Told(self._plain(element, above))

    def _plain(self, element: etree._Element, above: HtmlElement) -> str:
        """Part of a line, a paragraph, or what holds others together."""
        parent = element.getparent()
        if above.tag in LINES or (parent is not None and self._has_text(parent)):
            return "span"
        return "p" if self._has_text(element) else "div"

    def _has_text(self, element: etree._Element) -> bool:
        if element not in self._says:
            texts = (element.text, *(one.tail for one in element))
            self._says[element] = any(text and not text.isspace() for text in texts)
        return self._says[element]

    def _is_record(self, element: etree._Element, least: int = 2) -> bool:
        names = [name_of(one) for one in element]
        flat = (
            least <= len(names) <= _MOST_FIELDS
            and len(set(names)) == len(names)
            and not any(len(one) for one in element)
        )
        return flat and not self._has_text(element)


def _level(heading: etree._Element) -> int:
    return min(max(sum(name_of(one) in SECTIONS for one in heading.iterancestors()), 1), 6)


def _merged(entry: etree._Element) -> dict[str, str]:
    """The spans of a cell in a CALS table, which names its columns."""
    found = {"rowspan": str(_number(entry.get("morerows")) + 1)}
    group = next((one for one in entry.iterancestors() if name_of(one) == "tgroup"), None)
    if group is not None and entry.get("namest"):
        names = [one.get("colname") for one in group if name_of(one) == "colspec"]
        first, last = entry.get("namest"), entry.get("nameend")
        if first in names and last in names:
            found["colspan"] = str(names.index(last) - names.index(first) + 1)
    return found


def _number(said: str | None) -> int:
    return int(said) if said and said.isdecimal() and len(said) < 6 else 0


def _table(records: list[etree._Element]) -> HtmlElement:
    """Records as the rows of a table whose columns are their fields."""
    names = list(dict.fromkeys(name_of(field) for record in records for field in record))
    table = builder.TABLE(builder.THEAD(builder.TR(*map(builder.TH, names))))
    for record in records:
        said = {name_of(field): _text(field) for field in record}
        table.append(builder.TR(*(builder.TD(said.get(name, "")) for name in names)))
    return table


def _definitions(record: etree._Element) -> HtmlElement:
    return builder.DL(*(part for field in record for part in (builder.DT(name_of(field)), builder.DD(_text(field)))))


def _text(element: etree._Element) -> str:
    return squeezed("".join(element.itertext())).strip()


def _first_text(root: etree._Element, *names: str) -> str:
    return next((_text(one) for one in root.iter() if name_of(one) in names), "")


def _metadata(root: etree._Element) -> Metadata:
    authors, dates, tags = [], [], []
    for one in root.iter():
        name = name_of(one)
        if name in ("author", "contrib") and one.get("contrib-type", "author") == "author":
            given, family = _first_text(one, *_GIVEN), _first_text(one, *_FAMILY)
            authors.append(f"{given} {family}".strip() or _text(one))
        elif name in ("pubdate", "date", "revised", "created", "pub-date"):
            parts = [_first_text(one, part).zfill(2) for part in ("year", "month", "day")]
            said = _text(one) or one.get("modified") or one.get("date") or ""
            dates.append(iso_date(one.get("iso-8601-date") or (said if name != "pub-date" else "-".join(parts))))
        elif name in ("keyword", "kwd") and name_of(one.getparent()) in ("keywords", "keywordset", "kwd-group"):
            tags.append(_text(one))
    return Metadata(
        author=", ".join(dict.fromkeys(filter(None, authors))),
        date=next(filter(None, dates), ""),
        tags=tuple(dict.fromkeys(filter(None, tags))),
    )


FORMATS = (
    Format(
        "XML",
        (".xml", ".dita", ".dbk", ".docbook", ".nxml", ".tei", ".fb2", ".opml"),
        read_xml,
        "lxml",
        "of DocBook, DITA, JATS, TEI, FictionBook and OPML headings, lists, tables, code, quotations, definitions, footnotes; "
        "of other XML paragraphs, and records as rows",
        "attributes, what a DITA map or a content reference points to, what external entities and DTDs hold",
    ),
)
