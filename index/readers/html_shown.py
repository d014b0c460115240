"""The tree of an HTML page, its visible part, and the part that only leads elsewhere: menus, banners, the foot of the page."""

import re

from lxml import etree
from lxml import html as lxml_html
from lxml.html import HtmlElement
from markdown_it import MarkdownIt

#: Never shown, or drawn by something else than text.
_UNSEEN = frozenset(
    ("style", "script", "noscript", "noframes", "title", "meta", "link", "base", "iframe", "object", "embed", "svg",
     "canvas", "audio", "video", "select", "datalist", "textarea", "input", "progress", "meter", "rp", "map")
)  # fmt: skip
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
#: Classes by which the usual stylesheets hide an element or number lines.
_UNSEEN_CLASSES = frozenset(
    ("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "skip-link", "linenos",
     "lineno", "linenumber", "linenumbers", "line-numbers-rows", "gutter", "blob-num")
)  # fmt: skip
_BESIDE_ROLES = frozenset(
    ("navigation", "search", "menu", "menubar", "contentinfo", "dialog", "alertdialog", "toolbar", "tablist")
)
_MENU_NAMES = frozenset(
    ("nav", "navbar", "navigation", "menu", "menus", "breadcrumb", "breadcrumbs", "toc", "pagination", "pager")
)
_COOKIES = frozenset(("cookie", "cookies", "gdpr"))
_BANNERS = frozenset(("banner", "consent", "notice", "bar", "popup", "modal", "overlay"))
_MENU_OR_COOKIES = re.compile("|".join(sorted(_MENU_NAMES | _COOKIES)), re.IGNORECASE)
_NOTES = frozenset(("footnote", "footnotes", "endnotes", "doc-endnotes"))
#: Share of a menu's letters in links.
_LINKED = 0.85


def unseen(element: HtmlElement) -> bool:
    """Whether it is invisible in every position."""
    if element.tag in _UNSEEN:
        return True
    if element.tag == "template":  # inert, but a declarative shadow root is shown in its place
        return not (element.get("shadowrootmode") or element.get("shadowroot"))
    if element.tag == "dialog":
        return element.get("open") is None
    return bool(element.attrib) and _is_hidden(element)


def _is_hidden(element: HtmlElement) -> bool:
    return (
        element.get("hidden", "until-found") != "until-found"
        or element.get("aria-hidden") == "true"
        or _HIDDEN_STYLE.search(element.get("style", "")) is not None
        or not _UNSEEN_CLASSES.isdisjoint(element.get("class", "").lower().split())
    )


def beside(element: HtmlElement) -> bool:
    """Whether it is navigation and not content: menus, search fields, the foot of the page."""
    tag = element.tag
    if tag == "nav" or element.get("role") in _BESIDE_ROLES:
        return True
    if tag == "button":
        return next(element.iterancestors("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"), None) is None
    if tag == "footer":
        holds_notes = any(not _NOTES.isdisjoint(_names(one)) for one in (element, *element))
        return not holds_notes and next(element.iterancestors("blockquote", "figure"), None) is None
    value = f"{element.get('class', '')} {element.get('id', '')}"
    if tag in ("body", "html", "main", "article") or not _MENU_OR_COOKIES.search(value):
        return False
    names = _names(element)
    if not _COOKIES.isdisjoint(names) and not _BANNERS.isdisjoint(names):
        return True
    return not _MENU_NAMES.isdisjoint(names) and _linked(element) >= _LINKED


def _names(element: HtmlElement) -> set[str]:
    value = f"{element.get('class', '')} {element.get('id', '')} {element.get('role', '')}".lower()
    return {*re.findall(r"[a-z]+", value), *value.split()}


def _linked(element: HtmlElement) -> float:
    """The share (0 to 1) of the text in links."""
    texts = element.xpath(".//text()[not(ancestor::script or ancestor::style)]")
    everything = sum(len(text.strip()) for text in texts)
    linked = sum(len(text.strip()) for link in element.iter("a") for text in link.itertext())
    return linked / everything if everything else 1.0


_TEMPLATES = re.compile(r"text/(?:x-)?(?:[a-z]+-)?(?:template|handlebars|mustache|markdown|html)\b")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}\}?|<%.*?%>", re.DOTALL)
_markdown = MarkdownIt("commonmark").enable("table")


def parse(html: str) -> HtmlElement | None:
    """The tree of a page or a piece of one, without comments; None when there is nothing in it."""
    parser = lxml_html.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        return lxml_html.document_fromstring(html.replace("\0", "").encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


def template(script: HtmlElement) -> HtmlElement | None:
    """The tree of the HTML or Markdown in a script; None for a script that is code."""
    kind = script.get("type", "")
    if not _TEMPLATES.match(kind):
        return None
    text = _PLACEHOLDER.sub("", script.text or "")
    return parse(_markdown.render(text) if "markdown" in kind else text)
