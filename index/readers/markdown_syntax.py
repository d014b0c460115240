"""Markdown as it is written in documentation: CommonMark with tables, footnotes, definition lists, and four families of asides.

The asides are containers (`:::tip Title`), indented ones (`!!! note "Title"`, `=== "Tab"`), GitHub's alerts (`> [!NOTE]`)
and components or template tags on lines of their own. Their titles and bodies are read as ordinary text.
"""

import itertools
import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from index.readers.formats import roman
from index.readers.markdown_inline import is_quick
from index.readers.templating import FIRST, LAST, PRIVATE

#: Deeper than this nothing is a structure any more.
_NESTING = 100
_DEFINITION = re.compile(r"^[ \t>]*[:~][ \t]", re.MULTILINE)
_ANCHOR = re.compile(
    r"[ \t]*(?:\{(?:#([^\s{}]+)|[:.][^{}\n]*?#([\w-]+)[^{}\n]*|/\*\s*#?([^\s*{}]+)\s*\*/)\}|\[#([^\]\s]+)\])[ \t]*(?=\n|$)"
)
_NAMED = re.compile(r"<a\s[^<>]*?\b(?:id|name)=\"([^\"]+)\"[^<>]*>\s*</a>")
_ALERT = re.compile(r"\[!\w+\][+-]?[ \t]*")
_CONTAINER = re.compile(r":{3,}[ \t]*(?:\{?[\w-]*\}?)?(?:\[([^\]]*)\])?[ \t]*([^\n]*)")
_ATTRIBUTES = re.compile(r"[ \t]*\{[^{}]*\}[ \t]*$")
_INDENTED = re.compile(
    r"(?:!!!|\?\?\?\+?|===[+!]?)[ \t]+(?=[\w\"'])(?P<names>[^\"\n]*)(?:\"(?P<title>[^\n]*)\")?[ \t]*$"
)
_NOTICE = re.compile(r"!{1,4}(?:[ \t]+|$)")
_DIRECTIVE = re.compile(
    r"\[[a-z][\w-]*(?:[ \t]+[\w-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s\]]+))?)*[ \t]+[\w-]+=[^\]\n]*\]|\[\[?_?toc_?\]\]?|\[cut\]",
    re.IGNORECASE,
)
#: A list's letter or small Roman number: one that begins a list, or that follows one before it.
_LETTERED = re.compile(r"([a-z]|[ivx]{2,5})[.)] {1,4}(?=[^ \n])(?![A-Z]\.)")
_FIRST_LETTERS = ("a", "i")
_EARLIER = {(chr(one + 1), chr(one)) for one in range(ord("a"), ord("z"))} | {
    (roman(n + 1), roman(n)) for n in range(30)
}
#: A line of nothing but pictures, which may be links.
_PICTURE = r"\[?!\[[^\[\]]*+\](?:\((?:[^()]|\([^()]*+\))*+\)|\[[^\[\]]*+\])(?:\]\([^()]*+\))?|<img\b[^<>]*+>"
_PICTURES = re.compile(rf"[\s{PRIVATE}]*+(?:(?:{_PICTURE})[\s{PRIVATE}]*+)++")
#: An icon of a site's theme, by its name.
_ICON = re.compile(r"(?<![`\w]):(?:material|octicons|simple|fontawesome)((?:-[a-z0-9]++)++):")
#: So many brackets may be open within one another.
_BRACKETS = 100
_ALONE = re.compile(rf"[{PRIVATE}\s]+")
_ENDS_PARAGRAPH: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def parser(text: str, *, mdx: bool) -> MarkdownIt:
    """The parser for a text, without the rules that nothing in it calls for: each is asked at every line.

    In MDX an indented block is never code.
    """
    return _parser(mdx, "[^" in text or "^[" in text, _DEFINITION.search(text) is not None)


@cache
def title_parser() -> MarkdownIt:
    """A title is Markdown, but a tag in it is what it is about."""
    return MarkdownIt("commonmark", {"html": False}).disable("text_join")


@cache
def _parser(mdx: bool, footnotes: bool, definitions: bool) -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"maxNesting": _NESTING}).enable(["table", "strikethrough"])
    if footnotes:
        markdown.use(footnote_plugin, move_to_end=False)
    if definitions:
        markdown.use(deflist_plugin)
    else:  # no line that begins with a letter is anything but text
        markdown.block.ruler.before("table", "plain", _plain)
    markdown.block.ruler.before("fence", "aside", _aside, _ENDS_PARAGRAPH)
    markdown.core.ruler.before("inline", "anchors_and_alerts", _anchors_and_alerts)
    markdown.core.ruler.before("inline", "pictures_and_icons", _pictures_and_icons)
    markdown.core.ruler.at("inline", _slow_lines)
    markdown.disable("text_join")  # an escaped mark stays apart from a leftover mark
    return markdown.disable("code") if mdx else markdown


