"""Fit the weights by which answers are chosen on question sets, and report how often they are right.

uv run python -m tests.bench.fit_choosing --set FILE=INDEX --set FILE=INDEX --out FILE [--report FOLDER]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec
from rich.table import Table

from actors.choosing.weights import FittedOn, weights
from index.build_job import Tell
from runtime.commands.consoles import plain_console
from runtime.commands.eval import save
from runtime.commands.eval_questions import checked, indexes
from runtime.commands.options import one_line_errors
from runtime.commands.progress import bars
from runtime.measure.lines import BadLine, read
from runtime.measure.questions import GoldQuestion
from tests.bench.fitting.choosing import Example, fit, passage_holds_gold
from tests.bench.fitting.examples import SetLine, examples, gold_of, sampled
from tests.bench.fitting.figures import chosen, scored, tenths
from tests.bench.fitting.report import Fitted, Scored, Sheet, diagram, page, sheets

PAGE, DIAGRAM = "choosing.md", "reliability.svg"


class _Pair(click.ParamType[tuple[Path, Path]]):
    """FILE=INDEX, both of which must exist."""

    name = "FILE=INDEX"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Path, Path]:
        if isinstance(value, tuple):
            return value
        file, separator, index = str(value).rpartition("=")
        if not (file and separator and index):
            self.fail(f"{value} is not FILE=INDEX; write a question set, =, and the folder of its index", param, ctx)
        if not Path(file).is_file():
            self.fail(f"there is no file {file}", param, ctx)
        if not Path(index).is_dir():
            self.fail(f"there is no folder {index}; build an index with `groundwire index build`", param, ctx)
        return Path(file), Path(index)


@dataclass(frozen=True, slots=True)
class _Set:
    """A question set with the index of each of its collections."""

    name: str
    questions: list[GoldQuestion]
    places: dict[str, Path]
    weight: float = 1.0

    def fitted_on(self) -> list[FittedOn]:
        groups: dict[str, list[GoldQuestion]] = {}
        for asked in self.questions:
            groups.setdefault(asked.collection, []).append(asked)
        return [
            FittedOn(
                question_set=self.name,
                collection=collection,
                questions=len(group),
                answerable=sum(asked.answerable for asked in group),
            )
            for collection, group in sorted(groups.items())
        ]


@click.command()
@click.option("--set", "sets", required=True, multiple=True, type=_Pair(), help="A set to fit on; several with more.")
@click.option("--qa", multiple=True, type=_Pair(), help="A question answering set to fit on as well.")
@click.option(
    "--qa-weight",
    default=0.25,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="What a question of such a set counts.",
)
@click.option("--qa-most", default=150, show_default=True, type=click.IntRange(min=1), help="Questions taken of each.")
@click.option("--score", multiple=True, type=_Pair(), help="A set to measure the final weights on, not fitted on.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="File to write the weights to."
)
@click.option("--report", type=click.Path(path_type=Path, file_okay=False), help="Folder to write the report to.")
def main(
    *,
    sets: Sequence[tuple[Path, Path]],
    qa: Sequence[tuple[Path, Path]],
    qa_weight: float,
    qa_most: int,
    score: Sequence[tuple[Path, Path]],
    out: Path,
    report: Path | None,
) -> None:
    """Fit the weights by which answers are chosen, and measure them on collections that they were not fitted on.

    FILE is JSONL as `eval questions` reads it; a line may have "answers" in place of "gold". INDEX is the folder of one
    index, or holds one per collection. At least two collections are needed. The same sets and indexes give the same bytes.
    """
    if not out.absolute().parent.is_dir():
        raise click.ClickException(f"there is no folder {out.parent} for the weights; make it, or choose another path")
    with one_line_errors(), bars() as tell:
        main = [_read(file, index) for file, index in sets]
        beside = [_read(file, index, qa_weight, qa_most) for file, index in qa]
        held = [_read(file, index) for file, index in score]
        _check(main + beside, held)
        found = [_examples(one, tell) for one in main + beside]
        every = [example for group in found for example in group]
        _check_found(every)
        learned, judged, chances = fit(every, lambda done: tell("Fitting", done, 2 * len(every)))
        choices = chosen(judged, chances)
        count = sum(map(len, found[: len(main)]))
        fitted = Fitted(
            fitted_on=tuple(one for group in main + beside for one in group.fitted_on()),
            left_out=tuple(choices[:count]),
            beside=tuple(choices[count:]),
            scored=tuple(
                Scored(one.name, tuple(scored(example, learned) for example in _examples(one, tell))) for one in held
            ),
        )
    console = plain_console(width=120)
    for sheet in sheets(fitted):
        console.print(_table(sheet))
    known = weights()
    save(
        out,
        msgspec.structs.replace(learned, fitted_on=fitted.fitted_on, given=known.given, given_bias=known.given_bias),
    )
    if report is not None:
        _write_report(report, fitted)


def _write_report(folder: Path, fitted: Fitted) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be made ({error.strerror}); choose another folder") from None
    (folder / PAGE).write_text(page(fitted, DIAGRAM).strip() + "\n", encoding="utf-8")
    (folder / DIAGRAM).write_text(diagram(tenths(fitted.left_out)) + "\n", encoding="utf-8")


def _read(file: Path, index: Path, weight: float = 1.0, most: int | None = None) -> _Set:
    """A question set. Raises BadLine for an unreadable one, one without an answerable question, or without an index."""
    name = file.parent.resolve().name if file.stem == "questions" else file.stem
    lines = read(file, SetLine)
    try:
        questions = [gold_of(line, name) for line in lines]
    except msgspec.ValidationError as error:
        raise BadLine(f"{file}: {error}; `history` is a list of objects with q and a") from None
    questions = sampled(checked(questions, file), most)
    if not any(asked.answerable for asked in questions):
        raise BadLine(f"{file} has no answerable question; add some with gold")
    places = indexes(index, questions)
    lacking = sorted({asked.collection for asked in questions} - set(places))
    if lacking:
        raise BadLine(
            f"{index} holds no index of {', '.join(lacking)}; build it with"
            f" `groundwire index build PATH --index {index / lacking[0]}`"
        )
    return _Set(name, questions, places, weight)


def _check(fitted: Sequence[_Set], held: Sequence[_Set]) -> None:
    """Raises BadLine when there are fewer than two collections, or two sets of one name."""
    names = [one.name for one in (*fitted, *held)]
    for name in names:
        if names.count(name) > 1:
            raise BadLine(f"two sets are called {name}; give each file its own name")
    collections = {asked.collection for one in fitted for asked in one.questions}
    if len(collections) < 2:
        raise BadLine(
            f"all questions are about one collection, {collections.pop()}; each is judged by weights fitted without it, so"
            " add a set with another"
        )


def _check_found(every: Sequence[Example]) -> None:
    """Raises BadLine when without one collection there is nothing to learn from."""
    telling = {
        example.collection
        for example in every
        if any(passage_holds_gold(example.question, passage) for passage in example.passages)
    }
    if len(telling) < 2:
        where = f"collection but {telling.pop()}" if telling else "collection at all"
        raise BadLine(
            f"the search finds an answer in no {where}; check that each index is of the documents that its questions are about"
        )


def _examples(one: _Set, tell: Tell) -> list[Example]:
    found: list[Example] = []
    for example in examples(one.questions, one.places, one.weight):
        found.append(example)
        tell(f"Searching {one.name}", len(found), len(one.questions))
    return found


def _table(sheet: Sheet) -> Table:
    table = Table(title=sheet.title, title_justify="left")
    for place, heading in enumerate(sheet.headings):
        table.add_column(heading, justify="right" if place else "left")
    for row in sheet.rows:
        table.add_row(*row)
    return table


if __name__ == "__main__":
    main()
