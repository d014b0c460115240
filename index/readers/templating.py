"""Markup that is neither Markdown nor text: template tags, shortcodes, components, expressions, imports.

Before Markdown is parsed each such piece becomes one private character, so that it cannot tear a link, a table or a
paragraph. Afterwards the character is nothing, or what the piece shows (the title of a tab), or in code the piece itself.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

#: The first and the last of the private characters.
FIRST, LAST = 0xF0000, 0x10FFFD
PRIVATE = f"{chr(FIRST)}-{chr(LAST)}"

_PIECE = re.compile(rf"[`~{{<{PRIVATE}]|^(?=import\b|export\b)", re.MULTILINE)
#: What begins every piece: that a text has none is seen much sooner by these.
_SIGNS, _WORDS = re.compile(rf"[`~{{<{PRIVATE}]"), ("import", "export")
_RUN = re.compile(r"`+|~+|.", re.DOTALL)
_FENCE_BEFORE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_RAW = re.compile(r"<(script|style|pre|textarea)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_RAW_OPEN = re.compile(r"<(?:script|style|pre|textarea)\b", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TEMPLATE = re.compile(
    r"\{%(?P<liquid>.{0,4000}?)%\}|\{\{(?P<code>[<%].{0,4000}?[%>]|[^{}]{0,2000}(?:\{[^{}]*\}[^{}]*){0,20}|/\*.{0,4000}?\*/)\}\}"
    r"|\{#[ \t\n].{0,4000}?#\}|\{:[^{}\n]*\}|\{\.[\w-][^{}\n]*\}(?=[ \t]*$)"
    # behind a picture, a link or an icon: `{ .small width="400" }`
    r"|(?<=[)\]:])\{(?:[ \t]*+(?:[.#][\w-]++|[\w-]++=(?:\"[^\"\n]*+\"|'[^'\n]*+'|[^\s{}\"']++)))++[ \t]*+\}",
    re.DOTALL | re.MULTILINE,
)
_COMMENTED = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
_ANCHOR = re.compile(r"\{(?:#[^\s{}]+|[:.][^{}\n]*#[^{}\n]*|/\*\s*#?[^\s*{}]+\s*\*/)\}[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[<%\s-]*(/?[\w-]+)")
#: An HTML element with Markdown inside, as Python-Markdown and kramdown have it.
_MARKDOWN_INSIDE = re.compile(r"<[a-z][\w-]*\b[^<>\n]*\bmarkdown(?:=[\"']?(?:1|block|span)[\"']?)?(?=[\s>])[^<>\n]*>")
_IMAGE = re.compile(r"<img\b[^<>]*>", re.IGNORECASE)
_TAG_NAME = re.compile(r"</?(?:[A-Za-z][\w.:-]*)?")
_IN_TAG = re.compile(r"[^\S\n]+|\n(?![ \t]*\n)|[^\s{}\"'<>/]+|\"[^\"]*\"|'[^']*'|/(?!>)")
_IN_BRACES = re.compile(r"[{}]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|/\*.*?\*/", re.DOTALL)
_LITERAL = re.compile(r"\{\s*([\"'`])([^\"'`]*)\1\s*\}")
_SHOWN = re.compile(r"\b(?:title|label|summary|description|header|caption)\s*=\s*(?:\{\s*)?([\"'])(.*?)\1", re.DOTALL)
_LONE = re.compile(r"[\s-]*[\w-]+\s+([\"'])([^\"'/\\]*)\1[\s-]*")
#: A shortcode that shows one variable, by its name: `{{< var glossary.simple-majority >}}`.
_VARIABLE = re.compile(r"[<%]\s*+(?:var|meta|param)\s++[\"']?(?:[\w-]++\.)*+([\w-]++)[\"']?\s*+[%>]")
_IMPORT = re.compile(r"import\s+(?:[\w*$\s,{}]{1,500}?\sfrom\s+)?([\"'])[^\"'\n]+\1[^\n]*")
_EXPORT = re.compile(r"export\s+(?:const|let|var|default|function|async|class|\{|\*|type|interface)")
#: The longest tag or expression, and how far in all the ends of those that never end are searched for in one text.
_LONGEST, _IN_VAIN = 40_000, 1_000_000

#: Tags that HTML reads better than Markdown would.
_HTML = frozenset(
    ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "col", "dl", "dt", "dd", "ul", "ol",
     "li", "pre", "br", "img", "script", "style", "textarea")
)  # fmt: skip
_DROPPED = frozenset(("comment",))
_AS_CODE = frozenset(("highlight", "codeblock"))


class MaskedText(NamedTuple):
    """A text with its markup taken out. Both tables are for `str.translate`."""

    text: str
    shown: dict[int, str]
    original: dict[int, str]


def taken_out(text: str, *, mdx: bool) -> MaskedText:
    """Only where it cannot be code; in MDX also lower-case tags, expressions and exports."""
    if not _SIGNS.search(text) and not any(word in text for word in _WORDS):
        return MaskedText(text, {}, {})
    masker = _Masker(text, mdx=mdx)
    masker.run()
    return MaskedText("".join(masker.parts), masker.shown, masker.original)


class _Masker:
    def __init__(self, text: str, *, mdx: bool) -> None:
        self.parts: list[str] = []
        self.shown: dict[int, str] = {}
        self.original: dict[int, str] = {}
        self._text = text
        self._mdx = mdx
        self._left = _IN_VAIN
        self._inside = False  # an element with Markdown inside was seen
        self._raw = False  # between raw and endraw nothing is a template

    def run(self) -> None:
        text, at = self._text, 0
        done = 0
        while match := _PIECE.search(text, at):
            start = match.start()
            end, visible = self._piece(start)
            if visible is None:
                at = max(end, start + 1)
                continue
            self.parts.append(text[done:start])
            self._mark(text[start:end], visible)
            at = done = end
            if at >= len(text):
                break
        self.parts.append(text[done:])

    def _mark(self, piece: str, shown: str) -> None:
        code = FIRST + len(self.original)
        if code > LAST:
            return
        if shown.startswith("\n~~~"):
            self.parts.append(shown)
            return
        self.parts.append(chr(code))
        self.original[code], self.shown[code] = piece, shown

    def _piece(self, start: int) -> tuple[int, str | None]:
        """Where the piece at `start` ends and what it shows; None: leave it as it is."""
        text, first = self._text, self._text[start]
        if first in "`~":
            return self._code(start), None
        if first in "{<":
            return self._braces(start) if first == "{" else self._tag(start)
        if FIRST <= ord(first) <= LAST:
            return start + 1, first
        if match := _IMPORT.match(text, start):
            return match.end(), ""
        exported = self._mdx and _EXPORT.match(text, start)
        return (self._export(start), "") if exported else (start + 1, None)

    def _code(self, start: int) -> int:
        """The end of a fence or a code span; of the run of marks, when it is neither."""
        text = self._text
        run = _RUN.match(text, start)
        assert run is not None
        line = text.rfind("\n", 0, start) + 1
        if len(run[0]) >= 3 and _FENCE_BEFORE.fullmatch(text, line, start):
            info_end = _line_end(text, start)
            if run[0][0] == "~" or "`" not in text[run.end() : info_end]:
                closing = re.compile(rf"^[ \t>]*{re.escape(run[0])}{re.escape(run[0][0])}*[ \t]*$", re.MULTILINE)
                match = closing.search(text, info_end)
                return match.end() if match else len(text)
        if run[0][0] == "`":
            paragraph = text.find("\n\n", start)
            limit = min(len(text) if paragraph < 0 else paragraph, start + 4000)
            closed = re.compile(rf"(?<!`){run[0]}(?!`)").search(text, run.end(), limit)
            if closed and not _escaped(text, start):
                return closed.end()
        return run.end()

    def _braces(self, start: int) -> tuple[int, str | None]:
        text = self._text
        if _ANCHOR.match(text, start) and _in_heading(text, start):
            return start + 1, None
        if match := _COMMENTED.match(text, start):
            return match.end(), ""
        if match := _TEMPLATE.match(text, start):
            return self._template(match)
        if self._mdx and not _escaped(text, start) and (end := self._ended(_braces_end, start, start)) > 0:
            literal = _LITERAL.fullmatch(text, start, end)
            return end, literal[2] if literal else ""
        return start + 1, None

    def _template(self, found: re.Match[str]) -> tuple[int, str | None]:
        text, inside = self._text, found["liquid"] or found["code"] or ""
        named = _NAME.match(inside) if found["liquid"] is not None or inside[:1] in ("<", "%") else None
        name = named[1].lower() if named else ""
        if self._raw:
            self._raw = name not in ("endraw", "endverbatim")
            return found.end(), None if self._raw else ""
        self._raw = name in ("raw", "verbatim")
        if name in _DROPPED or name in _AS_CODE:
            close = re.compile(rf"\{{(?:%|\{{[<%])[\s-]*(?:end|/\s*){name}\b[^}}]*\}}+")
            if ended := close.search(text, found.end()):
                alone = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
                if name in _DROPPED:
                    return ended.end(), ""
                if alone:
                    return ended.end(), _fenced(
                        inside[inside.index(named[1]) + len(name) :] if named else "", text[found.end() : ended.start()]
                    )
        if variable := _VARIABLE.fullmatch(inside):
            return found.end(), variable[1].replace("-", " ").replace("_", " ")
        return found.end(), self._shown(found[0], found.start(), found.end()) or _lone(found["liquid"] or "", name)

    def _tag(self, start: int) -> tuple[int, str | None]:
        text = self._text
        if text.startswith("<!--", start) or _RAW_OPEN.match(text, start):
            end = self._ended(_raw_end, start, start)
            return end if end > 0 else start + 1, None
        inside = _MARKDOWN_INSIDE.match(text, start) or (_IMAGE.match(text, start) if self._inside else None)
        if inside:
            self._inside = True
            return inside.end(), ""
        named = _TAG_NAME.match(text, start)
        name = named[0].lstrip("</") if named else ""
        if named is None or not (name[:1].isupper() or self._mdx) or name in _HTML or _escaped(text, start):
            return start + 1, None
        if not name and not (self._mdx and text[named.end() : named.end() + 1] == ">"):
            return start + 1, None
        end = self._ended(_tag_end, named.end(), start)
        if end < 0:
            return start + 1, None
        return end, self._shown(text[start:end], start, end) if name[:1].isupper() else ""

    def _ended(self, end_of: Callable[[str, int], int], at: int, start: int) -> int:
        """Where a piece ends; below 0 when it does not, or when too many before it did not."""
        end = end_of(self._text, at) if self._left > 0 else -start - 1
        self._left -= -end - start if end < 0 else 0
        return end

    def _shown(self, piece: str, start: int, end: int) -> str:
        """The titles in a tag that is alone on its lines."""
        text = self._text
        if text[text.rfind("\n", 0, start) + 1 : start].strip(" \t>") or text[end : _line_end(text, end)].strip():
            return ""
        return ". ".join(" ".join(match[2].split()) for match in _SHOWN.finditer(piece))

    def _export(self, start: int) -> int:
        """To the first empty line outside braces."""
        text, at = self._text, start
        while at < len(text):
            brace, end = text.find("{", at), text.find("\n\n", at)
            end = len(text) if end < 0 else end
            if brace < 0 or brace > end:
                return end
            closed = self._ended(_braces_end, brace, brace)
            at = closed if closed > 0 else brace + 1
        return len(text)


def _lone(liquid: str, name: str) -> str:
    """`{% channel "people" %}` shows its one word; a path is no word."""
    match = _LONE.fullmatch(liquid)
    return (
        match[2]
        if match and "." not in match[2] and not name.startswith(("include", "layout", "extends", "block"))
        else ""
    )


def _fenced(options: str, code: str) -> str:
    """A code block of a template language as one of Markdown."""
    syntax = re.match(r"\s*(?:lang:)?([\w+#.-]+)?", options)
    marks = "~" * (max((len(run) for run in re.findall("~+", code)), default=0) + 3)
    body = code.strip("\n")
    return f"\n{marks}{syntax[1] or '' if syntax else ''}\n{body}\n{marks}\n"


def _tag_end(text: str, at: int) -> int:
    """The end of a tag with a name that ends at `at`; without an end, how far it was searched, negated."""
    limit = at + _LONGEST
    while at < min(len(text), limit):
        if text[at] == ">":
            return at + 1
        if text.startswith("/>", at):
            return at + 2
        if text[at] == "{":
            at = _braces_end(text, at)
        else:
            match = _IN_TAG.match(text, at)
            if not match:
                return -at - 1
            at = match.end()
        if at < 0:
            return at
    return -at - 1


def _braces_end(text: str, at: int) -> int:
    """The end of the expression that begins at `at`; when it does not end soon, how far that was looked for, negated."""
    depth, limit = 0, at + _LONGEST
    while match := _IN_BRACES.search(text, at, limit):
        depth += (match[0] == "{") - (match[0] == "}")
        at = match.end()
        if depth == 0:
            return at
    return -min(limit, len(text)) - 1


def _raw_end(text: str, at: int) -> int:
    """The end of a comment or of an element without Markdown inside; the end of the text, negated, when it has none."""
    match = _COMMENT.match(text, at) or _RAW.match(text, at)
    return match.end() if match else -len(text) - 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _in_heading(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at) + 1
    if text[line:at].lstrip(" >").startswith("#"):
        return True
    below = _line_end(text, at) + 1
    return re.match(r" {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)", text[below : below + 200]) is not None


def _escaped(text: str, at: int) -> bool:
    before = text[max(0, at - 9) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
