"""What a person sees in a paragraph of WordprocessingML: insertions, links, controls, results of fields, equations, notes."""

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from index.readers.formats import roman

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
#: Elements around runs or blocks that are not seen themselves. What was deleted or moved away is in none of them.
WRAPPERS = frozenset(
    W + name
    for name in ("hyperlink", "ins", "moveTo", "smartTag", "customXml", "fldSimple", "dir", "bdo", "sdtContent")
)
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
MONOSPACED = re.compile(r"courier|consolas|menlo|monaco|lucida console|\bmono\b|cascadia|source code", re.IGNORECASE)
CODE_STYLE = re.compile(r"\b(?:code|preformatted|verbatim|listing|macro)", re.IGNORECASE)


class TextRun(NamedTuple):
    text: str
    code: bool


class Notes:
    """The footnotes and endnotes of a document, numbered as they are referred to."""

    def __init__(self, texts: dict[tuple[str, str], str]) -> None:
        self._texts = texts
        self._counts = {"footnote": 0, "endnote": 0}
        self._waiting: list[str] = []

    def refer(self, kind: str, identifier: str) -> str:
        """The mark in the text, [1] for a footnote and [i] for an endnote; '' for a note without text."""
        text = self._texts.get((kind, identifier), "")
        if not text:
            return ""
        self._counts[kind] += 1
        number = self._counts[kind]
        mark = f"[{number}]" if kind == "footnote" else f"[{roman(number)}]"
        self._waiting.append(f"{mark} {text}")
        return mark

    def take(self) -> list[str]:
        """The notes referred to since the last time, each with its mark."""
        taken, self._waiting = self._waiting, []
        return taken


def paragraph_text(pieces: list[TextRun]) -> str:
    """The runs together; code in a sentence is in backticks."""
    parts: list[str] = []
    for code, some in groupby(pieces, key=lambda piece: piece.code):
        text = "".join(piece.text for piece in some)
        bare = text.strip()
        parts.append(text.replace(bare, f"`{bare}`", 1) if code and bare else text)
    return "".join(parts)


def pieces_of(element: "Element", notes: Notes, style_name: Callable[[str], str]) -> Iterator[TextRun]:
    for child in element:
        tag = child.tag
        if tag == W + "r":
            yield from _run(child, notes, style_name)
        elif tag == W + "sdt":
            if child.find(f"{W}sdtPr/{W}showingPlcHdr") is None:
                yield from pieces_of(child, notes, style_name)
        elif tag in WRAPPERS or tag in (_MC + "AlternateContent", _MC + "Choice"):
            yield from pieces_of(child, notes, style_name)
        elif tag in (_M + "oMath", _M + "oMathPara"):
            yield TextRun(_math(child), code=False)


def _run(run: "Element", notes: Notes, style_name: Callable[[str], str]) -> Iterator[TextRun]:
    properties = run.find(W + "rPr")
    code = False
    if properties is not None:
        if is_on(properties.find(W + "vanish")):
            return
        code = is_monospaced(properties) or bool(CODE_STYLE.search(style_name(value(properties.find(W + "rStyle")))))
    for child in run:
        name = child.tag.removeprefix(W) if isinstance(child.tag, str) else ""
        if name == "t":
            yield TextRun(child.text or "", code)
        elif name in _SIGNS:
            yield TextRun(_SIGNS[name], code)
        elif name in ("footnoteReference", "endnoteReference"):
            yield TextRun(notes.refer(name.removesuffix("Reference"), child.get(W + "id", "")), code=False)
        elif name == "ruby":
            base = child.find(W + "rubyBase")
            if base is not None:
                yield from pieces_of(base, notes, style_name)


def boxes_in(element: "Element") -> Iterator["Element"]:
    """The contents of text boxes, each once: a drawing has the same again for programs that do not know it."""
    for child in element:
        if child.tag == W + "txbxContent":
            yield child
        elif child.tag == _MC + "AlternateContent":
            choices = (list(boxes_in(one)) for one in child)
            yield from next(filter(None, choices), ())
        elif isinstance(child.tag, str):
            yield from boxes_in(child)


def value(element: "Element | None") -> str:
    """The `val` of an element, '' without one."""
    return "" if element is None else element.get(W + "val", "")


def is_on(element: "Element | None") -> bool:
    return element is not None and element.get(W + "val", "1") not in ("0", "false", "off")


def is_monospaced(properties: "Element") -> bool:
    fonts = properties.find(W + "rFonts")
    return fonts is not None and bool(MONOSPACED.search(fonts.get(W + "ascii", "")))


def _math(element: "Element") -> str:
    """An equation on one line, as it would be typed: (a + b)/2, x^2, √(y)."""
    name = element.tag.removeprefix(_M) if isinstance(element.tag, str) else ""

    def part(child: str) -> str:
        index = element.find(_M + child)
        return "" if index is None else _math(index)

    def sign(path: str, otherwise: str) -> str:
        index = element.find("/".join(_M + step for step in path.split("/")))
        return otherwise if index is None else index.get(_M + "val", "")

    if name == "t":
        return element.text or ""
    if name == "f":
        return f"{_bracketed(part('num'))}/{_bracketed(part('den'))}"
    if name in ("sSup", "sSub", "sSubSup", "nary"):
        low, high = part("sub"), part("sup")
        base = sign("naryPr/chr", "∫") if name == "nary" else part("e")
        after = f" {part('e')}" if name == "nary" else ""
        return base + (f"_{_bracketed(low)}" if low else "") + (f"^{_bracketed(high)}" if high else "") + after
    if name == "rad":
        return f"{part('deg')}√({part('e')})"
    if name == "d":
        inside = ", ".join(_math(one) for one in element.findall(_M + "e"))
        return f"{sign('dPr/begChr', '(')}{inside}{sign('dPr/endChr', ')')}"
    return "".join(map(_math, element))


def _bracketed(text: str) -> str:
    return text if len(text.strip()) <= 1 or text.isalnum() else f"({text})"
