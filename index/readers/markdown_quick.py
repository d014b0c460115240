"""Lines of Markdown whose marks can be read in one way only, read without the parser, which is many times slower.

Nine lines in ten are text with at most code, emphasis around words, links and pictures. All others, such as one with a mark
within a word or an escaped one, are for the parser.
"""

import re
from collections.abc import Callable

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
