"""`groundwire index show`: a file as the product sees it, block by block, or cut into passages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from index.documents.access import AccessRules
from index.documents.archives import is_archive
from index.documents.files import MAX_BYTES, RECORDS, unsupported
from index.errors import IndexProblem
from index.model import Document, Groups, narrowed
from index.readers import KNOWN_UNREAD, Source, Unreadable, by_suffix, read, read_records
from index.text.passages import cut
from runtime.commands.options import PATH, one_line_errors
from runtime.terminal import one_line, say, say_json


@click.command("show")
@click.argument("path", metavar="FILE", type=PATH)
@click.option("--passages", "as_passages", is_flag=True, help="Show the passages that it is cut into.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per document, with its whole text.")
def show_command(path: Path, as_passages: bool, as_json: bool) -> None:
    """Print FILE as its reader reads it, block by block: offsets, kind, level, place, headings, introduction, text.

    The file itself is read, not an index. Offsets are characters of the document's text; `groups` are those that the file and
    access.toml name together.
    """
    with one_line_errors():
        rules = AccessRules().groups_for(path.parent.resolve() / path.name)
        for document in _documents(path):
            groups = narrowed((rules, document.metadata.groups or None))
            if as_json:
                cuts = {"passages": cut(document, 0)} if as_passages else {}
                say_json(msgspec.to_builtins(document) | {"groups": groups} | cuts)
                continue
            for line in (*_about(document, groups), *(_passages(document) if as_passages else _blocks(document))):
                say(line)


def _documents(path: Path) -> Iterator[Document]:
    """Raises IndexProblem when there is nothing to show."""
    suffix = path.suffix.lower()
    try:
        if suffix in RECORDS:
            with path.open("rb") as file:
                for number, document in read_records(file):
                    if isinstance(document, Unreadable):
                        say(one_line(f"line {number}: {document}"), err=True)
                    else:
                        yield document
            return
        if path.is_dir() or is_archive(path.name):
            raise IndexProblem(
                f"{path} holds files; 'index build' reads them all, 'index show' reads one unpacked file"
            )
        if suffix in KNOWN_UNREAD:
            raise IndexProblem(f"{path}: {unsupported(path.name)}")
        if suffix not in by_suffix():
            known = " ".join(sorted({*by_suffix(), *RECORDS}))
            raise IndexProblem(f"{path}: unsupported file type {suffix or '(no suffix)'}; read are {known}")
        if path.stat().st_size > MAX_BYTES:
            raise IndexProblem(f"{path} is over the limit of {MAX_BYTES // 1024**2} MB; split it")
        yield read(Source(path.read_bytes(), path.name, path.stem.replace("_", " "), suffix))
    except Unreadable as reason:
        raise IndexProblem(f"{path}: {reason}") from None
    except OSError as error:
        raise IndexProblem(f"{path} cannot be read ({error.strerror})") from None


def _about(document: Document, groups: Groups) -> Iterator[str]:
    about = msgspec.to_builtins(document.metadata)
    if groups is not None:
        about["groups"] = groups or "(nobody)"
    first = {
        "title": document.title,
        "url": document.url,
        "language": document.language or "",
        "pages": len(document.pages) or "",
        "characters": len(document.text),
        "blocks": len(document.blocks),
    }
    yield one_line(document.source_id)
    for name, value in (first | about).items():
        if value not in ("", (), [], False):
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            yield f"  {name}: {one_line(shown)}"
    yield ""


def _blocks(document: Document) -> Iterator[str]:
    path: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading":
            path = [above for above in path if above[0] < block.level]
        number = max(((at, page) for at, page in document.pages if at <= block.start), default=(0, 0))[1]
        page = f"page {number}" if number else ""
        place = (page, block.anchor and f"#{block.anchor}", " > ".join(title for _, title in path))
        facts = (f"{block.start}-{block.end}", block.kind, str(block.level or ""), block.syntax, *place)
        yield one_line(" · ".join(filter(None, facts)))
        if block.intro is not None:
            yield _fit(f"after: {document.text[slice(*block.intro)]}")
        text = document.text[block.start : block.end]
        yield from map(_cut, text.splitlines()) if block.kind == "code" else [_fit(text)]
        if block.kind == "heading":
            path.append((block.level, " ".join(document.text[block.start : block.end].split())[:60]))


def _passages(document: Document) -> Iterator[str]:
    for passage in cut(document, 0):
        page = f"page {passage.page}" if passage.page else ""
        place = (page, passage.anchor and f"#{passage.anchor}", " > ".join(passage.headings))
        facts = (f"{passage.char_start}-{passage.char_end}", f"passage {passage.number + 1}", passage.language, *place)
        yield one_line(" · ".join(filter(None, facts)))
        for intro in passage.intros:
            yield _fit(f"after: {intro}")
        for block in passage.blocks:
            yield _fit(f"{block.kind}: {document.text[block.start : block.end]}")


def _fit(text: str) -> str:
    """A text as one indented line."""
    return _cut(" ".join(text.split()))


def _cut(line: str) -> str:
    """The line, indented, as far as the terminal is wide."""
    shown, width = f"    {line.rstrip()}", shutil.get_terminal_size((100, 24)).columns
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"
