"""Where commands about recorded runs read a run from: a trace file or a journal."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from actors.question.profile import PROFILES
from bus.journal.journal import Journal
from bus.runs.runs import NoSuchRun
from bus.transport.connection import connect
from bus.transport.security import without_user
from bus.transport.users import OPERATOR
from bus.wire.errors import Failure, Poison
from bus.wire.subjects import BadId
from index.plugins import installed
from runtime.commands.consoles import plain_console
from runtime.commands.options import CONFIG, check_index, read_settings, usage_errors
from runtime.processes.nats_server import NoServer
from runtime.processes.nats_users import bus_as, bus_at
from runtime.processes.state_folder import running, state_folder
from runtime.processes.supervisor import Stack, StackRunning
from runtime.replay.journal_traces import all_runs, full_id, read_run
from runtime.replay.trace import BrokenTrace, Trace, masked_trace, read
from runtime.settings import Settings
from runtime.suite.cases import BrokenSuite

RUN = click.argument("run_id", metavar="RUN")
RAW = click.option("--raw", is_flag=True, help="Show personal data as it is in the journal.")
FILL = click.option(
    "--fill",
    type=click.Choice(installed("engines")),
    help="The engine for what the record has no reply to, or whose prompt has changed.",
)
#: Errors of the request, the file or the journal: one line and exit code 2, since 1 means that runs differ.
PROBLEMS = (BrokenTrace, BrokenSuite, NoSuchRun, BadId, Poison, Failure, NoServer, StackRunning)
refusing = functools.partial(usage_errors, *PROBLEMS)


def settings_for(index: Path | None, config: Path | None) -> Settings:
    """The settings, checked. Raises click.UsageError."""
    settings = read_settings(config, index=check_index(index) if index is not None else None)
    PROFILES.use(settings.profiles)
    return settings


def is_file(source: str) -> bool:
    """Whether this names a trace file rather than a run."""
    return source.endswith((".jsonl", ".json")) or "/" in source or Path(source).is_file()


def with_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config to a command, and give it the `settings` in place of that and of --index; problems are refused.

    The command may be async.
    """

    @CONFIG
    @functools.wraps(command)
    @refusing()
    def given(*, config: Path | None, index: Path | None, **options: Any) -> Any:
        result = command(settings=settings_for(index, config), **options)
        return asyncio.run(result) if asyncio.iscoroutine(result) else result

    return given


@refusing()
def run[R](work: Callable[[], Coroutine[None, None, R]]) -> R:
    return asyncio.run(work())


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        refuse(f"{place}: cannot be written ({error.strerror or error})")


def refuse(problem: str) -> NoReturn:
    raise click.UsageError(problem.replace("\n", " "))


async def trace_of(source: str, settings: Settings, *, masked: bool = False) -> Trace:
    """A run's trace, from its file or from the settings' journal. Raises the errors in PROBLEMS."""
    if is_file(source):
        trace = read(Path(source))
    else:
        async with journal_of(settings) as journal:
            trace = await read_run(journal, await full_id(journal, source))
    return masked_trace(trace) if masked else trace


async def traces_of(files: Sequence[Path], settings: Settings) -> list[Trace]:
    """The traces in the files; without one, every run of the settings' journal. Raises the errors in PROBLEMS."""
    if files:
        return [read(file) for file in files]
    async with journal_of(settings) as journal:
        return await all_runs(journal)


@contextlib.asynccontextmanager
async def journal_of(settings: Settings) -> AsyncIterator[Journal]:
    """The journal of the stack over the settings' index; starts its nats-server if no stack is running.

    Without an index, the journal at `bus.url`. Raises Unavailable, NoServer, StackRunning, or NoSuchRun if nothing ever ran.
    """
    bus = bus_as(settings, OPERATOR.name)
    async with contextlib.AsyncExitStack() as closing:
        if settings.index.place:
            folder = state_folder(settings)
            if (there := running(folder)) is not None:
                bus = bus_at(folder, there.nats_url, settings.bus)
            elif not (folder / "jetstream").exists():
                where = without_user(settings.index.place)
                raise NoSuchRun(f"no question has been asked over {where} yet; ask one with `groundwire ask`")
            else:
                stack = Stack(settings, folder, ())
                with plain_console(stderr=True).status("starting nats-server…"):
                    await stack.start()
                closing.push_async_callback(stack.stop)
                with contextlib.suppress(OSError):
                    (folder / "stack.json").unlink()  # other commands cannot find it
                bus = stack.settings.bus
        client = await connect(bus, name="groundwire-replay", patience_s=5.0)
        closing.push_async_callback(client.close)
        yield Journal(client)
