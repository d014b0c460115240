"""`groundwire gate`: check answers against their evidence; which would the gate withhold, and why?"""

from typing import BinaryIO

import click
import msgspec

from actors.gate.check import check_answer, withholds
from actors.gate.flags import Flag
from runtime.measure.gate_scores import read_lines
from runtime.measure.lines import BadLine
from runtime.terminal import one_line, say, say_json


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    verdict: str
    flags: tuple[Flag, ...]


@click.command("gate")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per answer instead of text.")
@click.option("--file", "source", type=click.File("rb"), default="-", help="Read this file instead of standard input.")
def gate_command(*, as_json: bool, source: BinaryIO) -> None:
    """Check answers against their evidence, without a model.

    Reads JSON lines {"id", "answer", "evidence": [{"n", "text"}]} and prints {"id", "verdict", "flags"} for each; the
    verdict is pass or withhold. A line may require a language with "language".
    """
    try:
        for line in read_lines(source):
            flags = check_answer(line.answer, line.numbered(), language=line.language)
            checked = Checked(id=line.id, verdict="withhold" if withholds(flags) else "pass", flags=flags)
            if as_json:
                say_json(checked)
            else:
                say(_told(checked))
    except BadLine as error:
        raise click.ClickException(str(error)) from None


def _told(checked: Checked) -> str:
    reasons = [f"    {one.strength} {one.kind}: “{one_line(one.words)}” – {one_line(one.why)}" for one in checked.flags]
    return "\n".join([f"{one_line(checked.id)}: {checked.verdict}", *reasons])
