"""YAML, JSON and TOML: code cut at its outermost keys, comments as prose; a description of an API (OpenAPI) as its prose."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePath

import msgspec

from index.model import Document
from index.readers.building import TextBuilder
from index.readers.decoding import decode
from index.readers.formats import Format, Source
from index.readers.openapi import add_api, is_api
from index.readers.unreadable import Unreadable

_SYNTAX = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}
_MOST_BYTES = 1_000_000
_LOCKS = frozenset(("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "composer.lock"))
_KEYS = {
    "yaml": re.compile(r"[^\s#\-\]}][^#\n]*:(?:\s|$)|---|- "),
    "json": re.compile(r'(?:  |\t)["{\[]'),
    "toml": re.compile(r"\[|[^\s#\]][^=\n]*="),
}
#: Short keys are kept together until they have so many lines.
_LEAST_LINES = 15
_COMMENT = re.compile(r"#+(?:[ \t]?(.*))?")


def read_data(source: Source) -> Document:
    """Raises Unreadable for files with more data than a person reads."""
    name = PurePath(source.source_id).name
    if len(source.data) > _MOST_BYTES:
        raise Unreadable(
            "data of more than 1 MB; put what is to be found in it into a document or a table", failed=False
        )
    if name in _LOCKS:
        raise Unreadable("a list of versions that a program wrote", failed=False)
    text = decode(source.data)
    builder = TextBuilder()
    syntax = _SYNTAX[source.suffix]
    if (parsed := _parsed(text, syntax)) is not None and is_api(parsed):
        title, version = add_api(builder, parsed)
        document = builder.finish(source.source_id, title or name)
        return msgspec.structs.replace(document, metadata=msgspec.structs.replace(document.metadata, version=version))
    if syntax == "json":
        with suppress(
            msgspec.DecodeError, RecursionError
        ):  # with comments, as programs allow in their settings: it is shown as it is
            text = msgspec.json.format(text, indent=2)
    for comment, lines in _pieces(text, _KEYS[syntax]):
        builder.add(comment)
        builder.add(lines, "code", syntax=syntax)
    return builder.finish(source.source_id, name or source.title)


def _parsed(text: str, syntax: str) -> object:
    """What the file holds, if it may be a description of an API."""
    if syntax == "toml" or not re.search(r"""(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:""", text, re.MULTILINE):
        return None
    import yaml

    try:
        parsed: object = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return parsed


def _pieces(text: str, key: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each part with the comment before it; a part begins with an outermost key."""
    comment: list[str] = []
    lines: list[str] = []
    for line in text.split("\n"):
        match = _COMMENT.fullmatch(line)
        if match is not None and (not lines or not lines[-1].strip() or not lines[-1].startswith((" ", "\t"))):
            if lines:
                yield _prose(comment), "\n".join(lines)
                comment, lines = [], []
            comment.append((match[1] or "").strip())
            continue
        if lines and len(lines) >= _LEAST_LINES and key.match(line):
            yield _prose(comment), "\n".join(lines)
            comment, lines = [], []
        lines.append(line)
    yield _prose(comment), "\n".join(lines)


def _prose(comment: list[str]) -> str:
    """A comment's lines as one paragraph, an empty line between two; none of lines that only divide."""
    paragraphs = "\n".join(line if any(map(str.isalnum, line)) else "" for line in comment).split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())


FORMATS = (
    Format(
        "Data",
        tuple(_SYNTAX),
        read_data,
        "PyYAML, msgspec",
        "code cut at the outermost keys, comments, descriptions of paths and schemas in an OpenAPI file",
        "files over 1 MB, lists of versions",
    ),
)
