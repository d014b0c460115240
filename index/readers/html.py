"""HTML by lxml: what a reader of the page sees, without scripts, menus and the foot of the page; and the metadata in its head.

Metadata are meta elements, OpenGraph, Dublin Core and JSON-LD.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from lxml.html import HtmlElement

from index.model import Document, Metadata, narrowed
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.front_matter import iso_date, split_before_page, understood
from index.readers.html_shown import parse
from index.readers.html_walk import Walk
from index.readers.text import decode_declared

#: By field, the names under which it is given, the best first.
_NAMES = {
    "title": ("og:title", "dc.title", "dcterms.title", "citation_title", "headline"),
    "author": ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "creator"),
    "date": (
        "article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified", "last-modified", "datemodified",
        "article:published_time", "dc.date", "dcterms.date", "dcterms.issued", "dcterms.created", "dc.date.issued",
        "dc.date.created", "citation_publication_date", "citation_date", "date", "datepublished", "datecreated",
    ),
    "version": ("version", "dcterms.hasversion"),
    "tags": ("keywords", "news_keywords", "article:tag", "dc.subject", "dcterms.subject", "citation_keywords"),
    "language": ("content-language", "dc.language", "dcterms.language", "og:locale", "inlanguage"),
    "url": ("og:url",),
    "groups": ("groups",),
}  # fmt: skip
_MOST_TAGS = 50


class About(NamedTuple):
    title: str
    url: str
    language: str | None
    metadata: Metadata


def about(root: HtmlElement) -> About:
    text: dict[str, list[str]] = {}
    for name, value in (*_metas(root), *_linked_data(root)):
        text.setdefault(name.lower(), []).append(" ".join(value.split()))

    def given(field: str) -> list[str]:
        return [value for name in _NAMES[field] for value in text.get(name, ()) if value]

    title = " ".join((root.findtext(".//title") or "").split())
    canonical = (
        link.get("href") or "" for link in root.iter("link") if "canonical" in link.get("rel", "").lower().split()
    )
    urls = (url for url in (*canonical, *given("url")) if _scheme(url) in ("http", "https"))
    language = root.get("lang") or root.get("xml:lang") or next(iter(given("language")), "")
    tags = [tag.strip() for value in given("tags") for tag in re.split("[,;\u3001\uff0c]", value) if tag.strip()]
    people = ([one for one in text.get(name, ()) if one and not _scheme(one)] for name in _NAMES["author"])
    return About(
        title or next(iter(given("title")), ""),
        next(urls, ""),
        primary_language(language),
        Metadata(
            author=", ".join(dict.fromkeys(next(filter(None, people), []))),
            date=next(filter(None, map(iso_date, given("date"))), ""),
            version=next(iter(given("version")), ""),
            tags=tuple(dict.fromkeys(tags))[:_MOST_TAGS],
            groups=understood({"groups": given("groups")}).metadata.groups,
        ),
    )


def primary_language(tag: str) -> str | None:
    """`pt-BR` and `pt_BR` are `pt`; None for any other text."""
    match = re.match(r"([A-Za-z]{2,3})(?:[-_]|\Z)", tag.strip())
    return match[1].lower() if match else None


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def _metas(root: HtmlElement) -> Iterator[tuple[str, str]]:
    for meta in root.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("http-equiv") or meta.get("itemprop")
        if name and meta.get("content"):
            yield name, meta.get("content")


def _linked_data(root: HtmlElement) -> Iterator[tuple[str, str]]:
    """The fields of the page's own JSON-LD, those of the objects inside it left out, but for names of authors."""
    for script in root.iter("script"):
        if script.get("type", "").split(";")[0].strip() != "application/ld+json":
            continue
        try:
            result = msgspec.json.decode(script.text or "")
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            continue
        pages = result.get("@graph", [result]) if isinstance(result, dict) else result
        for page in pages if isinstance(pages, list) else []:
            if isinstance(page, dict) and ("headline" in page or "datePublished" in page or "dateModified" in page):
                authors = page.get("author")
                names = [
                    author.get("name") if isinstance(author, dict) else author
                    for author in (authors if isinstance(authors, list) else [authors])
                ]
                fields = ("headline", "datePublished", "dateModified", "inLanguage")
                text = [*((field, page.get(field)) for field in fields), *(("creator", name) for name in names)]
                yield from ((field, value) for field, value in text if isinstance(value, str))


def read_html(source: Source) -> Document:
    """Raises Unreadable for a page without text."""
    builder = TextBuilder()
    front, text = split_before_page(decode_declared(source.data))
    root = parse(text)
    if root is not None:
        Walk(builder).walk(root)
        if not builder:  # a page with all its text in its menus
            Walk(builder, everything=True).walk(root)
    if root is None or not builder:
        raise Unreadable("the page has no text", failed=False)
    page = about(root)
    return builder.finish(
        source.source_id,
        front.title or page.title or source.title,
        front.url or page.url,
        front.language or page.language,
        _both(front.metadata, page.metadata),
    )


def _both(front: Metadata, page: Metadata) -> Metadata:
    """The metadata of the front matter, else of the page. Raises Unreadable when they agree on no group."""
    groups = narrowed((front.groups or None, page.groups or None))
    if groups == ():
        raise Unreadable("its front matter and its head name groups and agree on none")
    text = {name: value for name, value in msgspec.structs.asdict(front).items() if value}
    return msgspec.structs.replace(page, **text | {"groups": groups or ()})


def read_fragment(builder: TextBuilder, html: str) -> None:
    """Add the blocks of an HTML fragment, inside another format; one without visible text adds nothing."""
    root = parse(html)
    if root is not None:
        Walk(builder).walk(root)


FORMATS = (
    Format(
        "HTML",
        (".html", ".htm", ".xhtml"),
        read_html,
        "lxml",
        "headings with their anchors, lists, tables with merged cells, code, quotations, definitions, footnotes, templates; "
        "title, author, dates, keywords, language and groups of the head or of front matter",
        "menus, search fields, the foot of the page, scripts, drawings, elements that a style sheet hides",
    ),
)
