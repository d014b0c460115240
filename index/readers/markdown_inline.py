"""The visible text of a line of Markdown: no marks, no addresses, no tags; inline code keeps its backticks.

Nine lines in ten have at most code, emphasis around words, links and pictures: they are read without the parser, which is many
times slower. All others, such as one with a mark within a word or an escaped one, are for the parser.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence

from markdown_it.token import Token

from index.languages.characters import WIDE
from index.readers.templating import PRIVATE

#: Replaces a pair of asterisks that are no mark by CommonMark's rule, as between a bracket and a Korean particle.
_STARS = "\uffff"
_GLUED = re.compile(rf"(?<=[{WIDE}\uff00-\uffef])[ \t]*\0[ \t]*(?=[{WIDE}\uff00-\uffef])")
_BROKEN = re.compile(r"[ \t]*\0[ \t]*")
_SPACES = re.compile(r"[ \t]{2,}|\t")
_AROUND_LINE = re.compile(r"[ \t]*\n[ \t\n]*")
_LEFT_OVER = re.compile(r"\uffff(?=\S)([^\uffff\n]*?\S)\uffff")
_PRIVATE = re.compile(f"[{PRIVATE}]")
_TAG = re.compile(r"</?([a-zA-Z][\w-]*)")
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_LINE_TAGS = frozenset(
    ("br", "hr", "p", "div", "li", "ul", "ol", "dl", "dt", "dd", "tr", "td", "th", "table", "h1", "h2", "h3", "h4",
     "h5", "h6", "summary", "details", "blockquote", "pre", "figcaption")
)  # fmt: skip
_UNSEEN = frozenset(("script", "style"))


class InlineText:
    """The text of inline tokens of one parse; the tables are those of the markup taken out before it."""

    def __init__(self, shown: Mapping[int, str], original: Mapping[int, str]) -> None:
        self._shown = shown
        self._original = original

    def line(self, inline: Token) -> str:
        """The text of an inline token; the parser has not read it if it is quickly read."""
        if inline.children:
            return self.text(inline.children)
        return self._joined(quickly(inline.content, lambda code: _quoted(self.code(code), "`")))

    def text(self, tokens: Sequence[Token]) -> str:
        """Lines that only the file broke are joined."""
        return self._joined("".join(self._parts(tokens)))

    def _joined(self, text: str) -> str:
        if self._shown:
            text = _PRIVATE.sub(lambda found: self._shown.get(ord(found[0]), found[0]), text)
        if _STARS in text:
            text = _LEFT_OVER.sub(r"\g<1>", text).replace(_STARS, "**")
        if BREAK in text:
            text = _BROKEN.sub(" ", text if text.isascii() else _GLUED.sub("", text))
        if "\n" in text:
            text = _AROUND_LINE.sub("\n", text)
        return (_SPACES.sub(" ", text) if "\t" in text or "  " in text else text).strip()

    def code(self, text: str) -> str:
        """Code as the file has it."""
        if not self._original:
            return text
        return _PRIVATE.sub(lambda found: self._original.get(ord(found[0]), found[0]), text)

    def _parts(self, tokens: Sequence[Token]) -> Iterator[str]:
        unseen = ""
        for token in tokens:
            kind, text = token.type, token.content
            if unseen:
                unseen = "" if kind == "html_inline" and text.startswith(f"</{unseen}") else unseen
            elif kind == "text":
                yield text.replace("****", "").replace("**", _STARS) if "**" in text else text
            elif kind == "softbreak":
                yield BREAK
            elif kind == "code_inline":
                yield _quoted(self.code(text), token.markup)
            elif kind == "hardbreak":
                yield "\n"
            elif kind == "text_special":
                yield text
            elif kind == "html_inline":
                match = _TAG.match(text)
                name = match[1].lower() if match else ""
                unseen = name if name in _UNSEEN and text[1] != "/" else ""
                alt = _ALT.search(text) if name == "img" else None
                yield "\n" if name in _LINE_TAGS else (alt[1] or alt[2] or "") if alt else ""
            elif kind == "image":
                yield from self._parts(token.children or ())
            elif kind == "footnote_ref":
                yield f"[{token.meta['id'] + 1}]"


def _quoted(code: str, marks: str) -> str:
    pad = " " if code[:1] == "`" or code[-1:] == "`" else ""
    return f"{marks}{pad}{code}{pad}{marks}"


class Anchors:
    """The ids of a document's headings as GitHub makes them: a repeated one gets `-1`, `-2`."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def of(self, title: str) -> str:
        slug = "".join(filter(_kept, title.strip().lower())).replace(" ", "-")
        number = self._taken.get(slug)
        self._taken[slug] = 0 if number is None else number + 1
        if number is None:
            return slug
        unique = f"{slug}-{number + 1}"
        self._taken.setdefault(unique, 0)
        return unique


def _kept(character: str) -> bool:
    return character in "-_ " or character.isalnum() or unicodedata.category(character)[0] == "M"


#: Replaces a line break of the file; Markdown never has this character.
BREAK = "\0"
#: Text in every position: no mark, an underscore within a word, an ampersand that begins no entity.
_TEXT = r"[^\\`*_\[\]!<&~^]++|(?<=[^\W_])_++(?=[^\W_])|&(?![#\w])|!(?!\[)|(?<!~)~(?!~)"
_CODE = rf"(?<!`)`[^`{BREAK}]++`(?!`)"
_INSIDE = rf"(?:{_TEXT}|{_CODE})*+"
#: An address that the parser takes for a harmless one, and a title.
_TARGET = r"\((?:https?://(?=\w)|(?![\w+.-]+:)(?=[\w./#?-]))[\w./#?=%+,;:@~-]++(?: \"[^\"\\&`<>\0]*\")?\)"
#: Marks that can only open and, after their text, marks that can only close.
_EMPHASIS = "|".join(
    rf"(?<![^ \t(\0]){mark}(?=[^\W_])(?P<{name}>{_INSIDE})(?<=[^\W_]){mark}(?![^ \t.,:;!?)\0])"
    for name, mark in (("strong", r"\*\*"), ("stress", r"\*"), ("bold", "__"), ("italic", "_"))
)
_UNIT = re.compile(rf"{_CODE}|!?\[(?!\^)(?P<label>{_INSIDE})\]{_TARGET}|{_EMPHASIS}")
_LINE = re.compile(re.sub(r"\?P<\w+>", "?:", rf"(?:{_TEXT}|{_UNIT.pattern})*+"))
_CODE_ALONE = re.compile(_CODE)
_MARKS = re.compile(r"[`*_\[]")


def is_quick(line: str) -> bool:
    """Whether `quickly` reads the line, which may be of several, as the parser would."""
    return "  \n" not in line and _LINE.fullmatch(line.replace("\n", BREAK)) is not None


def quickly(line: str, quoted: Callable[[str], str]) -> str:
    """The line without marks and addresses, with BREAK in place of its line breaks; `quoted` is the form of code."""
    line = line.replace("\n", BREAK)
    if not _MARKS.search(line):
        return line

    def code(found: re.Match[str]) -> str:
        content = found[0][1:-1]
        if content[0] == content[-1] == " " and content.strip(" "):
            content = content[1:-1]
        return quoted(content)

    def unit(found: re.Match[str]) -> str:
        return _CODE_ALONE.sub(code, found[found.lastgroup]) if found.lastgroup else code(found)

    return _UNIT.sub(unit, line)
