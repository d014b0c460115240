"""`groundwire eval sentences` and `eval fitgate`: what the gate does with sentences that people have labelled."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from actors.gate.support import FILE
from runtime.commands.consoles import plain_console
from runtime.commands.eval import save
from runtime.commands.eval_gate import labelled_lines
from runtime.measure.gate_fitting import LeftOut, fit, labelled
from runtime.measure.gate_scores import Sentences, standings

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LABELS = "supported or unsupported"


@click.command("sentences")
@click.option(
    "--file", "sources", type=_FILE, required=True, multiple=True, help="Labelled sentences; several with more."
)
@click.option(
    "--json", "out", type=click.Path(dir_okay=False, path_type=Path), help="Also write the figures to this JSON file."
)
def eval_sentences_command(*, sources: Sequence[Path], out: Path | None) -> None:
    """Measure what becomes of true and of unsupported sentences, by flag and by language.

    Reads JSON lines {"id", "answer", "evidence": [{"n", "text"}], "language", "label"}: one sentence each, labelled
    supported or unsupported. A sentence without marks is read as if it cited all of its evidence.
    """
    found = standings([line for source in sources for line in labelled_lines(source, _LABELS)])
    if out is not None:
        save(out, found)
    console = plain_console(width=96)
    for language, pair in found.items():
        console.print(_table(language, pair))


def _table(language: str, pair: tuple[Sentences, Sentences]) -> Table:
    true, other = pair
    shown = Table(title=f"{language}: share of sentences", title_justify="left")
    for heading in ("", f"supported ({true.sentences})", f"others ({other.sentences})"):
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for name, share in true.standings.items():
        shown.add_row(name, f"{share:.3f}", f"{other.standings[name]:.3f}")
    shown.add_section()
    for kind in sorted({*true.flags, *other.flags}):
        shown.add_row(f"flag: {kind}", f"{true.flags.get(kind, 0):.3f}", f"{other.flags.get(kind, 0):.3f}")
    return shown


@click.command("fitgate")
@click.option(
    "--answers", type=_FILE, required=True, multiple=True, help="Labelled sentences of answers; several with more."
)
@click.option(
    "--pairs", type=_FILE, multiple=True, help="Labelled pairs of sentences, which count less and teach languages."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default=FILE, show_default=False,
    help="Write the weights there instead of into the gate.",
)  # fmt: skip
def eval_fit_gate_command(*, answers: Sequence[Path], pairs: Sequence[Path], out: Path) -> None:
    """Fit the weights by which the gate marks a sentence as unverified, and judge them on sets left out.

    The files are those of `eval sentences`. Files whose names are equal up to the first hyphen are one set, left out together.
    """
    sentences = [
        labelled(line, source.stem.partition("-")[0], of_answer=source in answers)
        for source in (*answers, *pairs)
        for line in labelled_lines(source, _LABELS)
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
