"""Tell an XML tree again as HTML, so that one walk builds the blocks of every format that is made of marked-up text."""

import re
from collections.abc import Callable, Mapping
from html.entities import html5
from types import MappingProxyType
from typing import NamedTuple

from lxml import etree
from lxml.html import HtmlElement, builder, html_parser

from index.readers.unreadable import Unreadable

_ENTITY = re.compile(rb"&([A-Za-z_][\w.:-]*);")
_DEFINITION = re.compile(rb"<!ENTITY\s+([\w.:-]+)\s+[\"']")
_OWN = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
#: Elements whose text is one paragraph: what is inside is part of its line.
LINES = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "dt", "caption", "span", "code", "sub", "sup", "math")
)


class Told(NamedTuple):
    """What an element becomes. `before` and `after` stand around its text, `text` in place of it; `built` is all of it."""

    tag: str
    attributes: Mapping[str, str] = MappingProxyType({})
    before: str = ""
    after: str = ""
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
        return _parsed(_ENTITY.sub(lambda entity: entity[0] if entity[1] in known else _said(entity), data))
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"no readable {name} ({str(error)[:120]})") from error


def _parsed(data: bytes) -> etree._Element:
    return etree.fromstring(
        data,
        etree.XMLParser(resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
                        remove_pis=True),
    )  # fmt: skip


def _said(entity: re.Match[bytes]) -> bytes:
    """An entity that the file does not define: the character that HTML knows by this name, else the name as it stands."""
    characters = html5.get(f"{entity[1].decode('ascii', 'replace')};")
    return "".join(f"&#{ord(one)};" for one in characters).encode() if characters else b"&amp;" + entity[0][1:]


def name_of(element: etree._Element) -> str:
    """The element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(element: etree._Element, name: str) -> str:
    """The value of an attribute, whatever its namespace; empty without one."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def told(root: etree._Element, tell: Callable[[etree._Element, HtmlElement], Told | None]) -> HtmlElement:
    """The tree as HTML. `tell` says what an element becomes inside another; None leaves it out."""
    body = html_parser.makeelement("body")
    open_ones: list[tuple[HtmlElement, str]] = [(body, "")]
    events = etree.iterwalk(root, events=("start", "end"))
    left_out = None
    for event, element in events:
        if event == "start":
            one = tell(element, open_ones[-1][0])
            if one is None or one.built is not None:
                left_out = element
                events.skip_subtree()
                if one is not None:
                    open_ones[-1][0].append(one.built)
                continue
            new = etree.SubElement(open_ones[-1][0], one.tag, dict(one.attributes))
            new.text = one.before + (one.text if one.text is not None else element.text or "")
            open_ones.append((new, one.after))
        else:
            if element is left_out:
                left_out = None
            else:
                new, after = open_ones.pop()
                _append(new, after)
            if element is not root and element.tail:
                _append(open_ones[-1][0], element.tail)
    return body


def noted(text: str, notes: list[str]) -> HtmlElement:
    """The number of a footnote, whose text joins the notes."""
    notes.append(text)
    return builder.SPAN(f"[{len(notes)}]")


def add_notes(body: HtmlElement, notes: list[str]) -> None:
    """Let the notes stand at the end."""
    body.extend(builder.P(f"[{number}] {note}") for number, note in enumerate(notes, 1))


def _append(element: HtmlElement, text: str) -> None:
    """Add to the end of what the element holds."""
    if not text:
        return
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text
