"""The options that say which files of a folder are read and where the folder is published; the index remembers them."""

from collections.abc import Callable

import click

from index.snapshot.roots import Rules


def source_options[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    """Adds --include, --exclude and --base-url."""
    include = click.option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Read only files that match, as in a .gitignore; repeatable. Remembered with the folder; '' ends it.",
    )
    exclude = click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Leave out what matches, as in a .gitignore; repeatable. Remembered with the folder; '' ends it.",
    )
    base_url = click.option(
        "--base-url",
        metavar="URL",
        help="Where the folder is published, for the links of its documents. Remembered; '' ends it.",
    )
    return include(exclude(base_url(command)))


def rules_of(include: tuple[str, ...], exclude: tuple[str, ...], base_url: str | None) -> Rules:
    """Raises click.UsageError."""
    if base_url and not base_url.startswith(("http://", "https://", "/", "file://")):
        raise click.UsageError(f"--base-url {base_url}: write the whole address, as in https://docs.example.org/guide")
    return Rules(include or None, exclude or None, base_url)
