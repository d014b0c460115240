"""Which documents a question or a search may use, by path, tag, language and date: one form for every way in."""

import fnmatch
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from index.languages import LANGUAGES
from index.model import Entry

if TYPE_CHECKING:
    #: One of LANGUAGES, which are known only once the folders of `index/languages` are read.
    _Language = str
else:
    _Language = Literal[LANGUAGES]

#: In characters, of a source id or a pattern.
LONGEST_PATH = 500
_Tag = Annotated[str, Meta(min_length=1, max_length=200)]


class Filter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A document passes when it fits every field that is given; a document without a date does not fit `after`.

    `path`: a source id, or a pattern over source ids as in a .gitignore: `guide/**`, `*.pdf`, a folder's or a file's name.
    `tag`: one tag, or several of which the document has any, in capitals or not. `language`: the document's own, not
    those of single passages. `after`: a date like 2026-01-31; the document is dated on that day or later.
    """

    path: Annotated[str, Meta(min_length=1, max_length=LONGEST_PATH)] | None = None
    tag: _Tag | Annotated[tuple[_Tag, ...], Meta(min_length=1, max_length=50)] | None = None
    language: _Language | None = None
    after: date | None = None


def narrowed(default: Filter | None, asked: Filter | None) -> Filter | None:
    """A default filter with the fields of what was asked for in place of its own; None lets every document pass."""
    if default is None or asked is None:
        return (asked or default) if (asked or default) != Filter() else None
    given = {name: value for name, value in msgspec.structs.asdict(asked).items() if value is not None}
    return msgspec.structs.replace(default, **given)


def predicate(wanted: Filter) -> Callable[[Entry], bool]:
    under = _under(wanted.path) if wanted.path else None
    tags = {tag.casefold() for tag in ((wanted.tag,) if isinstance(wanted.tag, str) else wanted.tag or ())}

    def passes(entry: Entry) -> bool:
        return (
            (under is None or entry.source_id == wanted.path or under(entry.source_id))
            and (not tags or any(tag.casefold() in tags for tag in entry.metadata.tags))
            and (wanted.language is None or entry.language.casefold().partition("-")[0] == wanted.language)
            and (wanted.after is None or _dated(entry, wanted.after))
        )

    return passes


def _under(path: str) -> Callable[[str], bool]:
    """Whether a source id is a file that the pattern names, or is in a folder that it names.

    Name by name, in time linear in the pattern: as one regular expression, a stranger's `*?*?*?*?x` would take seconds.
    """
    names = [name for name in path.split("/") if name]
    # None matches any number of names.
    wanted = [None if name == "**" else re.compile(fnmatch.translate(name)) for name in names]
    if "/" not in path.rstrip("/"):
        wanted.insert(0, None)
    last = len(wanted)

    def reached(places: Iterable[int]) -> set[int]:
        """These positions in the pattern, and those after a `**` at them."""
        results: set[int] = set()
        for position in places:
            at = position
            while at not in results:
                results.add(at)
                at += at < last and wanted[at] is None
        return results

    def passes(source_id: str) -> bool:
        places = reached([0])
        for name in filter(None, source_id.split("/")):
            steps = ((at, wanted[at]) for at in places if at < last)
            places = reached(at + (one is not None) for at, one in steps if one is None or one.match(name))
            if last in places:
                return bool(names)
        return False

    return passes


def _dated(entry: Entry, after: date) -> bool:
    """Whether the document is dated on that day or later; any other text than an ISO date is no date."""
    try:
        return date.fromisoformat(entry.metadata.date[:10]) >= after
    except ValueError:
        return False


def words_of(wanted: Filter) -> str:
    """The filter for people to read: `path guide/**, tag billing / refunds, after 2026-01-31`."""
    tag = wanted.tag if isinstance(wanted.tag, str) or wanted.tag is None else " / ".join(wanted.tag)
    fields = {"path": wanted.path, "tag": tag, "language": wanted.language, "after": wanted.after}
    return ", ".join(f"{name} {value}" for name, value in fields.items() if value is not None)
