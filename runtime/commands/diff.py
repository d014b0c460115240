"""`groundwire diff`: where two runs first differ, and how their answers differ as a result."""

import asyncio

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from actors.pipeline import pipeline
from bus.runs.run_record import ending
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import trace_of, with_settings
from runtime.replay.difference import Change, Contrast, contrast
from runtime.settings import Settings
from runtime.terminal import one_line

STYLES: dict[Change, str] = {"same": "", "gone": "red strike", "new": "green"}
MARKS: dict[Change, str] = {"same": " ", "gone": "-", "new": "+"}


@click.command("diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@ASKED_OVER
@with_settings
@click.pass_context
def diff_command(ctx: click.Context, first: str, second: str, settings: Settings) -> None:
    """Show where runs A and B differ; each is a run id or a trace file.

    Prints the first record that differs, then answers, citations, flags and times. Exit codes: 0 same messages,
    1 they differ, 2 usage error.
    """

    async def found() -> Contrast:
        return contrast(await trace_of(first, settings), await trace_of(second, settings), pipeline())

    between = asyncio.run(found())
    show(between, plain_console())
    ctx.exit(0 if between.parting is None else 1)


def show(between: Contrast, console: Console) -> None:
    """Print the differences with minus and plus signs, so that they read without colour too."""
    one, other, parting = between.first, between.second, between.parting
    console.print(f"A {one.run_id}  {one_line(one.question)}")
    console.print(f"B {other.run_id}  {one_line(other.question)}")
    if parting is None:
        console.print("every message is the same")
    else:
        where = f"at {parting.stage}, lane {parting.lane}" if parting.stage else "in the question"
        console.print(f"\nthe runs differ {where}", style="bold")
        place = f"{parting.difference.path}  " if parting.difference.path else ""
        console.print(f"  A  {place}{parting.difference.recorded}")
        console.print(f"  B  {place}{parting.difference.now}")
    for name, a, b in between.fields:
        console.print(f"  {name}: {a or 'none'} -> {b or 'none'}")
    ends = [ending(record.outcome, record.reason) for record in (one, other)]
    if ends[0] != ends[1]:  # the words of an answer beside those of a refusal tell nothing
        console.print(f"\n{' -> '.join(ends)}", style="bold")
    elif any(change != "same" for change, _ in between.answer):
        console.print("\nanswer", style="bold")
        console.print(_words(between.answer))
    elif parting is not None:
        console.print("\nthe answer is the same", style="bold")
    for title, rows in (
        ("citations", between.citations),
        ("closest passages", between.passages),
        ("withheld", between.flags),
    ):
        if any(change != "same" for change, _ in rows):
            console.print(f"\n{title}", style="bold")
            for change, text in rows:
                console.print(Text(f"{MARKS[change]} {text}", style=STYLES[change]))
    console.print(_times(between))


def _words(changes: tuple[tuple[Change, str], ...]) -> Text:
    """An answer with its changes marked in place: [-removed-] and {+added+}."""
    text = Text()
    before: Change = "same"
    ends = {"same": "", "gone": "-]", "new": "+}"}
    begins = {"same": "", "gone": "[-", "new": "{+"}
    for change, word in (*changes, ("same", "")):
        if change != before:
            text.append(ends[before] + begins[change], style="dim")
            before = change
        text.append(word, style=STYLES[change])
    return text


def _times(between: Contrast) -> Table:
    table = Table("stage", title="times", title_justify="left")
    for name in ("A", "B", "B - A"):
        table.add_column(name, justify="right")
    for row in between.times:
        both = None if row.first_s is None or row.second_s is None else row.second_s - row.first_s
        table.add_row(
            row.stage, *(("" if s is None else f"{s * 1000:.1f} ms") for s in (row.first_s, row.second_s, both))
        )
    return table
