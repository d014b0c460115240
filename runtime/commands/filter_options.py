"""The options that choose documents by path, tag, language, date and group, and the line of a source's metadata."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from index.languages import LANGUAGES, spoken
from index.languages.toml_check import problems
from index.model import Groups, group_name

if TYPE_CHECKING:
    from groundwire import client
    from groundwire.wire import About

    from index.filters import Filter

#: The options by the field that they fill.
_OPTIONS = {"path": "--in-path", "tag": "--tag", "language": "--in-language", "after": "--after"}


GROUP = click.option(
    "--group",
    multiple=True,
    metavar="NAME",
    help="Only documents that a key of this group sees; several: of any of them; '': of none.",
)


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command takes their values as `in_path`, `tag`, `in_language`, `after` and `group`."""
    for option in (
        click.option("--after", metavar="DATE", help="Only documents dated on this day or later, as 2026-01-31."),
        click.option("--in-language", type=click.Choice(LANGUAGES), help="Only documents in this language."),
        click.option("--tag", multiple=True, help="Only documents with this tag; several: with any of them."),
        GROUP,
        click.option(
            "--in-path", metavar="PATTERN", help="Only documents under this name: a folder, a file, `guide/**`."
        ),
    ):
        command = option(command)
    return command


def taken_filter(options: dict[str, Any]) -> "Filter | None":
    """The filter that the options make, which are taken out of `options`; None without any. Raises click.UsageError."""
    from index.filters import Filter

    given = {field: options.pop(option.removeprefix("--").replace("-", "_")) for field, option in _OPTIONS.items()}
    fields = {field: list(value) if field == "tag" else value for field, value in given.items() if value}
    if wrong := problems(fields, Filter):
        field, _, what = wrong[0].partition(":")
        raise click.UsageError(f"{_OPTIONS[field.partition('[')[0]]}:{what}")
    return msgspec.convert(fields, Filter) if fields else None


def for_server(only: "Filter | None") -> "client.Filter | None":
    from groundwire import client  # a filter of an index needs no HTTP

    return msgspec.convert(msgspec.to_builtins(only), client.Filter) if only else None


def taken_groups(options: dict[str, Any]) -> Groups:
    """The groups that the options name, which are taken out of `options`; None without any: every document is seen."""
    given = options.pop("group")
    return tuple(filter(None, map(group_name, given))) if given else None


def line_about(about: "About | None", language: str = "") -> str:
    """Author, day, version, and whether the text was read from pictures, in one line; empty when nothing is known."""
    if about is None:
        return ""
    words = spoken(language).page["words"]
    version = f"{words['version']} {about.version}" if about.version else ""
    recognized = words["recognized"] if about.recognized else ""
    day = "" if about.saved else about.date.partition("T")[0]  # a copy's day would read as the text's
    return ", ".join(part for part in (about.author, day, version, recognized) if part)
