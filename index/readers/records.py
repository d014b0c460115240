"""JSONL: one document per line; a broken line is reported and the rest is read.

A line is `{source_id, title, text, url?, language?, author?, date?, version?, replaces?, tags?, groups?}`.
"""

import io
from collections.abc import Iterator
from typing import IO

import msgspec

from index.languages import LANGUAGES
from index.model import Document
from index.readers.formats import Unreadable
from index.readers.front_matter import understood
from index.readers.text import chapters, decode
from index.source_paths import on_the_web, unwritable
from index.source_paths import without_surrogates as clean

_MAX_ID = 400


class _Record(msgspec.Struct):
    source_id: str | int
    text: str
    title: str = ""
    url: str | None = None
    language: str | None = None
    author: object = None
    date: object = None
    version: object = None
    replaces: object = None
    tags: object = None
    groups: str | list[str] | None = None


#: The fields of a record that its metadata is made of.
_ABOUT = ("author", "date", "version", "replaces", "tags", "groups")
_decoder = msgspec.json.Decoder(_Record)


def read_records(file: IO[bytes]) -> Iterator[tuple[int, Document | Unreadable]]:
    """The line number, from 1, and the document or the problem of the line. Empty lines are skipped."""
    head = file.peek(4)[:4] if isinstance(file, io.BufferedReader) else b""
    lines: Iterator[bytes] | IO[bytes] = file
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        lines = io.BytesIO(decode(file.read()).encode())
    for number, line in enumerate(lines, 1):
        stripped = line.removeprefix(b"\xef\xbb\xbf").strip()
        if stripped:
            try:
                yield number, _document(stripped)
            except Unreadable as reason:
                yield number, reason


def _document(line: bytes) -> Document:
    try:
        record = _decoder.decode(line)
    except msgspec.ValidationError as error:
        raise Unreadable(f"not a record ({error}); each line needs source_id and text") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"broken JSON ({error})") from error
    source_id = clean(str(record.source_id)).strip()
    if not source_id or len(source_id) > _MAX_ID or any(map(unwritable, source_id)):
        raise Unreadable(f"source_id must be 1 to {_MAX_ID} characters, none of them a control character")
    if not any(map(str.isalnum, record.text)):
        raise Unreadable("its text is empty", failed=False)
    text = clean(record.text)
    return Document(
        source_id=source_id,
        title=clean(record.title),
        text=text,
        url=on_the_web(record.url or ""),
        language=record.language if record.language in LANGUAGES else None,
        blocks=chapters(text),
        metadata=understood({name: getattr(record, name) for name in _ABOUT}).metadata,
    )
