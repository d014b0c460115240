"""XML by lxml, by one rule for every vocabulary.

The rule: an element with text of its own is a paragraph; an element with parts that have no parts, each of another name, is a
record and becomes a row; every other element is a container.
"""

from lxml import etree
from lxml.html import HtmlElement, builder

from index.model import Document
from index.readers.building import TextBuilder
from index.readers.formats import Format, Source
from index.readers.html import read_html
from index.readers.html_inline import squeezed
from index.readers.html_metadata import primary_language
from index.readers.html_walk import Walk
from index.readers.unreadable import Unreadable
from index.readers.xml_tree import LINES, Converted, attribute, converted, name_of, parsed

_MOST_FIELDS = 40


def read_xml(source: Source) -> Document:
    """Raises Unreadable."""
    root = parsed(source.data, "XML")
    if name_of(root) == "html":
        return read_html(source)
    building = TextBuilder()
    Walk(building, everything=True).walk(converted(root, _Rule().convert))
    if not building:
        raise Unreadable("no text between its elements", failed=False)
    return building.finish(source.source_id, source.title, "", primary_language(attribute(root, "lang")))


class _Rule:
    """Converts elements; remembers which contain text of their own."""

    def __init__(self) -> None:
        self._with_text: dict[etree._Element, bool] = {}

    def convert(self, element: etree._Element, above: HtmlElement) -> Converted:
        parent = element.getparent()
        if above.tag in LINES or (parent is not None and self._has_text(parent)):
            return Converted("span")
        if self._has_text(element):
            return Converted("p")
        if len(element) > 1 and all(name_of(one) == name_of(element[0]) and self._is_record(one, 1) for one in element):
            return Converted("table", built=_table(list(element)))
        return Converted("dl", built=_definitions(element)) if self._is_record(element) else Converted("div")

    def _has_text(self, element: etree._Element) -> bool:
        if element not in self._with_text:
            texts = (element.text, *(one.tail for one in element))
            self._with_text[element] = any(text and not text.isspace() for text in texts)
        return self._with_text[element]

    def _is_record(self, element: etree._Element, least: int = 2) -> bool:
        names = [name_of(one) for one in element]
        flat = (
            least <= len(names) <= _MOST_FIELDS
            and len(set(names)) == len(names)
            and not any(len(one) for one in element)
        )
        return flat and not self._has_text(element)


def _table(records: list[etree._Element]) -> HtmlElement:
    """Records as the rows of a table with their fields as columns."""
    names = list(dict.fromkeys(name_of(field) for record in records for field in record))
    table = builder.TABLE(builder.THEAD(builder.TR(*map(builder.TH, names))))
    for record in records:
        texts = {name_of(field): _text(field) for field in record}
        table.append(builder.TR(*(builder.TD(texts.get(name, "")) for name in names)))
    return table


def _definitions(record: etree._Element) -> HtmlElement:
    return builder.DL(*(part for field in record for part in (builder.DT(name_of(field)), builder.DD(_text(field)))))


def _text(element: etree._Element) -> str:
    return squeezed("".join(element.itertext())).strip()


FORMATS = (
    Format(
        "XML",
        (".xml",),
        read_xml,
        "lxml",
        "paragraphs, and records as rows",
        "attributes, content of external entities and DTDs",
    ),
)