def _slow_lines(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            if _is_deep(token.content):
                token.children.append(Token("text", "", 0, content=token.content))
            elif not is_quick(token.content):
                state.md.inline.parse(token.content, state.md, state.env, token.children)


def _pictures_and_icons(state: StateCore) -> None:
    """Leave out icons, and the text in place of a picture that stands alone: it is not what the document says."""
    for before, token in itertools.pairwise(state.tokens):
        if token.type != "inline":
            continue
        text = token.content
        if before.type == "paragraph_open" and ("![" in text or "<img" in text):
            text = "\n".join(line for line in text.split("\n") if not _PICTURES.fullmatch(line))
        if ":" in text:
            seen = _ICON.sub("", text)
            text = (
                _ICON.sub(_words, text) if _ALONE.fullmatch(seen + " ") else seen
            )  # alone, in a cell, it says something
        token.content = text.strip()


def _words(icon: re.Match[str]) -> str:
    return icon[1].replace("-", " ").strip()


def _is_deep(text: str) -> bool:
    """Whether brackets are open within brackets beyond _BRACKETS: each costs the parser as much as a whole line."""
    if text.count("[") <= _BRACKETS:
        return False
    depths = itertools.accumulate((letter == "[") - (letter == "]") for letter in text if letter in "[]")
    return max(depths) > _BRACKETS


def read_lines(markdown: MarkdownIt, tokens: Sequence[Token], env: EnvType) -> None:
    """Parse the lines that `_slow_lines` has left for `quickly`."""
    for token in tokens:
        if token.type == "inline" and not token.children:
            token.children = markdown.inline.parse(token.content, markdown, env, [])


def _anchors_and_alerts(state: StateCore) -> None:
    """Take a heading's anchor and an alert's name out of their text."""
    tokens = state.tokens
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            inline = tokens[at + 1]
            if match := _NAMED.search(inline.content):
                token.meta["anchor"] = match[1]
            elif inline.content[-1:] in ("}", "]") and (match := _ANCHOR.search(inline.content)):
                token.meta["anchor"] = next(filter(None, match.groups()))
                inline.content = inline.content[: match.start()] + inline.content[match.end() :]
        elif token.type == "blockquote_open" and at + 2 < len(tokens) and tokens[at + 2].type == "inline":
            inline = tokens[at + 2]
            if match := _ALERT.match(inline.content):
                token.meta["alert"] = True
                title, _, body = inline.content[match.end() :].partition("\n")
                inline.content = f"{title}  \n{body}" if title.strip() else body


def _aside(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """One rule for the asides of all families: the first character names the family's own rule."""
    if state.level >= _NESTING - 4 and not silent:  # the parser would drop text below its limit
        _paragraph(state, state.getLines(start, end, state.blkIndent, False), start)
        state.line = end
        return True
    at = state.bMarks[start] + state.tShift[start]
    if at >= state.eMarks[start]:
        return False
    first = state.src[at]
    rule = _RULES.get(first) or (_set_apart if FIRST <= ord(first) <= LAST else _lettered)
    return not state.is_code_block(start) and rule(state, start, end, silent)


def _plain(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph whose lines begin with letters: such a paragraph skips the other rules.

    Where one of its lines may underline a heading or a table's header, it is left to them.
    """
    if state.level >= _NESTING - 4 or state.is_code_block(start) or not _first(state, start).isalpha():
        return False
    if _letter(state, start):
        return False
    rules, parent, after = state.md.block.ruler.getRules("paragraph"), state.parentType, start + 1
    state.parentType = "paragraph"
    while after < state.lineMax and (first := _first(state, after)):
        if (not first.isalpha() or _letter(state, after)) and 0 <= state.sCount[after] <= state.blkIndent + 3:
            if first in "-=|:" and state.sCount[after] >= state.blkIndent:
                state.parentType = parent
                return False
            if any(rule(state, after, state.lineMax, True) for rule in rules):
                break
        after += 1
    state.parentType = parent
    opening = state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    opening.map = inline.map = [start, after]
    inline.content, inline.children = mdTrim(state.getLines(start, after, state.blkIndent, False)), []
    state.push("paragraph_close", "p", -1)
    state.line = after
    return True


def _first(state: StateBlock, line: int) -> str:
    """The first character of a line that is not white space, if there is one."""
    at = state.bMarks[line] + state.tShift[line]
    return state.src[at] if at < state.eMarks[line] else ""


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _paragraph(state: StateBlock, text: str, line: int) -> None:
    if not text.strip():
        return
    opening = state.push("paragraph_open", "p", 1)
    opening.map, opening.meta = [line, line + 1], {"apart": True}
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = text.strip(), [line, line + 1], []
    state.push("paragraph_close", "p", -1)


def _set_apart(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line of nothing but tags, or from one tag to another, is a block of its own."""
    line = _line(state, start).rstrip()
    original: dict[int, str] = state.env["original"]
    first = original.get(ord(line[0]), "")
    value = first.startswith("{{") and first[2:3] not in ("<", "%")
    if value or not (_ALONE.fullmatch(line) or (first[:1] == "<" and FIRST <= ord(line[-1]) <= LAST)):
        return False
    if not silent:
        _paragraph(state, line, start)
        state.line = start + 1
    return True


def _container(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`:::tip Title` shows its title, `:::` nothing; the text between them is read without them."""
    line = _line(state, start)
    if not line.startswith(":::"):
        return False
    if not silent:
        match = _CONTAINER.match(line)
        title = (match[1] or _ATTRIBUTES.sub("", match[2])) if match else ""
        _paragraph(state, title, start)
        state.line = start + 1
    return True


def _indented(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`!!! note "Title"`, `??? note`, `=== "Tab"`: the indented text below belongs to it."""
    line = _line(state, start)
    if line[:3] not in ("!!!", "???", "==="):
        return _notice(state, start, end, silent)
    match = _INDENTED.fullmatch(line)
    below = state.skipEmptyLines(start + 1)
    holds = below < end and state.sCount[below] - state.blkIndent >= 4
    if not match or (line[0] == "=" and match["title"] is None) or not (holds or match["title"] or line[0] == "?"):
        return _notice(state, start, end, silent)
    if silent:
        return True
    _paragraph(state, match["title"] or "", start)
    after = start + 1
    while after < end and (state.isEmpty(after) or state.sCount[after] - state.blkIndent >= 4):
        after += 1
    parent, state.parentType = state.parentType, "container"
    last, state.lineMax = state.lineMax, after
    state.blkIndent += 4
    state.md.block.tokenize(state, start + 1, after)
    state.blkIndent -= 4
    state.parentType, state.lineMax, state.line = parent, last, after
    return True


def _letter(state: StateBlock, line: int) -> re.Match[str] | None:
    """The letter or Roman number that makes the line an item, as pandoc has them."""
    found = _LETTERED.match(state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line])
    seen: set[str] = state.env.setdefault("letters", set())
    begins = found and (found[1] in _FIRST_LETTERS or any((found[1], one) in _EARLIER for one in seen))
    return found if begins else None


def _lettered(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Each lettered item is a list of its own."""
    found = _letter(state, start)
    if not found or silent:
        return found is not None
    state.env["letters"].add(found[1])
    before = state.tShift[start], state.sCount[start], state.blkIndent, state.parentType
    state.push("ordered_list_open", "ol", 1)
    state.push("list_item_open", "li", 1).meta["letter"] = found[0]
    width = len(found[0])
    state.tShift[start] += width
    state.sCount[start] += width
    state.blkIndent, state.parentType = state.sCount[start], "list"
    state.md.block.tokenize(state, start, end)
    state.tShift[start], state.sCount[start], state.blkIndent, state.parentType = before
    state.push("list_item_close", "li", -1)
    state.push("ordered_list_close", "ol", -1)
    return True


def _notice(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines that each begin with exclamation marks: what follows the marks is Markdown."""
    depth = state.env.setdefault("notices", 0)
    if depth > 5 or not _NOTICE.match(_line(state, start)):
        return False
    if silent:
        return True
    lines: list[str] = []
    after = start
    while after < end and (match := _NOTICE.match(_line(state, after))):
        lines.append(_line(state, after)[match.end() :])
        after += 1
    state.env["notices"] = depth + 1
    state.md.block.parse("\n".join(lines), state.md, state.env, state.tokens)
    state.env["notices"] = depth
    state.line = after
    return True


def _directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line such as `[iframe src="…"]` or `[TOC]` puts something there that is not text."""
    line = _line(state, start).rstrip()
    if line[:1] != "[" or line[-1:] != "]" or not _DIRECTIVE.fullmatch(line):
        return False
    if not silent:
        state.line = start + 1
    return True


_RULES = {":": _container, "!": _indented, "?": _indented, "=": _indented, "[": _directive}
