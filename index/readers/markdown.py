"""Markdown and MDX by markdown-it-py: what a person sees of the rendered page, block by block."""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec
from markdown_it.token import Token

from index.model import BlockKind, Document
from index.readers import front_matter
from index.readers.formats import Format, Source, TextBuilder
from index.readers.html import read_fragment
from index.readers.markdown_inline import Anchors, InlineText
from index.readers.markdown_syntax import parser, read_lines, title_parser
from index.readers.tabular import Head, has_labels
from index.readers.templating import taken_out
from index.readers.text import decode

#: Fences of these names hold Markdown and no code.
_ASIDES = frozenset(
    ("smart", "warn", "ponder", "offtopic", "quote", "compare", "summary", "note", "tip", "info", "hint", "important",
     "warning", "caution", "danger", "attention", "admonition", "seealso")
)  # fmt: skip
_SYNTAX = re.compile(r"\{?\.?([\w+#-][\w+#./-]*)(?![\w+#./-]*=)")
_HEADER = re.compile(r"(?:header|title)\s*=\s*\"([^\"]*)\"|^\{[\w-]+\}\s+(.+)$")
#: A header with backticks would make the fence a paragraph.
_QUOTING = re.compile(r"^([ \t]*`{3,}[ \t]*\w+ (?=header=))([^\n]*`[^\n]*)", re.MULTILINE)
#: How one site marks the lines of code that it shows in colour.
_COLOURED = re.compile(r"^[ \t]*\*/?!\*[ \t]*\n|\*/?!\*", re.MULTILINE)
_DIRECTIVE = re.compile(r"\{(?:code|code-block|code-cell|sourcecode|literalinclude)\}\s*(\S*)")
_CONTAINER_ENDS = re.compile(r"^[ \t]*:{3,}[ \t]*$", re.MULTILINE)
_CONTAINERS = re.compile(r"<(/?)(?:table|ul|ol|dl)\b", re.IGNORECASE)
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}(.*?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
#: Anything that is said: a letter outside tags.
_TEXT_OF_HTML = re.compile(r"(?:\A|>)(?!<)[^<]*[^\s<]")
#: All of an item: `[Title](address)`, also emphasised.
_ONLY_LINK = re.compile(r"[*_]{0,2}\[[^\[\]\n]+\]\([^()\s]*\)[*_]{0,2}")
_NOTE = re.compile(r"\[\d+\]")
_DEEPEST_ASIDE = 5
#: How many tables and lists of HTML that never end are searched for in one text.
_UNCLOSED = 20


def read_markdown(source: Source) -> Document:
    """The title comes from the front matter, else from the first heading of the highest level, else from `source`."""
    front, text = front_matter.split(decode(source.data))
    builder = TextBuilder()
    _Walk(builder, Anchors(), mdx=source.suffix == ".mdx").read(text)
    document = builder.finish(source.source_id, "", front.url, front.language, front.metadata)
    title = _without_marks(front.title) or _first_heading(document) or source.title
    return msgspec.structs.replace(document, title=title)


def _without_marks(title: str) -> str:
    tokens = title_parser().parseInline(title)
    return " ".join(InlineText({}, {}).text(tokens[0].children or ()).replace("`", "").split())


def _first_heading(document: Document) -> str:
    headings = [block for block in document.blocks if block.kind == "heading"]
    if not headings:
        return ""
    first = min(headings, key=lambda block: (block.level, block.start))
    return document.text[first.start : first.end].replace("`", "")


@dataclass
class _Frame:
    """An open item, definition or quotation. An item's paragraphs are gathered until something else begins in it."""

    kind: BlockKind
    marker: str = ""
    level: int = 0
    paragraphs: list[str] = field(default_factory=list)
    stretch: tuple[int, int] | None = None


class _Walk:
    """One pass over the tokens of a text; each block in an item or a quotation is still a block of its own."""

    def __init__(self, builder: TextBuilder, anchors: Anchors, *, mdx: bool, depth: int = 0) -> None:
        self._builder = builder
        self._anchors = anchors
        self._mdx = mdx
        self._depth = depth
        self._frames: list[_Frame] = []
        self._numbers: list[int | None] = []  # of each open list that of its next item
        self._terms: list[str] = []
        self._unclosed = 0
        self._notes: dict[str, tuple[int, int]] = {}  # by label, which tokens are the text of a footnote

    def read(self, text: str) -> None:
        text = _QUOTING.sub(lambda found: found[1] + found[2].replace("`", ""), text)
        marked = taken_out(text, mdx=self._mdx)
        self._env: dict[str, Any] = {"original": marked.original}
        self._shown = marked.shown
        self._seen = InlineText(marked.shown, marked.original)
        self._parser = parser(marked.text, mdx=self._mdx)
        self._tokens = self._parser.parse(marked.text, self._env)
        self._steps(0, len(self._tokens))
        for number, note in enumerate(self._env.get("footnotes", {}).get("list", {}).values(), 1):
            if "tokens" in note:  # it was within the line
                self._builder.add(f"[{number}] {self._seen.text(note['tokens'])}")
            elif (stretch := self._notes.pop(note["label"], None)) is not None:
                self._note(str(number), stretch)
        while self._notes:  # nothing refers to them
            label = next(iter(self._notes))
            self._note(label, self._notes.pop(label))

    def _steps(self, at: int, end: int) -> None:
        while at < end:
            token = self._tokens[at]
            at = self._put_aside(token, at) if token.type == "footnote_reference_open" else self._step(token, at)

    def _note(self, mark: str, stretch: tuple[int, int]) -> None:
        self._frames.append(_Frame("prose", f"[{mark}] "))
        self._steps(*stretch)
        self._settle()
        self._frames.pop()

    def _step(self, token: Token, at: int) -> int:
        """Read what begins at a token; the place of the next one to read."""
        kind, next_at = token.type, at + 1
        if kind == "paragraph_open":
            if token.meta.get("apart"):
                self._settle()
            self._text(self._inline(at + 1), only_link=bool(_ONLY_LINK.fullmatch(self._tokens[at + 1].content)))
            return at + 3
        if kind == "heading_open":
            self._heading(self._inline(at + 1), token)
            return at + 3
        if kind in ("fence", "code_block"):
            self._settle()
            self._code(token)
        elif kind == "html_block":
            self._settle()
            next_at = self._html(at)
        elif kind == "table_open":
            self._settle()
            next_at = self._table(at)
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._settle()
            self._numbers.append(int(token.attrGet("start") or 1) if kind[0] == "o" else None)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._numbers.pop()
        elif kind == "list_item_open":
            self._item(token)
        elif kind == "blockquote_open":
            self._settle()
            self._frames.append(_Frame("prose" if token.meta.get("alert") else "quotation"))
        elif kind in ("list_item_close", "blockquote_close"):
            self._settle()
            self._frames.pop()
        else:
            self._definition(kind, at)
        return next_at

    def _put_aside(self, token: Token, at: int) -> int:
        """Keep a footnote's text for the end; the place after it."""
        end = at + 1
        while self._tokens[end].type != "footnote_reference_close" or self._tokens[end].level != token.level:
            end += 1
        self._notes.setdefault(token.meta["label"], (at + 1, end))
        return end + 1

    def _inline(self, at: int) -> str:
        return self._seen.line(self._tokens[at])

    def _heading(self, text: str, token: Token) -> None:
        if self._frames:
            self._text(text)
        elif text:
            text = text.replace("\n", " ")
            anchor = self._anchors.of(_NOTE.sub("", text) if "footnotes" in self._env else text)
            self._builder.add(text, "heading", int(token.tag[1]), anchor=token.meta.get("anchor") or anchor)

    def _text(self, text: str, *, only_link: bool = False) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is None or not frame.marker:
            self._builder.add(text, frame.kind if frame else "prose")
        elif frame.stretch:  # it goes on after code, a table or a list
            self._builder.add(text, intro=frame.stretch)
        elif text:
            if frame.kind in ("list_item", "link"):
                frame.kind = "link" if only_link and not frame.paragraphs else "list_item"
            frame.paragraphs.append(text)

    def _settle(self) -> None:
        """Add what was gathered, now that something else begins."""
        frame = self._frames[-1] if self._frames else None
        if frame and frame.paragraphs:
            text = frame.marker + "\n".join(frame.paragraphs)
            frame.stretch = self._builder.add(text, frame.kind, frame.level)
            frame.paragraphs.clear()

    def _item(self, token: Token) -> None:
        number = self._numbers[-1]
        marker = "- " if number is None else token.meta.get("letter") or f"{number}{token.markup} "
        if number is not None:
            self._numbers[-1] = number + 1
        self._frames.append(_Frame("list_item", marker, len(self._numbers)))

    def _definition(self, kind: str, at: int) -> None:
        """A term with its definitions, of which there may be several."""
        if kind == "dt_open":
            self._terms.append(" ".join(self._inline(at + 1).split()))
        elif kind == "dd_open" and self._terms:
            term = ", ".join(self._terms)
            self._terms.clear()
            self._frames.append(_Frame("definition", term if term.endswith((":", "：")) else f"{term}: "))
        elif kind == "dd_close" and self._tokens[at + 1].type != "dd_open":
            self._settle()
            self._frames.pop()

    def _code(self, token: Token) -> None:
        info = self._seen.code(token.info).strip()
        name = info.split()[0].strip("{}").lower() if info else ""
        text = _RAW.sub(r"\1", self._seen.code(token.content))
        if name in _ASIDES and self._depth < _DEEPEST_ASIDE:
            if header := _HEADER.search(info):
                self._text(_without_marks(header[1] or header[2] or ""))
            _Walk(self._builder, self._anchors, mdx=self._mdx, depth=self._depth + 1).read(text)
            return
        if "*!*" in text:
            text = _COLOURED.sub("", text)
        match = _DIRECTIVE.match(info) or _SYNTAX.match(info)
        self._builder.add(text, "code", syntax=match[1] if match else "")

    def _html(self, at: int) -> int:
        """A table or list of HTML goes to its end, with the Markdown that is in it."""
        tokens = self._tokens
        opened, end = _opened(tokens[at].content), at + 1
        for later in range(at + 1, len(tokens)) if opened > 0 and self._unclosed < _UNCLOSED else ():
            if tokens[later].level < tokens[at].level:
                break
            if tokens[later].type == "html_block":
                opened += _opened(tokens[later].content)
                if opened <= 0:
                    end = later + 1
                    break
        self._unclosed += opened > 0
        html = tokens[at].content
        if end > at + 1:
            read_lines(self._parser, tokens[at:end], self._env)
            html = self._parser.renderer.render(tokens[at:end], self._parser.options, self._env)
        if ":::" in html:
            html = _CONTAINER_ENDS.sub("", html)
        if _TEXT_OF_HTML.search(html):
            read_fragment(self._builder, html.translate(self._shown) if self._shown else html)
        return end

    def _table(self, at: int) -> int:
        header: list[str] = []
        rows: list[list[str]] = []
        while (kind := self._tokens[at].type) != "table_close":
            if kind == "tr_open":
                rows.append([])
            elif kind == "th_open":
                header.append(self._inline(at + 1))
            elif kind == "td_open":
                rows[-1].append(self._inline(at + 1))
            at += 1
        body = [cells for cells in rows if cells]
        if has_labels([header, *body], marked=True):
            Head((), (), 0, labels=True).add(self._builder, [header, *body])
        else:
            self._builder.table(body, header)
        return at + 1


def _opened(html: str) -> int:
    """How many tables and lists are open after a piece of HTML."""
    return sum(-1 if close else 1 for close in _CONTAINERS.findall(html))


FORMATS = (
    Format(
        "Markdown",
        (".md", ".markdown"),
        read_markdown,
        "markdown-it-py, mdit-py-plugins",
        "front matter, headings and their anchors, lists (lettered ones too), tables, code, quotations, definitions, "
        "footnotes, asides, HTML",
        "addresses of links, pictures that stand alone, icons, comments, template tags, shortcodes but for the names of "
        "variables",
    ),
    Format(
        "MDX",
        (".mdx",),
        read_markdown,
        "markdown-it-py, mdit-py-plugins",
        "as Markdown; the text inside components and their titles",
        "imports, exports, expressions, comments",
    ),
)
