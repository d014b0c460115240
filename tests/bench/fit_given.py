"""Fit how probable a choice among passages given with a question is to answer, after tests/bench/fit_choosing.py.

uv run python -m tests.bench.fit_given --set FILE [--set FILE] --out actors/choosing/weights.json

Every set counts the same, and in it the answerable questions ANSWERABLE: whoever gives passages expects an answer in them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from groundwire.wire import Context, ContextMetadata

from actors.choosing.choose import choose, statistics
from actors.choosing.signs import GIVEN, probability, signs
from actors.choosing.units import units_of
from actors.choosing.weights import Weights
from actors.evidence.lanes import given
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from runtime.commands.eval import save
from runtime.commands.options import one_line_errors
from runtime.measure.lines import read
from runtime.measure.questions import GoldQuestion, shows
from tests.bench.fitting.calibrating import Tried, fitted_to

ANSWERABLE: Final = 0.8


@click.command()
@click.option("--set", "sets", required=True, multiple=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(exists=True, path_type=Path), help="Weights to complete.")
def main(*, sets: Sequence[Path], out: Path) -> None:
    """FILE is JSONL as `eval questions` reads it, with `contexts`; an answer without `gold` counts as right."""
    with one_line_errors():
        tried = {file: _tried(read(file, GoldQuestion), file.stem) for file in sets}
        fitted = fitted_to([each for found in tried.values() for each in found], GIVEN)
    weights = msgspec.json.decode(out.read_bytes(), type=Weights)
    save(out, msgspec.structs.replace(weights, given=fitted.calibration, given_bias=fitted.bias))
    click.echo("set: refused of the answerable, refused of the others")
    for file, found in tried.items():
        of = {right: [probability(e.signs, fitted) < 0.5 for e in found if e.right is right] for right in (True, False)}
        click.echo(f"{file.stem}: " + ", ".join(f"{sum(each) / (len(each) or 1):.3f}" for each in of.values()))


def _tried(questions: Sequence[GoldQuestion], name: str) -> list[Tried]:
    found: list[Tried] = []
    for gold in questions:
        contexts = tuple(
            Context(content=text, metadata=ContextMetadata(source_id=str(n)))
            for n, text in enumerate(gold.contexts or ())
        )
        question = resolved(QuestionAsked(question=gold.question, contexts=contexts))
        passages = given(contexts)
        choice = choose(question, passages, statistics((question.text,), units_of(passages)))
        if choice is None:
            continue
        text = "\n".join(passages[at].text[start:end] for at, start, end in choice.slices())
        right = gold.answerable and (not gold.gold or shows(text, gold.gold, gold.gold_also))
        found.append(Tried(name, signs(choice.asked, choice.ranked, choice.shown, passages), right, 1.0))
    share = {right: sum(each.right is right for each in found) for right in (True, False)}
    return [
        Tried(name, e.signs, e.right, 100 * (ANSWERABLE if e.right else 1 - ANSWERABLE) / share[e.right]) for e in found
    ]


if __name__ == "__main__":
    main()
