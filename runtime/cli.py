"""The command line; a subcommand is imported only when it is called, so `groundwire --help` loads no index and no bus.

Exit codes: 0 answered or done, 3 closest passages, refused or declined, 1 failed, 2 usage.
"""

import gc
import importlib
import io
import logging
import signal
import sys

import click

from runtime.commands.optional import DEBUGGING, INTEGRATIONS, OPERATIONS, START, Command

#: The commands of the core; plug-ins add theirs. `NAME_group` of a module holds several.
_LINES = {
    START: {
        "demo_command": "Ask three questions in three languages over the demo documents.",
        "index_group": "Build, change and inspect an index.",
        "ask_command": "Ask one question and stream the checked answer.",
        "up_command": "Run the whole stack and serve it over HTTP.",
        "doctor_command": "Check this machine and say how to get what is missing.",
        "search_command": "Search an index without asking a question.",
        "check_command": "Check a text by anyone against your documents.",
    },
    INTEGRATIONS: {
        "profiles_group": "List, show and check profiles.",
        "prompts_group": "List, show and check prompts, also your own.",
    },
    DEBUGGING: {
        "trace_group": "List, show and export recorded runs.",
        "replay_command": "Replay a recorded run through today's code, or fork it at a stage.",
        "diff_command": "Show where two runs differ.",
        "graph_command": "Print the pipeline as a Mermaid flowchart.",
    },
    OPERATIONS: {
        "keys_group": "Make, list and revoke the keys of the HTTP side.",
        "nats_group": "Print how to connect to NATS, and the users of a server of your own.",
        "serve_command": "Run one process of the stack (used by Procfile and `up`).",
    },
}
COMMANDS = {
    name: Command(f"runtime.commands.{name}", attribute, line, heading)
    for heading, lines in _LINES.items()
    for attribute, line in lines.items()
    if (name := attribute.partition("_")[0])
}

#: Collect garbage rarely: messages and modules hold few cycles, and a look for them every 700 allocations costs a tenth of the
#: processor's time.
GARBAGE = (50_000, 20, 20)


class Lazy(click.Group):
    """A group that imports each command on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        row = COMMANDS.get(name) or commands().get(name)
        if row is None:
            return None
        _check_languages()
        command = getattr(importlib.import_module(row.module), row.attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{row.module}.{row.attribute} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, row in commands().items():
            groups.setdefault(row.group, []).append((name, row.line))
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def commands() -> dict[str, Command]:
    """The core's commands, then those of plug-ins, none of them loaded."""
    from index.plugins import installed

    return COMMANDS | {name: entry.load() for name, entry in installed("commands").items() if name not in COMMANDS}


def _check_languages() -> None:
    """Refuse a language that lacks a table, before a command's modules compile its patterns."""
    from index import languages

    try:
        languages.check()
    except languages.LanguageProblem as problem:
        raise click.ClickException(f"index/languages: {problem}") from None


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="groundwire")
def groundwire() -> None:
    """Answer questions over your own documents; every sentence is checked against its evidence before it is shown."""
    from runtime.settings import SettingsError, refuse_unknown_variables
    from runtime.terminal import OneLine

    if logging.lastResort is not None:  # what prints the warnings of a command that sets up no log of its own
        logging.lastResort.setFormatter(OneLine())
    try:
        refuse_unknown_variables()
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _stop(number: int, _: object) -> None:
    """End as if by Ctrl-C, which every command cleans up after. A second signal must not break that off."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    signal.raise_signal(signal.SIGINT)


def _printable() -> None:
    """Print what the output's encoding lacks as escapes, and say so, instead of breaking off."""
    lacking = [
        stream
        for stream in (sys.stdout, sys.stderr)
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8"
    ]
    for stream in lacking:
        stream.reconfigure(errors="backslashreplace")
    if lacking:
        name = lacking[0].encoding
        _say(f"the output is {name}: what that lacks is printed as \\u…; set PYTHONIOENCODING=utf-8")


def _say(line: str) -> None:
    """Print one line on standard error; it may hold names of files and words of a question."""
    from runtime.terminal import one_line, say

    say(one_line(line), err=True)


def main() -> None:
    """The entry point: bad input ends in one line, never in a traceback."""
    gc.set_threshold(*GARBAGE)
    _printable()
    # A script's background job ignores SIGINT, by which SIGTERM ends a command.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        status = groundwire.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(1)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:  # a group alone is asked what it can do
        from runtime.terminal import say

        say(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        hint = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        _say(f"error: {error.format_message()}{hint}")
        sys.exit(2)
    except click.ClickException as error:
        _say(f"error: {error.format_message()}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written: what no command expects
        _say(f"error: {error}")
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)
