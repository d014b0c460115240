"""The options that subcommands share, with their checks: settings, index folder, profile; errors become one line."""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
import msgspec

from bus.transport.security import without_user
from bus.wire.errors import Failure, Unavailable
from index.errors import IndexProblem, remedy
from index.model import Groups
from runtime.measure.lines import BadLine
from runtime.processes.state_folder import RESTORE_NOTE, state_folder
from runtime.settings import Settings, SettingsError, load
from runtime.terminal import one_line, say

if TYPE_CHECKING:
    from groundwire import client

    from index.build.opening import Index

#: A path of any kind, a file that is there, and one that may be written.
PATH = click.Path(path_type=Path)
FILE, NEW_FILE = click.Path(path_type=Path, exists=True, dir_okay=False), click.Path(path_type=Path, dir_okay=False)
_WEB = ("http://", "https://")


#: The folder of an index, or its URL on OpenSearch.
type Place = Path | str


class IndexAt[T](click.ParamType[T]):
    """Where an index is. `read` gets the folder or the URL, and raises IndexProblem for one that the command cannot use."""

    def __init__(self, name: str, read: Callable[[Place], T]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> T:
        text = str(value)
        # As a script's unset variable names it, an empty name would be the folder that it runs in.
        if not text.strip():
            self.fail("the name is empty; name a folder, or . for this one", param, ctx)
        try:
            return self._read(text if text.startswith(_WEB) else Path(text))
        except IndexProblem as problem:
            self.fail(str(problem), param, ctx)


def _folder(place: Place) -> Path:
    if isinstance(place, str):
        raise IndexProblem(f"{without_user(place)} is no folder, which this command needs")
    return place


def _index(place: Place) -> "Index":
    """The index there; user, password and CA of a URL are settings."""
    from index.build.opening import LocalIndex
    from runtime.index_of import index_of

    return LocalIndex(place) if isinstance(place, Path) else index_of(over_index(read_settings(), place).index)


#: Of commands that want a folder, that ask an index, and that work on it.
INDEX_FOLDER_PLACE, INDEX_PLACE = IndexAt("folder", _folder), IndexAt[Place]("folder or url", lambda place: place)
INDEX_ADDRESS = IndexAt("folder or url", _index)
CONFIG = click.option("--config", type=PATH, help="The groundwire.toml to read.")


class OneName(click.Option):
    """An option with an earlier name that scripts may still use; the help shows the first alone."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.opts, every = self.opts[:1], self.opts
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = every


#: For commands that work on the index itself.
INDEX_FOLDER = click.option(
    "--index", "--out", "directory", cls=OneName, type=INDEX_FOLDER_PLACE, required=True, help="Folder of the index."
)
#: For those that work on one over OpenSearch, too.
INDEX_ANYWHERE = click.option(
    "--index",
    "--out",
    "index",
    cls=OneName,
    type=INDEX_ADDRESS,
    required=True,
    help="Folder of the index, or its URL on OpenSearch.",
)
SNAPSHOT = click.option("--snapshot", "name", help="Use this snapshot instead of the current one.")
#: For commands that want a folder; the journal is next to it.
BUILT_INDEX = click.option("--index", type=INDEX_FOLDER_PLACE, required=True, help="Folder made by `index build`.")
_ANY_PLACE = "Folder made by `index build`, or its URL on OpenSearch."
#: For commands that ask questions.
SERVED_INDEX = click.option("--index", type=INDEX_PLACE, required=True, help=_ANY_PLACE)
#: For commands that ask a server, or an index of this machine.
ASKED_INDEX = click.option("--index", type=INDEX_PLACE, help=_ANY_PLACE)
URL = click.option("--url", metavar="URL", help="Ask the server there, as http://127.0.0.1:8080, in place of --index.")
#: For how long a server that does not answer is asked again, in seconds.
PATIENCE_S = 15.0
#: For commands about recorded runs.
ASKED_OVER = click.option("--index", type=INDEX_PLACE, help="Index that the run was asked over.")


def read_settings(config: Path | None = None, *, index: "Place | None" = None) -> Settings:
    """The settings in force, with the command line's on top. Raises click.UsageError."""
    with usage_errors(SettingsError):
        settings = load(config)
    if index is not None:
        settings = over_index(settings, index)
    _finish_restore(settings)
    if settings.profiles and not Path(settings.profiles).is_dir():
        raise click.UsageError(f"profiles: there is no folder {settings.profiles}")
    _check_prompts(settings.profiles)
    return settings


def _check_prompts(folder: str) -> None:
    """Raises click.UsageError for an own prompt that cannot be used."""
    own = sorted({path.parent for path in Path(folder).rglob("*.prompt")}) if folder else []
    if own:
        from prompts.library import problems_in

        if problems := list(problems_in(own)):
            raise click.UsageError("; ".join(problems[:3]))


def _finish_restore(settings: Settings) -> None:
    """Raises click.ClickException."""
    with contextlib.suppress(Unavailable, OSError):  # reported where the state is needed
        state = state_folder(settings)
        if not (state / RESTORE_NOTE).exists():
            return
        from runtime.backup.replacing import finish_killed

        with one_line_errors(Failure):
            if finish_killed(state):
                say("a restore that was killed is finished now", err=True)


def over_index(settings: Settings, index: "Place") -> Settings:
    where = {"url": index, "dir": ""} if isinstance(index, str) else {"url": "", "dir": str(index.resolve())}
    return msgspec.structs.replace(settings, index=msgspec.structs.replace(settings.index, **where))


def over_bucket(settings: Settings, bucket: str | None) -> Settings:
    """The same settings with the index of a bucket, if one is named. Raises click.UsageError."""
    if bucket is None:
        return settings
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", bucket):
        raise click.UsageError(f"{bucket!r:.80} is no name of a bucket; take letters, digits, - and _")
    return msgspec.structs.replace(settings, index=msgspec.structs.replace(settings.index, bucket=bucket))


def own_folder[**P, R](what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The option --folder of a command about the owner's profiles or prompts; None without such a folder."""

    def given(ctx: click.Context, param: click.Parameter, folder: Path | None) -> Path | None:
        return folder or (Path(setting) if (setting := read_settings().profiles) else None)

    kind = click.Path(path_type=Path, exists=True, file_okay=False)
    return click.option("--folder", type=kind, callback=given, help=f"{what}  [default: the setting `profiles`]")


def end_if_wrong(problems: Sequence[str]) -> None:
    """Print one problem per line; exit with status 2 if there is any."""
    for problem in problems:
        say(one_line(problem), err=True)
    if problems:
        raise SystemExit(2)


def check_profile(name: str, settings: Settings) -> None:
    """Raises click.UsageError, naming the nearest profile, when there is none of that name."""
    from prompts import profiles

    with usage_errors(profiles.ProfileError):
        profiles.load(name, Path(settings.profiles) if settings.profiles else None)


def check_place(index: "Place | None", url: str | None, config: Path | None, groups: Groups) -> None:
    """Raises click.UsageError unless it is either an index or a server that is asked."""
    if (index is None) == (url is None):
        raise click.UsageError("say what to ask: --index FOLDER for an index, or --url URL for a server")
    if url is None:
        return
    if not _is_web_address(url):
        raise click.UsageError(f"--url {url} is no address of a server; write it as http://127.0.0.1:8080")
    if config is not None or groups is not None:
        raise click.UsageError("--config and --group are for an index; a server has its own, and a key its groups")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return url.startswith(_WEB) and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, a port that is none
        return False


def check_index(directory: "Place") -> "Place":
    """The folder, if it holds an index; a URL is checked later. Raises click.UsageError with the remedy."""
    if isinstance(directory, str):
        from index.build.opening import index_at

        with usage_errors(IndexProblem):
            index_at(directory)
        return directory
    if not (directory / "current").exists():
        what = "does not exist" if not directory.exists() else "holds no index"
        raise click.UsageError(f"{directory} {what}; {remedy(directory)}")
    return directory


@contextmanager
def one_line_errors(*more: type[Exception]) -> Iterator[None]:
    """A fault of an index or a JSONL file, or one of these, becomes the command's one-line error, with exit code 1."""
    known: tuple[type[Exception], ...] = (IndexProblem, BadLine, *more)
    try:
        yield
    except known as problem:
        raise click.ClickException(" ".join(str(problem).split())) from problem


@contextmanager
def usage_errors(*known: type[Exception]) -> Iterator[None]:
    """One of these becomes a usage error, with exit code 2."""
    try:
        yield
    except known as problem:
        raise click.UsageError(str(problem)) from None


@contextmanager
def server(url: str) -> "Iterator[client.BlockingClient]":
    """The server there, to be asked. Raises click.ClickException."""
    from groundwire import client  # an index needs no HTTP

    with one_line_errors(client.GroundwireError), client.BlockingClient(url, patience_s=PATIENCE_S) as asked:
        yield asked
