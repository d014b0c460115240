"""`groundwire diff`: where two runs first differ, and how their answers differ as a result."""

import re

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from actors.pipeline import pipeline
from bus.runs.run_record import RunRecord, ending
from index.languages.characters import HAN, HANGUL
from runtime.commands.consoles import plain_console
from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import trace_of, with_settings
from runtime.replay.difference import Change, Parting, changes, parting
from runtime.replay.trace import Trace
from runtime.settings import Settings
from runtime.terminal import one_line

STYLES: dict[Change, str] = {"same": "", "gone": "red strike", "new": "green"}
MARKS: dict[Change, str] = {"same": " ", "gone": "-", "new": "+"}


#: What a run came to its end by.
FIELDS = ("profile", "confidence", "probability", "re_gate", "rounds", "model", "snapshot", "detail")
_WORD = re.compile(rf"\s+|[{HAN}{HANGUL}]|[^\s{HAN}{HANGUL}]+")


@click.command("diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@ASKED_OVER
@with_settings
@click.pass_context
async def diff_command(ctx: click.Context, first: str, second: str, settings: Settings) -> None:
    """Show where runs A and B differ; each is a run id or a trace file.

    Prints the first record that differs, then answers, citations, flags and times. Exit codes: 0 same messages,
    1 they differ, 2 usage error.
    """
    a, b = await trace_of(first, settings), await trace_of(second, settings)
    ctx.exit(0 if show(a, b, plain_console()) is None else 1)


def show(first: Trace, second: Trace, console: Console) -> Parting | None:
    """Print the differences with minus and plus signs, so that they read without colour too. Returns the first one.

    Raises Poison for a trace without a question.
    """
    one, other, at = first.record, second.record, parting(first, second, pipeline())
    console.print(f"A {one.run_id}  {one_line(one.question)}")
    console.print(f"B {other.run_id}  {one_line(other.question)}")
    if at is None:
        console.print("every message is the same")
    else:
        where = f"at {at.stage}, lane {at.lane}" if at.stage else "in the question"
        console.print(f"\nthe runs differ {where}", style="bold")
        place = f"{at.difference.path}  " if at.difference.path else ""
        console.print(f"  A  {place}{at.difference.recorded}")
        console.print(f"  B  {place}{at.difference.now}")
    for name in FIELDS:
        a, b = getattr(one, name), getattr(other, name)
        if a != b:
            console.print(f"  {name}: {'none' if a in (None, '') else a} -> {'none' if b in (None, '') else b}")
    ends = [ending(record.outcome, record.reason) for record in (one, other)]
    if ends[0] != ends[1]:  # the words of an answer beside those of a refusal tell nothing
        console.print(f"\n{' -> '.join(ends)}", style="bold")
    elif one.answer != other.answer:
        console.print("\nanswer", style="bold")
        console.print(_words(changes(_WORD.findall(one.answer), _WORD.findall(other.answer))))
    elif at is not None:
        console.print("\nthe answer is the same", style="bold")
    for title, lines in (("citations", _citations), ("closest passages", _passages), ("withheld", _flags)):
        rows = changes(lines(one), lines(other))
        if any(change != "same" for change, _ in rows):
            console.print(f"\n{title}", style="bold")
            for change, text in rows:
                console.print(Text(f"{MARKS[change]} {text}", style=STYLES[change]))
    console.print(_times(one, other))
    return at


def _citations(record: RunRecord) -> list[str]:
    lines = (
        f"[{c.n}] {c.source_id} {c.source_start}-{c.source_end}: {one_line(c.cited_text)}" for c in record.citations
    )
    return list(dict.fromkeys(lines))


def _passages(record: RunRecord) -> list[str]:
    return [f"{p.source_id} {p.source_start}-{p.source_end}: {one_line(p.text)}" for p in record.passages]


def _flags(record: RunRecord) -> list[str]:
    return [f"{flag.kind} ({flag.words}) in {one_line(s.text)}" for s in record.withheld for flag in s.flags]


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


def _times(one: RunRecord, other: RunRecord) -> Table:
    """What each stage took over all its lanes; what a fork took over is left out."""
    table = Table("stage", title="times", title_justify="left")
    for name in ("A", "B", "B - A"):
        table.add_column(name, justify="right")
    first, second = (
        {s.stage: sum(t.took_s for t in r.stages if t.stage == s.stage) for s in r.stages} for r in (one, other)
    )
    for stage in dict.fromkeys([*first, *second]):
        a, b = first.get(stage), second.get(stage)
        if a != b:
            by = None if a is None or b is None else b - a
            table.add_row(stage, *("" if s is None else f"{s * 1000:.1f} ms" for s in (a, b, by)))
    return table
