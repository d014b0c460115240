"""Fit the weights by which the gate marks a sentence as unverified.

uv run python -m tests.bench.fit_gate --answers FILE --answers FILE [--pairs FILE] [--out FILE]
"""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from actors.gate.support import FILE
from runtime.commands.consoles import plain_console
from runtime.commands.eval import save
from runtime.commands.eval_sentences import labelled_lines
from runtime.commands.options import FILE as JSONL
from tests.bench.fitting.gate import LeftOut, fit, labelled


@click.command()
@click.option(
    "--answers", type=JSONL, required=True, multiple=True, help="Labelled sentences of answers; several with more."
)
@click.option(
    "--pairs", type=JSONL, multiple=True, help="Labelled pairs of sentences, which count less and teach languages."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default=FILE, show_default=False,
    help="Write the weights there instead of into the gate.",
)  # fmt: skip
def main(*, answers: Sequence[Path], pairs: Sequence[Path], out: Path) -> None:
    """Fit the weights by which the gate marks a sentence as unverified, and judge them on sets left out.

    The files are those of `eval sentences`. Files whose names are equal up to the first hyphen are one set, left out together.
    """
    sentences = [
        labelled(line, source.stem.partition("-")[0], of_answer=source in answers)
        for source in (*answers, *pairs)
        for line in labelled_lines(source)
    ]
    if len({one.group for one in sentences if one.supported and one.of_answer and one.signs is not None}) < 2:
        raise click.UsageError("--answers needs supported sentences of two sets: weights of the others judge each set")
    learned, left_out = fit(sentences)
    save(out, learned)
    plain_console(width=96).print(_left_out(left_out))


def _left_out(found: Sequence[LeftOut]) -> Table:
    shown = Table(
        title="each set judged by weights of the others: share of supported / of others", title_justify="left"
    )
    for heading in ("set", "sentences", "withheld", "withheld or marked"):
        shown.add_column(heading, justify="left" if heading == "set" else "right", no_wrap=True)
    for one in found:
        pairs = ("{:.3f} / {:.3f}".format(*shares) for shares in (one.withheld, one.doubted))
        shown.add_row(one.group, str(one.sentences), *pairs)
    return shown


if __name__ == "__main__":
    main()
