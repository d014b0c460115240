"""`/sources/{id}`: a document's text as a page, at the cited place, without a script.

It is made here, in the reader's language, from the index; a document's text is never markup. Where a key is needed, a followed
link has none: the page then asks for the key, with its only script, which gets an address with a ticket.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from aiohttp import web

from bus.powers.sources import SourceText, TextAsked, ask_sources
from index.languages import FALLBACK, LANGUAGES, of
from index.languages.characters import FROM_RIGHT
from index.languages.tables.texts import SourcePage
from index.source_paths import on_the_web
from runtime.edge.door import Caller
from runtime.edge.parameters import value_of
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.sources import data
from runtime.edge.sources.data import FRAMED, Addresses, source_id
from runtime.edge.sources.markup import (
    CITED,
    LARGEST_PAGE,
    PDF,
    MarkedBlocks,
    add,
    add_links,
    add_page,
    article_of,
)
from runtime.edge.state import EDGE, Edge

#: The characters of a long document on one page, those of them before the cited text, and the distance within which
#: a page ends at a line's end.
WINDOW, BEFORE, LINE = 20_000, 4_000, 2_000
_STYLE, _SCRIPT = "/source-page.css", "/source-page.js"
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q=([01](?:\.\d{0,3})?))?\s*")

HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Language, Authorization",
    "X-Content-Type-Options": "nosniff",
}
_STATIC = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
_HTML = "text/html"
_START = parameter("start", "query", "The first cited character.", type="integer", minimum=0, default=0)
_END = parameter("end", "query", "The character after the last cited one.", type="integer", minimum=0, default=0)
_AT = parameter("at", "query", "The character from which a long document is shown.", type="integer", minimum=0)
_PAGE = parameter(
    "page",
    "query",
    "The page of a PDF; that of the cited place if omitted.",
    type="integer",
    minimum=0,
    maximum=LARGEST_PAGE,
    default=0,
)
_FRAMED = parameter(
    FRAMED, "query", "The page stands inside another, which tells its title.", type="string", enum=["true"]
)


@Route("GET", _STYLE, {200: Reply("The style of a source's page.", "text/css")}, "none")
async def style(request: web.Request) -> web.Response:
    """Give the style of a source's page."""
    return _file("source.css", "text/css")


@Route("GET", _SCRIPT, {200: Reply("What asks for a key on a source's page.", "text/javascript")}, "none")
async def script(request: web.Request) -> web.Response:
    """Give the script with which a source's page asks for a key."""
    return _file("source.js", "text/javascript")


@Route(
    "GET",
    "/sources/{source_id}",
    {
        200: Reply("The document, in HTML.", _HTML),
        **{
            status: Reply(f"A page that says so: {what}.", _HTML)
            for status, what in (
                (401, "a key is needed, which can be given there"),
                (403, "the key lacks the scope `search`"),
                (404, "there is no such source, or the key does not cover it"),
                (429, "the key has used up its rate"),
                (503, "the index cannot be read now"),
            )
        },
    },
    "none",
    parameters=(
        data.SOURCE_ID,
        _START,
        _END,
        _AT,
        _PAGE,
        parameter("ui", "query", "The language of the page itself; that of the browser if omitted.", type="string"),
        _FRAMED,
        parameter("ticket", "query", "In place of a key: see `/v1/sources/{source_id}/link`.", type="string"),
    ),
)
async def source_page(request: web.Request) -> web.Response:
    """Open a page that shows a source at a cited place."""
    edge = request.app[EDGE]
    language = language_for(request)
    try:
        with edge.door.admitted(request, data.source) as caller:
            named = source_id(request)
            return await _document_page(request, edge, named, caller, language)
    except EXPECTED as error:
        problem = problem_of(error)
        if problem.status == 400:
            raise
    return _error_page(problem, language)


def language_for(request: web.Request) -> str:
    """The first supported language that the address or the browser names."""
    if (chosen := request.query.get("ui")) in LANGUAGES:
        return chosen
    wanted: dict[str, float] = {}
    for each in request.headers.get("Accept-Language", "")[:500].split(","):
        if (match := _LANGUAGE.fullmatch(each)) and match[1].lower() in LANGUAGES:
            wanted.setdefault(match[1].lower(), float(match[2] or 1))
    return max(wanted, key=lambda each: wanted[each], default=FALLBACK)


