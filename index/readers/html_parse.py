"""Parse a page, a piece of one, or the template that a script displays unchanged."""

import re

from lxml import etree
from lxml import html as lxml_html
from lxml.html import HtmlElement
from markdown_it import MarkdownIt

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
