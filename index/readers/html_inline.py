"""The additions to the text of single HTML elements: list markers, anchors, a code's language, alt texts, formulas."""

import re

from lxml.html import HtmlElement

from index.readers.formats import roman

_SYNTAX = re.compile(r"(?:^|[\s-])(?:language|lang|highlight-source|highlight|brush)[-:]\s*([\w+#.-]+)", re.IGNORECASE)
_NO_SYNTAX = frozenset(("none", "text", "plain", "plaintext", "default", "nohighlight", "source"))
_SPACES = re.compile(r"\s+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
_FILE_NAME = re.compile(r"\S+\.\w{2,4}")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif)\b", re.IGNORECASE)
_NOTES = frozenset(("footnotes", "endnotes", "references"))
_POWER = re.compile(r"[-+\u2212]?\d+")


class Counter:
    """An open list and the number of its next item."""

    def __init__(self, element: HtmlElement) -> None:
        self.list = element
        self._style = element.get("type", "1") if element.tag == "ol" else ""
        self._step = 1 if element.get("reversed") is None else -1
        items = len(element.findall("li")) if self._step < 0 else 1
        self._next = _number(element.get("start"), items)

    def marker(self, item: HtmlElement) -> str:
        if not self._style:
            return "- "
        number = _number(item.get("value"), self._next)
        self._next = number + self._step
        return f"{_counted(number, self._style)}. "


def _number(said: str | None, otherwise: int) -> int:
    return int(said) if said and re.fullmatch(r"-?\d{1,9}", said, re.ASCII) else otherwise


def _counted(number: int, style: str) -> str:
    if style in ("a", "A") and 1 <= number <= 26:
        return chr(ord(style) + number - 1)
    if style in ("i", "I") and 1 <= number < 4000:
        return roman(number) if style == "i" else roman(number).upper()
    return str(number)


def squeezed(text: str) -> str:
    """The text with one space for all white space, without what has no width."""
    return _SPACES.sub(" ", text if text.isascii() else text.translate(_INVISIBLE))


def level(heading: HtmlElement) -> int:
    value = heading.get("aria-level") or heading.tag[1:]
    return min(max(_number(value, 2), 1), 9)


def anchor(heading: HtmlElement) -> str:
    """The fragment that opens a heading: its own id, that of an element inside, of a target just before or of its section."""
    inside = (one.get("id") or (one.get("name") if one.tag == "a" else None) for one in heading.iter())
    links = (one.get("href", "")[1:] for one in heading.iter("a") if one.get("href", "").startswith("#"))
    if own := next(filter(None, (*inside, *links)), ""):
        return str(own)
    before = heading.getprevious()
    if before is not None:
        target = before if before.tag == "a" else before.find("a") if not (before.text_content()).strip() else None
        return (target.get("id") or target.get("name") or "") if target is not None else ""
    parent = heading.getparent()
    while parent is not None and parent.tag in ("header", "hgroup", "div", "section", "article"):
        if parent.get("id"):
            return str(parent.get("id"))
        if parent.tag in ("section", "article") or parent.getprevious() is not None:
            break
        parent = parent.getparent()
    return ""


def syntax(code: HtmlElement) -> str:
    """The language of a piece of code, as the page names it."""
    near = [code, *code.iterdescendants("code"), *list(code.iterancestors("div", "figure", "td"))[:3]]
    for one in near:
        value = one.get("data-lang") or one.get("data-language") or ""
        if not value and (match := _SYNTAX.search(one.get("class", ""))):
            value = match[1]
        if not value and "sourceCode" in one.get("class", "").split():
            value = next((name for name in one.get("class").split() if name != "sourceCode"), "")
        if value:
            return "" if value.lower() in _NO_SYNTAX else value
    return ""


def alt(image: HtmlElement) -> str:
    """The alt text of a picture, unless the picture is a link's face or the text a file name."""
    value = (image.get("alt") or "").strip()
    link = next(image.iterancestors("a"), None)
    if image.get("role") in ("presentation", "none") or _FILE_NAME.fullmatch(value):
        return ""
    return value if link is None or _PICTURE.search(link.get("href", "")) else ""


def formula(math: HtmlElement) -> str:
    """A formula as its TeX, where it comes with it, else its symbols."""
    for one in math.iter("annotation"):
        if "tex" in one.get("encoding", ""):
            return squeezed(one.text or "")
    if math.get("alttext"):
        return squeezed(math.get("alttext"))
    return squeezed(" ".join(text for text in math.xpath(".//text()[not(ancestor::annotation)]") if text.strip()))


def leads_here(link: HtmlElement) -> bool:
    """Whether it is a sign that links a heading or a note to itself or back."""
    return link.get("href", "").startswith("#") and not any(map(str.isalnum, link.text_content())) and not len(link)


def around(element: HtmlElement, text: list[str], blocks: frozenset[str]) -> tuple[str, str]:
    """What a page shows before and after an inline element's text by its form; `text` is the text before it."""
    tag = element.tag
    if tag == "q":
        return '"', '"'
    if tag == "code" and not any(one.tag in blocks for one in element.iter()):
        value = element.text_content()
        fence = "``" if "`" in value else "`"
        return (fence, fence) if value.strip() else ("", "")
    if _is_note(element):
        return ("", "") if element.text_content().strip().startswith(("[", "(")) else ("[", "]")
    if tag == "sup" and text and text[-1][-1:].isdigit() and _POWER.fullmatch(element.text_content().strip()):
        return "^", ""
    return "", ""


def _is_note(element: HtmlElement) -> bool:
    if element.tag == "sup":
        links = list(element.iter("a"))
        return len(links) == 1 and ("#" in links[0].get("href", "") or _refers(links[0]))
    return bool(element.tag == "a" and _refers(element) and next(element.iterancestors("sup"), None) is None)


def is_in_notes(item: HtmlElement) -> bool:
    """Whether an item of a numbered list is the text of a footnote."""
    above = list(item.iterancestors())[:3]
    if not above or above[0].tag != "ol":
        return False
    return any(
        one.get("role") in ("doc-endnotes", "doc-footnotes") or not _NOTES.isdisjoint(one.get("class", "").split())
        for one in above
    )


def _refers(link: HtmlElement) -> bool:
    return "doc-noteref" in (link.get("role"), f"doc-{link.get('epub:type')}")
