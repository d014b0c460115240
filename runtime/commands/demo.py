"""`groundwire demo`: index the bundled documents and ask three questions about them."""

import asyncio
import shlex
import tomllib
from pathlib import Path

import click
import msgspec
from rich.text import Text

from bus.wire.errors import Failure
from bus.wire.messages import QuestionAsked
from index import languages
from index.build.ingest import bring_in
from runtime import demo
from runtime.commands.answer_shown import OverBus, at_once, show
from runtime.commands.consoles import plain_console
from runtime.commands.options import one_line_errors, over_index, read_settings
from runtime.commands.progress import bars
from runtime.processes.nats_server import NoServer
from runtime.processes.stack import stack_for
from runtime.processes.state_folder import state_home
from runtime.terminal import program

HERE = Path(demo.__file__).parent


class DemoQuestion(msgspec.Struct, kw_only=True):
    """One entry of questions.toml."""

    id: str
    language: str
    profile: str
    kind: str
    text: str
    demo: bool = False


def questions() -> list[DemoQuestion]:
    raw = tomllib.loads((HERE / "questions.toml").read_text(encoding="utf-8"))
    return msgspec.convert(raw["question"], list[DemoQuestion])


@click.command("demo")
@click.option("--timings", is_flag=True, help="Print each stage's time after each answer.")
@click.pass_context
def demo_command(ctx: click.Context, timings: bool) -> None:
    """Index the demo documents, start the stack, and ask three questions in three languages."""
    settings = read_settings()
    index = state_home(settings) / "demo-index"
    console = plain_console(stderr=True)
    with one_line_errors(), bars() as tell:
        report = bring_in(index, [str(HERE / "documents")], only=True, progress=tell)
    held = ", ".join(f"{languages.name_of(name)} {count}" for name, count in sorted(report.languages.items()))
    console.print(f"{report.documents} documents in {index} ({report.passages} passages: {held})", style="dim")
    settings = over_index(settings, index)

    async def ask_all() -> int:
        worst = 0
        with console.status("") as status:
            async with stack_for(settings, say=status.update, alone=True) as runs:
                status.stop()
                for question in (q for q in questions() if q.demo):
                    name = languages.name_of(question.language)
                    console.print(Text.assemble("\n", (name, "bold"), f"  {question.text}\n"))
                    asked = QuestionAsked(question=question.text)
                    told = await show(OverBus(runs, asked), timings=timings, console=console, whole=at_once(settings))
                    worst = max(worst, told)
        return worst

    with one_line_errors(Failure, NoServer):
        status = asyncio.run(ask_all())
    if status == 0:
        place = shlex.quote(str(index))
        console.print(
            f'\nAsk your own:  {program()} ask --index {place} "…"\nor serve it:   {program()} up --index {place}',
            style="dim",
            soft_wrap=True,
        )
    ctx.exit(status)
