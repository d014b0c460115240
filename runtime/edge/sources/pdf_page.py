"""A page of a PDF on a source's page: its picture with the cited words marked over it, and its text below for a screen reader.

The marks are shapes in the picture's own points, so they stay where they belong at any width and need neither script nor style.
"""

import contextlib
from xml.etree.ElementTree import Element, SubElement

from bus.powers.sources import WIDEST, WIDTH, NotServed, PageAsked, PageView, SourceText, TextAsked, ask_sources
from index.languages.tables.texts import SourcePage
from runtime.edge.sources.addresses import Addresses
from runtime.edge.sources.markup import CITED, MarkedBlocks, add, add_links, article_of
from runtime.edge.state import Edge

PDF = "application/pdf"
LARGEST_PAGE = 1_000_000
#: The longest that a page may take to be drawn, in seconds, with its wait for others.
DRAW_S = 30.0


def page_at(text: SourceText, offset: int) -> int:
    before = [number for start, number in text.page_starts if start <= offset]
    return before[-1] if before else 1


async def add_page(
    main: Element, edge: Edge, asked: TextAsked, cited: tuple[int, int], to: Addresses, words: SourcePage
) -> None:
    """Add one page. Raises NoSuchSource, Unavailable."""
    client, number = edge.runs.client, asked.page or 1
    text = await ask_sources(client, asked, SourceText, timeout_s=edge.timeouts.search_s)
    view: PageView | None = None
    wanted = PageAsked(source_id=asked.source_id, page=number, start=cited[0], end=cited[1], groups=asked.groups)
    with contextlib.suppress(NotServed):
        view = await ask_sources(client, wanted, PageView, timeout_s=DRAW_S)
    pages = view.pages if view else text.pages or number
    main.set("class", "pages")
    places = {"start": cited[0], "end": cited[1]} if cited[1] else {}
    before = to.page(**places, page=number - 1) if number > 1 else ""
    after = to.page(**places, page=number + 1) if number < pages else ""
    here = words.page.format(page=number, pages=pages)
    add_links(main, {words.previous_page: before, words.next_page: after}, label=here)
    if view is None:
        add(main, "p", here, class_="facts")
        add(main, "p", words.no_picture, class_="note")
    else:
        _add_picture(main, view, number, here, to, words)
    is_cited = cited[0] < text.end and cited[1] > text.start
    if view is not None and is_cited and not view.marks:
        add(main, "p", words.not_marked, class_="note")
    add(main, "h2", words.page_text)
    body = article_of(text)
    MarkedBlocks(text, cited, words.columns, focus=view is None or not view.marks, depth=2).add_to(
        body, text.start, text.end
    )
    main.append(body)


def _add_picture(main: Element, view: PageView, number: int, here: str, to: Addresses, words: SourcePage) -> None:
    figure = add(main, "figure")
    size = f"0 0 {view.width:g} {view.height:g}"
    drawing = SubElement(
        figure, "svg", {"viewBox": size, "role": "img", "aria-label": words.picture.format(page=number)}
    )
    whole = {"width": f"{view.width:g}", "height": f"{view.height:g}"}
    SubElement(drawing, "image", {"href": to.picture(number, WIDTH), **whole})
    if view.marks:
        lit = SubElement(drawing, "g", {"id": CITED, "tabindex": "-1", "autofocus": ""})
        for left, top, right, bottom in view.marks:
            box = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            SubElement(lit, "rect", {name: f"{value:g}" for name, value in box.items()} | {"rx": "1"})
    caption = add(figure, "figcaption", f"{here} ")
    add(caption, "a", words.larger, href=to.picture(number, WIDEST))
