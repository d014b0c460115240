"""The metadata of a Markdown file before its text: YAML, TOML or JSON at the top, or plain `key: value` lines above a rule.

Broken front matter never costs the document: what can be read line by line is used, and none of it gets into the text. Only
groups that cannot be understood do: no caller may see a document by mistake.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import NamedTuple

from index.languages import LANGUAGES
from index.model import Metadata, group_name
from index.readers.formats import Unreadable

_FENCED = re.compile(
    r"\A\s*?^(?P<mark>---|\+\+\+)[ \t]*(?P<kind>toml|json|yaml)?[ \t]*\n(?P<body>.*?)^(?:(?P=mark)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_FENCELESS = re.compile(
    r"\A(?P<body>(?:[a-z_]+:(?:[ \t][^\n]*)?\n(?:[ \t]+[^\n]*\n)*)+)[ \t\n]*^---[ \t]*(?:\n|\Z)", re.MULTILINE
)
_KEY = re.compile(r"[ \t]*[\"']?([\w][\w .-]*?)[\"']?[ \t]*[:=](?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_DATE = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]+(\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?[ ]*(Z|[+-]\d{2}:?\d{2})?)?"
)

_URLS = ("url", "permalink", "canonical", "canonical_url", "canonicalurl")
_LANGUAGES = ("lang", "language", "locale")
_AUTHORS = ("author", "authors")
_DATES = ("date", "updated", "lastmod", "last_modified", "last_modified_at", "modified", "last_update", "published")
_REPLACES = ("replaces", "supersedes")
_TAGS = ("tags", "categories", "category", "keywords")
_GROUPS = ("groups", "group")
#: A line of front matter that names groups, in what was not understood as front matter.
_NAMES_GROUPS = re.compile(
    r"\A\s*?^(?:---|\+\+\+).{0,4000}?^[ \t]*[\"']?groups?[\"']?[ \t]*[:=]|\A\s*\{.{0,4000}?\"groups?\"\s*:",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


class FrontMatter(NamedTuple):
    """`language` is in LANGUAGES or None; `url` is absolute or empty."""

    title: str = ""
    url: str = ""
    language: str | None = None
    metadata: Metadata = Metadata()


def split(text: str) -> tuple[FrontMatter, str]:
    """The front matter, and the text after it. A thematic break at the top is no front matter.

    Raises Unreadable when it may name groups and they cannot be understood.
    """
    text = text.lstrip("\ufeff")
    front, rest = _split(text)
    if rest is text and _NAMES_GROUPS.match(text):
        raise Unreadable("its front matter names groups and cannot be understood; mend it")
    return front, rest


def split_before_page(text: str) -> tuple[FrontMatter, str]:
    """As `split`, for a page of HTML, which site generators let begin with front matter. Raises Unreadable."""
    return split(text) if text.lstrip("\ufeff \t\n").startswith(("---", "+++")) else (FrontMatter(), text)


def _split(text: str) -> tuple[FrontMatter, str]:
    if match := _FENCED.match(text):
        fields = _read(match["body"], (match["kind"] or ("toml" if match["mark"] == "+++" else "yaml")).lower())
    elif match := _FENCELESS.match(text):
        fields = _read(match["body"], "yaml")
    elif re.match(r"\{\s*(?:\"|\})", text):
        return _split_json(text)
    else:
        return FrontMatter(), text
    return (FrontMatter(), text) if fields is None else (understood(fields), text[match.end() :])


def understood(fields: Mapping[str, object]) -> FrontMatter:
    """The fields that mean something to us, under any of their usual names. Raises Unreadable for groups that are no names."""
    known = {str(name).lower().replace("-", "_"): value for name, value in fields.items()}

    def words(*names: str) -> Iterator[str]:
        for name in names:
            yield from _words(known.get(name))

    codes = (re.split("[-_]", word)[0].lower() for word in words(*_LANGUAGES))
    dates = (moment for word in words(*_DATES) if (moment := iso_date(word)))
    return FrontMatter(
        title=next(words("title"), ""),
        url=next((word for word in words(*_URLS) if re.match("https?://", word)), ""),
        language=next((code for code in codes if code in LANGUAGES), None),
        metadata=Metadata(
            author=", ".join(dict.fromkeys(words(*_AUTHORS))),
            date=max(dates, default=""),
            version=next(words("version"), ""),
            replaces=next(words(*_REPLACES), ""),
            tags=_listed(words(*_TAGS)),
            groups=_groups(known),
        ),
    )


def _groups(known: Mapping[str, object]) -> tuple[str, ...]:
    """Raises Unreadable."""
    given = [known[name] for name in _GROUPS if known.get(name) not in (None, "", [])]
    for one in (one for value in given for one in (value if isinstance(value, list) else [value])):
        if not isinstance(one, str | int) or isinstance(one, bool) or not str(one).strip(" ,"):
            raise Unreadable("its groups are no names; write them as in groups: [sales, board]")
    return tuple(dict.fromkeys(map(group_name, _listed(word for value in given for word in _words(value)))))


def iso_date(text: str) -> str:
    """A date that begins with its year as ISO 8601, a day or a moment; empty when there is none in `text`."""
    match = _DATE.match(text.strip())
    if not match:
        return ""
    year, month, day = (int(match[position]) for position in (1, 2, 3))
    try:
        whole = date(year, month, day).isoformat()
        if match[4]:
            zone = match[5] or ""
            whole = datetime.fromisoformat(
                f"{whole}T{match[4].zfill(5 if match[4].count(':') == 1 else 8)}{zone}"
            ).isoformat()
    except ValueError:
        return ""
    return whole


def _read(body: str, kind: str) -> Mapping[str, object] | None:
    """The fields; None when the lines are prose between two rules and no front matter at all."""
    try:
        if kind == "toml":
            return tomllib.loads(body, parse_float=str)
        return _mapping(json.loads(body) if kind == "json" else _yaml(body))
    except (ValueError, RecursionError):
        pass
    lines = [line for line in body.splitlines() if line.strip()]
    structured = sum(1 for line in lines if _KEY.fullmatch(line) or line[0] in " \t#-[]{}")
    return dict(_by_line(lines)) if lines and _KEY.match(lines[0]) and structured > 0.5 * len(lines) else None


def _yaml(body: str) -> object:
    """Every scalar stays the text it is: a version 1.10 is not the number 1.1. Raises ValueError."""
    import yaml

    try:
        return yaml.load(body, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError("not fields and values")
    return value


def _by_line(lines: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Fields of front matter that no parser takes: `key: value`, a list in brackets or a line an item."""
    name, items = "", list[str]()
    for line in lines:
        if item := _ITEM.fullmatch(line):
            items.append(item[1].strip("\"' "))
        elif match := _KEY.fullmatch(line):
            name, value = match[1], (match[2] or "").strip()
            items = [part.strip("\"' ") for part in value[1:].rstrip("]").split(",")] if value[:1] == "[" else []
            yield name, items or value.strip("\"' ")
            continue
        if name and items:
            yield name, items


def _split_json(text: str) -> tuple[FrontMatter, str]:
    try:
        fields, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return FrontMatter(), text
    rest = text[end:]
    return (understood(_mapping(fields)), rest) if not rest.strip() or rest[0] == "\n" else (FrontMatter(), text)


def _words(value: object) -> Iterator[str]:
    """The texts of a field: itself, each of a list, or the name in a table such as `{name: …, email: …}`."""
    for one in value if isinstance(value, list) else [value]:
        text = (
            next((one[key] for key in ("name", "title", "date") if key in one), None) if isinstance(one, dict) else one
        )
        if isinstance(text, str | int | float | date) and not isinstance(text, bool):
            yield from filter(None, [" ".join(str(text).split())])


def _listed(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for word in words for part in word.split(",") if part.strip()))