async def _document_page(request: web.Request, edge: Edge, named: str, caller: Caller, language: str) -> web.Response:
    """Raises Problem, Unavailable, NoSuchSource."""
    cited, number_of_page = (value_of(request, _START), value_of(request, _END)), value_of(request, _PAGE)
    first = max(0, cited[0] - BEFORE) if (at := value_of(request, _AT)) is None else at
    query = TextAsked(source_id=named, start=max(0, first - LINE), end=first + WINDOW + LINE, groups=caller.groups)
    text = await ask_sources(edge.runs.client, query, SourceText, timeout_s=edge.timeouts.search_s)
    to = Addresses(request, named)
    words = of(language).source
    page, main = _page(language, text.title or text.source_id)
    if value_of(request, _FRAMED):
        main.remove(main[0])
        page[1].set("class", "framed")
    else:
        _add_head(main, text, to, words, language)
    if text.media_type == PDF and text.pages:
        number_of_page = number_of_page or text.page_at(cited[0]) or 1
        on_page = TextAsked(source_id=named, page=number_of_page, groups=caller.groups)
        await add_page(main, edge, on_page, cited, to, words)
    else:
        _add_window(main, text, at_lines(text, first), cited, to, words)
    return _response(page)


def _add_window(
    main: Element, text: SourceText, window: tuple[int, int], cited: tuple[int, int], to: Addresses, words: SourcePage
) -> None:
    start, end = window
    blocks = MarkedBlocks(text, cited, words.columns)
    body = article_of(text)
    blocks.add_to(body, start, end)
    span = {"start": cited[0], "end": cited[1]} if cited[1] else {}
    before = to.page(**span, at=max(0, start - WINDOW)) if start else ""
    after = to.page(**span, at=end) if end < text.characters else ""
    here = f"#{CITED}" if blocks.is_marked else ""
    add_links(main, {words.earlier: before, words.cited: here, words.later: after}, label=words.earlier)
    main.append(body)
    add_links(main, {words.earlier: before, words.later: after}, label=words.later)


def at_lines(text: SourceText, first: int) -> tuple[int, int]:
    """The begin and end of the part: at ends of lines around `first` and a window's length after it."""
    begin = min(max(0, first - text.start), len(text.text))
    start = 0
    if text.start:
        line = text.text.rfind("\n", 0, begin + 1)
        start = begin if line < 0 else line + 1
    end = text.text.find("\n", begin + WINDOW)
    return text.start + start, text.start + (len(text.text) if end < 0 else end)


def _page(language: str, title: str) -> tuple[Element, Element]:
    direction = "rtl" if of(language).identity.script in FROM_RIGHT else "ltr"
    page = Element("html", {"lang": language, "dir": direction})
    head = add(page, "head")
    add(head, "meta", charset="utf-8")
    add(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    add(head, "meta", name="robots", content="noindex")
    add(head, "title", f"{title[:200]} · Groundwire")
    add(head, "link", rel="stylesheet", href=_STYLE)
    main = add(add(page, "body"), "main")
    add(main, "h1", title, dir="auto")
    return page, main


def _add_head(main: Element, text: SourceText, to: Addresses, words: SourcePage, language: str) -> None:
    page_words = of(language).page["words"]
    about = text.about
    facts = [
        text.source_id if text.title != text.source_id else "",
        about.author,
        "" if about.saved else about.date.partition("T")[0],  # a copy's day would read as the text's
        f"{page_words['version']} {about.version}" if about.version else "",
        page_words["recognized"] if about.recognized else "",
    ]
    line = add(main, "p", class_="facts")
    for fact in filter(None, facts):
        add(line, "bdi", fact)
    if on_the_web(text.url):
        published = add(main, "p", f"{words.published} ", class_="facts")
        add(published, "a", text.url, href=text.url, rel="noopener noreferrer nofollow", dir="ltr")
    if text.original:
        add(add(main, "p", class_="facts"), "a", words.original, href=to.original())


def _error_page(problem: Problem, language: str) -> web.Response:
    """A page with the reason why there is no document; where a key is missing, with a form for it."""
    words = of(language).source
    match problem.status:
        case 401 | 403:
            page, main = _page(language, words.key_needed)
            form = add(main, "form", id="form", hidden="")
            add(form, "label", of(language).page["words"]["key"], for_="key")
            add(form, "input", id="key", type="password", autocomplete="off", required="", size="32")
            add(form, "button", words.open, type="submit")
            attributes = {} if problem.status == 403 else {"hidden": ""}
            add(main, "p", words.key_refused, id="refused", class_="note", role="alert", **attributes)
            add(add(main, "noscript"), "p", words.script_needed, class_="note")
            add(page[0], "script", src=_SCRIPT, defer="")
        case 404:
            page, main = _page(language, words.missing)
            add(main, "p", words.missing_why)
        case status:
            page, main = _page(language, HTTPStatus(status).phrase if status < 500 else words.away)
            add(main, "p", words.away if status < 500 else "")
    return _response(page, problem.status, problem.headers)


def _response(page: Element, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    body = "<!doctype html>" + tostring(page, encoding="unicode", method="html")
    return web.Response(
        status=status, text=body, content_type=_HTML, charset="utf-8", headers={**HEADERS, **(headers or {})}
    )


def _file(name: str, kind: str) -> web.Response:
    body = Path(__file__).with_name(name).read_bytes()
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=_STATIC)
