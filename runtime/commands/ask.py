"""`groundwire ask`: ask one question, stream the answer and list its sources, or show the passages that come closest."""

import contextlib
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from bus.wire.errors import Failure, Invalid
from index.java import warm_up
from index.languages import LANGUAGES
from prompts.vocabulary import RELEASES, STYLES, URGENCIES, VOICES
from runtime.commands.filter_options import filter_options, taken_filter, taken_groups
from runtime.commands.options import (
    ASKED_INDEX,
    CONFIG,
    PATIENCE_S,
    URL,
    Place,
    check_index,
    check_place,
    check_profile,
    one_line_errors,
    read_settings,
    usage_errors,
)
from runtime.processes.state_folder import running, state_folder
from runtime.terminal import program

if TYPE_CHECKING:
    from bus.wire.messages import QuestionAsked
    from index.model import Groups
    from runtime.settings import Settings

#: A start that took longer is one that a person would rather have once, in seconds.
SLOW_S = 2.0


@click.command("ask")
@click.argument("question")
@ASKED_INDEX
@URL
@click.option(
    "--profile", default="general", show_default=True, help="Profile to answer under; see `groundwire profiles list`."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON event per line, as in the HTTP stream.")
@click.option("--more", is_flag=True, help="Print the text of all closest passages, not of the best one alone.")
@click.option("--timings", is_flag=True, help="Also print each stage's time beside its budget.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Answer in this language.")
@click.option("--style", type=click.Choice(STYLES), help="Form of the answer.")
@click.option(
    "--release", type=click.Choice(RELEASES), help="When text is shown: per checked sentence, per draft, or per token."
)
@click.option(
    "--voice", type=click.Choice(VOICES), help="How sure an answer must be; else the closest passages are shown."
)
@click.option(
    "--priority", type=click.Choice(URGENCIES), help="Whether a person waits, or a program that lets persons go first."
)
@click.option(
    "--deadline", type=click.FloatRange(min=0.1, max=3600), metavar="SECONDS", help="Give up after this many seconds."
)
@filter_options
@CONFIG
@click.pass_context
def ask_command(
    ctx: click.Context, /, question: str, index: Place | None, url: str | None, config: Path | None, **options: Any
) -> None:
    """Ask QUESTION and stream the checked answer with its sources.

    Over an index of this machine, or with --url over a server; its key is read from GROUNDWIRE_KEY.

    Exit codes: 0 answered, 3 closest passages, refused or declined, 1 failed, 2 usage error.
    """
    form = {name: options.pop(name) for name in ("as_json", "timings", "more")}
    deadline, only, groups = options.pop("deadline"), taken_filter(options), taken_groups(options)
    check_place(index, url, config, groups)
    settings = read_settings(config, index=index and check_index(index))
    fields = {k: v for k, v in options.items() if v is not None}
    asked = question_from({"question": question, "deadline_s": deadline, "filter": only, **fields})
    if url is not None:
        ctx.exit(_ask_server(url, asked, form))
    check_profile(options["profile"], settings)
    places = [option for option in (("--index", index), ("--config", config)) if option[1] is not None]
    up = shlex.join(["up", *(str(word) for option in places for word in option)])
    ctx.exit(_ask_here(settings, asked, groups, form, up))


def _ask_server(url: str, asked: "QuestionAsked", form: dict[str, bool]) -> int:
    import asyncio

    from groundwire.client import Client, GroundwireError

    from runtime.commands.answer_shown import OverHttp, show
    from runtime.commands.consoles import plain_console

    async def ask() -> int:
        async with Client(url, patience_s=PATIENCE_S) as client:
            console = plain_console(stderr=True)
            return await show(OverHttp(client, asked), console=console, **form)

    with one_line_errors(Failure, GroundwireError):
        return asyncio.run(ask())


def _ask_here(settings: "Settings", asked: "QuestionAsked", groups: "Groups", form: dict[str, bool], up: str) -> int:
    """Ask the running stack, or one in this process: its Java starts during the imports, and a terminal shows that it starts.

    `up`: the command that would keep it running.
    """
    import asyncio

    from runtime.commands.consoles import plain_console

    began, starts = time.monotonic(), False
    with contextlib.suppress(Failure):  # reported below
        starts = running(state_folder(settings)) is None
    console = plain_console(stderr=True)
    shown = starts and sys.stderr.isatty() and not form["as_json"]
    with contextlib.ExitStack() as closing:
        status = console.status("starting…", refresh_per_second=4)
        if shown:
            closing.enter_context(status)
        if starts and settings.index.dir:
            with contextlib.suppress(Failure):  # reported below
                warm_up.begin(Path(settings.index.dir), brief=True)
        from runtime.commands.answer_shown import OverBus, at_once, show
        from runtime.processes.nats_server import NoServer
        from runtime.processes.stack import stack_for

        async def ask() -> int:
            with contextlib.closing(closing):
                async with stack_for(settings, say=status.update, alone=True) as runs:
                    took_s = time.monotonic() - began
                    status.update("answering…")
                    over_bus = OverBus(runs, asked, groups, heard=closing.close)
                    told = await show(over_bus, console=console, whole=at_once(settings), **form)
                    if shown and took_s > SLOW_S:
                        kept = f"`{program()} {up}` keeps all running, so that further questions begin within milliseconds."
                        console.print(f"\nStarting took {took_s:.1f} s. {kept}", style="dim", soft_wrap=True)
                    return told

        with one_line_errors(Failure, NoServer):
            return asyncio.run(ask())


def question_from(fields: dict[str, Any]) -> "QuestionAsked":
    """The request these options make. Raises click.UsageError."""
    from bus.wire.messages import QuestionAsked
    from bus.wire.requests import check_text

    with usage_errors(Invalid, msgspec.ValidationError):
        check_text("question", fields["question"])
        return msgspec.convert({k: v for k, v in fields.items() if v is not None}, QuestionAsked)
