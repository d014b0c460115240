"""XML by lxml: one walk builds the blocks of every format that is made of marked-up text, from the same text as HTML.

The rule for a vocabulary that no reader knows: an element with text of its own is a paragraph; an element with parts that have no
parts, each of another name, is a record and becomes a row; every other element is a container.
"""

import re
from collections.abc import Callable, Mapping
from html.entities import html5
from types import MappingProxyType
from typing import NamedTuple

from lxml import etree
from lxml.html import HtmlElement, builder, html_parser

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.html import primary_language, read_html
from index.readers.html_inline import squeezed
from index.readers.html_walk import Walk

_ENTITY = re.compile(rb"&([A-Za-z_][\w.:-]*);")
_DEFINITION = re.compile(rb"<!ENTITY\s+([\w.:-]+)\s+[\"']")
_OWN = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
#: Elements with one paragraph of text: elements inside are part of its line.
LINES = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "dt", "caption", "span", "code", "sub", "sup", "math")
)


class Converted(NamedTuple):
    """The HTML of an element. `text` replaces its text; `built` replaces all of it."""

    tag: str
    attributes: Mapping[str, str] = MappingProxyType({})
    text: str | None = None
    built: HtmlElement | None = None


def parsed(data: bytes, name: str) -> etree._Element:
    """The root of an XML file. Nothing is fetched, and no entity from outside is read. Raises Unreadable."""
    try:
        return _parsed(data)
    except etree.XMLSyntaxError as error:
        if "not defined" not in str(error):
            raise Unreadable(f"no readable {name} ({str(error)[:120]})") from error
    try:
        known = {*_OWN, *_DEFINITION.findall(data)}
        return _parsed(_ENTITY.sub(lambda entity: entity[0] if entity[1] in known else _character(entity), data))
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"no readable {name} ({str(error)[:120]})") from error


def _parsed(data: bytes) -> etree._Element:
    return etree.fromstring(
        data,
        etree.XMLParser(resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
                        remove_pis=True),
    )  # fmt: skip


def _character(entity: re.Match[bytes]) -> bytes:
    """An entity that the file does not define: the character of that name in HTML, else the name unchanged."""
    characters = html5.get(f"{entity[1].decode('ascii', 'replace')};")
    return "".join(f"&#{ord(one)};" for one in characters).encode() if characters else b"&amp;" + entity[0][1:]


def name_of(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


def attribute(element: etree._Element, name: str) -> str:
    """The value of an attribute, of any namespace; empty when it is absent."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def converted(root: etree._Element, convert: Callable[[etree._Element, HtmlElement], Converted | None]) -> HtmlElement:
    """The tree as HTML. `convert` is given an element and its HTML parent; None leaves the element out."""
    body = html_parser.makeelement("body")
    parents: list[HtmlElement] = [body]
    events = etree.iterwalk(root, events=("start", "end"))
    skipped = None
    for event, element in events:
        if event == "start":
            one = convert(element, parents[-1])
            if one is None or one.built is not None:
                skipped = element
                events.skip_subtree()
                if one is not None:
                    parents[-1].append(one.built)
                continue
            new = etree.SubElement(parents[-1], one.tag, dict(one.attributes))
            new.text = one.text if one.text is not None else element.text
            parents.append(new)
        else:
            if element is skipped:
                skipped = None
            else:
                parents.pop()
            if element is not root and element.tail:
                _append(parents[-1], element.tail)
    return body


def _append(element: HtmlElement, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


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
