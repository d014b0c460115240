"""Source code by Pygments: its comments and docstrings as prose, with the lines of the definitions that they describe."""

import re
from pathlib import PurePath
from typing import NamedTuple

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.text import decode

#: Suffix to Pygments' name of the language.
_LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".jsx": "javascript", ".ts": "typescript",
    ".tsx": "typescript", ".java": "java", ".c": "c", ".h": "c", ".cpp": "cpp", ".cc": "cpp", ".hpp": "cpp", ".go": "go",
    ".rs": "rust", ".rb": "ruby", ".php": "php", ".sh": "bash", ".bash": "bash", ".sql": "sql", ".cs": "csharp",
    ".kt": "kotlin", ".swift": "swift", ".scala": "scala", ".lua": "lua", ".pl": "perl", ".ps1": "powershell",
    ".proto": "protobuf",
}  # fmt: skip
_LONGEST_LINE = 5000
_MOST_BYTES = 1_000_000
_LONGEST_SIGNATURE = 8  # lines
#: A line that defines something, in languages of which Pygments does not mark the names.
_DEFINES = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\([\w:]+\))?|unsafe|open|override|"
    r"internal|sealed|data|inline)\s+)*(?:def|class|function\*?|func|fn|interface|trait|struct|enum|type|impl|module|"
    r"namespace|message|service|rpc|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|type))\s+(?:\([^)]*\)\s*)?"
    r"(?P<name>[\w$.]+)",
    re.IGNORECASE,
)
#: A comment's marks before and after it, and before each of its lines.
_OPENS = re.compile(r'^(?:/\*[*!]*|//[/!]*|#[!:]?|--\[\[|--+|=begin|<!--|[rubRUB]{0,2}(?:"""|\'\'\'|"|\'))')
_CLOSES = re.compile(r"(?:\*+/|\]\]|=end|-->|\"\"\"|\'\'\'|\"|\')$")
_LINE = re.compile(r"^\s*(?:\*(?!\*)|//[/!]*|#+|--+)?[ \t]?")
#: Remarks to programs, and lines that only divide.
_NOT_PROSE = re.compile(
    r"^\W*(?:noqa|type:|mypy:|ruff:|pylint:|flake8|fmt:|eslint-|prettier-|@ts-|istanbul ignore|-\*-|vim?:|sourceMappingURL|!/|"
    r"go:|\+build|nolint|NOLINT|clang-|#?region|#?endregion|pragma).*$|^[\W_]*$"
)
_BEGINS = re.compile(r"[-*•@:\\]|\d+[.)]")


class _Comment(NamedTuple):
    start: int
    end: int
    inside: bool  # a docstring, which is inside its definition


def read_code(source: Source) -> Document:
    """Raises Unreadable for what a program wrote: minified or very large files."""
    text = decode(source.data)
    if len(source.data) > _MOST_BYTES or any(len(line) > _LONGEST_LINE for line in text.splitlines()):
        raise Unreadable("minified or generated code: a line over 5,000 characters, or more than 1 MB", failed=False)
    syntax = _LANGUAGES[source.suffix]
    builder = TextBuilder()
    at = 0
    for comment in _comments(text, syntax):
        if comment.inside:
            start = max(at, _definition_before(text, comment.start))
            _add_definition(builder, text[start : comment.start].rstrip(), syntax)
            _add_prose(builder, text[comment.start : comment.end])
            at = comment.end
        else:
            signature = _signature(text, comment.end)
            _add_definition(builder, signature, syntax, text[comment.start : comment.end])
            at = comment.end + len(signature)
    return builder.finish(source.source_id, PurePath(source.source_id).name or source.title)


def _comments(text: str, syntax: str) -> list[_Comment]:
    """The comments, those on lines that follow each other as one, and the docstrings."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, String

    results: list[_Comment] = []
    for start, kind, value in get_lexer_by_name(syntax).get_tokens_unprocessed(text):
        if kind in String.Doc:
            results.append(_Comment(start, start + len(value), inside=syntax == "python"))
        elif kind in Comment and kind not in Comment.Preproc and kind not in Comment.PreprocFile:
            if start == 0 and value.startswith("#!"):
                continue
            end = start + len(value.rstrip())  # some lexers count the line break to the comment
            gap = text[results[-1].end : start] if results else "x"
            if results and not results[-1].inside and not gap.strip() and gap.count("\n") < 2:
                results[-1] = results[-1]._replace(end=end)
            else:
                results.append(_Comment(start, end, inside=False))
    return results


def _definition_before(text: str, end: int) -> int:
    start = end
    for _ in range(_LONGEST_SIGNATURE):
        start = text.rfind("\n", 0, max(0, start - 1)) + 1
        if _DEFINES.match(text, start, end):
            return start
        if start == 0:
            break
    return end


def _signature(text: str, start: int) -> str:
    """What follows a comment, if it defines something: up to where its body begins, with the line break before it."""
    match = re.compile(r"[ \t]*\n(?!\s*\n)(?:[ \t]*@[^\n]*\n)*").match(text, start)
    if match is None or not _DEFINES.match(text, match.end()):
        return ""
    lines: list[str] = []
    for line in text[match.end() :].split("\n", _LONGEST_SIGNATURE)[:_LONGEST_SIGNATURE]:
        lines.append(line)
        if line.rstrip().endswith(("{", ":", ";", "}", "=>", "=")) or not line.strip():
            break
    return text[start : match.end()] + "\n".join(lines)


def _add_definition(builder: TextBuilder, signature: str, syntax: str, comment: str = "") -> None:
    """The definition as a heading, the comment before it, and its line."""
    name = next((match for line in signature.split("\n") if (match := _DEFINES.match(line))), None)
    if name is not None and (comment or signature.strip()):
        builder.add(name["name"], "heading", 1 if not signature.strip("\n")[:1].isspace() else 2)
    _add_prose(builder, comment)
    builder.add(signature.strip("\n"), "code", syntax=syntax)


def _add_prose(builder: TextBuilder, comment: str) -> None:
    lines = [""]
    text = _CLOSES.sub("", _OPENS.sub("", comment.strip()))
    for line in (_LINE.sub("", line).strip() for line in text.split("\n")):
        if _NOT_PROSE.match(line):
            lines.append("")
        elif lines[-1] and not _BEGINS.match(line):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    for line in lines:
        builder.add(line)


FORMATS = (
    Format(
        "Source code",
        tuple(_LANGUAGES),
        read_code,
        "Pygments",
        "comments and docstrings as prose, the lines of the definitions that they describe, their names as headings",
        "all other code; minified files and files over 1 MB",
    ),
)
