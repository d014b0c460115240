"""`groundwire eval answers`: whether cited spans hold the gold answers, and whether what has no answer is refused."""

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table

from actors.evidence import spans
from actors.evidence.prompt_shapes import chunk_of, evidence_of
from actors.gate.check import check_sentence, withholds
from actors.gate.citations import markers
from actors.gate.overlap import is_factual
from bus.messages import Passage
from index.languages.detection import detect
from index.sentences import split
from prompts.contracts import AnswerSimple, AnswerSynthesis, SelectEvidence
from runtime.engines.extractive.answers import answer_simple, answer_synthesis
from runtime.engines.extractive.evidence import select_evidence
from runtime.measure.answers import (
    Answered,
    AnswerFigures,
    CitedSpan,
    EvalPassage,
    EvalQuestion,
    figures,
    own_passages,
)
from runtime.processes.hits import passage_of

if TYPE_CHECKING:
    from index.searcher import Searcher

type Retrieve = Callable[[EvalQuestion], tuple[Passage, ...]]

SEED = 0
RETRIEVED = 5
#: Times as many are searched for when some are left out.
LEAVING_OUT = 4


@click.command("answers")
@click.option("--questions", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--passages", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--index", "index", type=click.Path(path_type=Path), help="Keep the index here, or use the one there.")
@click.option("--own-passage", is_flag=True, help="Give each question its own passage in place of retrieval.")
@click.option(
    "--leave-out", is_flag=True, help="Take each question's own sources out of what is retrieved: none has an answer."
)
@click.option("--style", type=click.Choice(["simple", "synthesis"]), default="simple", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="Measure on this many questions, drawn with a fixed seed.")
@click.option("--json", "out", type=click.Path(path_type=Path), help="Write the figures and every answer here as JSON.")
def eval_answers_command(
    questions: Path,
    passages: Path,
    index: Path | None,
    own_passage: bool,
    leave_out: bool,
    style: str,
    limit: int | None,
    out: Path | None,
) -> None:
    """Answer QUESTIONS over PASSAGES with the extractive engine and measure citations and refusals.

    Both files are JSONL: {"id", "question", "language", "answers", "answerable", "source_ids"} and {"source_id", "title",
    "text"}.
    """
    asked = read_lines(questions, EvalQuestion)
    known = read_lines(passages, EvalPassage)
    chosen = list(range(len(asked)))
    if limit is not None and limit < len(chosen):
        chosen = sorted(random.Random(SEED).sample(chosen, limit))
    if own_passage and leave_out:
        raise click.UsageError("--leave-out needs retrieval; --own-passage gives each question its source")
    console = Console(stderr=True)
    if own_passage:
        own = own_passages(asked, known)
        answers = run(
            [asked[k] for k in chosen], _given([asked[k] for k in chosen], [own[k] for k in chosen]), style, console
        )
    else:
        with tempfile.TemporaryDirectory(prefix="groundwire-") as folder:
            answers = _over_index(
                [asked[k] for k in chosen], passages, index or Path(folder), style, console, leave_out
            )
    measured = [msgspec.structs.replace(asked[k], answerable=asked[k].answerable and not leave_out) for k in chosen]
    result = figures(measured, answers)
    Console().print(table(result))
    if out is not None:
        out.write_bytes(msgspec.json.format(msgspec.json.encode({"figures": result, "answers": answers}), indent=1))


def run(asked: Sequence[EvalQuestion], retrieve: Retrieve, style: str, console: Console) -> list[Answered]:
    return [answer(q, retrieve(q), style) for q in track(asked, "Answering", console=console, transient=True)]


def answer(question: EvalQuestion, passages: tuple[Passage, ...], style: str) -> Answered:
    """One question answered as the actors do it: evidence picked and numbered, then the answer from the spans alone."""
    began = time.perf_counter()
    language = question.language or detect(question.question)
    picks = select_evidence(
        SelectEvidence(
            original_query=question.question,
            retrieved_chunks=tuple(chunk_of(passage) for passage in passages),
            language=language,
        )
    ).spans
    evidence = evidence_of(spans.numbered(passages, spans.picked(passages, picks)))
    if style == "simple":
        text = answer_simple(
            AnswerSimple(original_query=question.question, retrieved_chunks=evidence, language=language)
        )
    else:
        text = answer_synthesis(AnswerSynthesis(query=question.question, evidence=evidence, language=language)).answer
    seconds = time.perf_counter() - began
    if not evidence or not markers(text):  # an answer that cites nothing is the admission that there is none
        return Answered(id=question.id, refused=True, seconds=seconds)
    numbers = {n for marker in markers(text) for n in marker.numbers}
    sentences = [text[start:end] for start, end in split(text)]
    wrong = [s for s in sentences if withholds(check_sentence(s, evidence)) or (is_factual(s) and not markers(s))]
    return Answered(
        id=question.id,
        refused=False,
        cited=tuple(CitedSpan(source_id=e.source_id, text=e.text) for e in evidence if e.n in numbers),
        sentences=len(sentences),
        unsupported=len(wrong),
        seconds=seconds,
    )


def read_lines[Line: msgspec.Struct](path: Path, into: type[Line]) -> list[Line]:
    """The lines of a JSONL file, blank ones skipped. Raises click.ClickException that names the first bad one."""
    decoder = msgspec.json.Decoder(into)
    found: list[Line] = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                found.append(decoder.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise click.ClickException(
                    f"{path}, line {number}: {error}; one JSON object a line is needed"
                ) from None
    if not found:
        raise click.ClickException(f"{path} has no lines; one JSON object a line is needed")
    return found


def table(result: AnswerFigures) -> Table:
    shown = Table("figure", "value")
    for name, value in msgspec.structs.asdict(result).items():
        text = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
        shown.add_row(name.replace("_", " "), text)
    return shown


def _given(asked: Sequence[EvalQuestion], own: Sequence[EvalPassage]) -> Retrieve:
    by_id = {question.id: _as_passage(passage) for question, passage in zip(asked, own, strict=True)}
    return lambda question: (by_id[question.id],)


def _as_passage(passage: EvalPassage) -> Passage:
    return Passage(
        source_id=passage.source_id,
        title=passage.title,
        url=passage.url,
        score=1.0,
        score_type="given",
        text=passage.text,
        char_start=0,
        char_end=len(passage.text),
        language=passage.language or detect(passage.text),
        snapshot="",
    )


def _over_index(
    asked: Sequence[EvalQuestion], passages: Path, folder: Path, style: str, console: Console, leave_out: bool
) -> list[Answered]:
    # The JVM starts with the index, which takes longer than the rest of this command's imports together.
    from index.errors import IndexProblem
    from index.ingest import bring_in
    from index.searcher import Searcher

    try:
        if not (folder / "current").exists():
            with console.status("Building the index"):
                bring_in(folder, [str(passages)], only=False)
        searcher = Searcher.open(folder)
    except IndexProblem as problem:
        raise click.ClickException(str(problem)) from None
    try:
        return run(asked, lambda question: retrieved(searcher, question, leave_out=leave_out), style, console)
    finally:
        searcher.close()


def retrieved(searcher: "Searcher", question: EvalQuestion, *, leave_out: bool = False) -> tuple[Passage, ...]:
    """The best passages, best first; with `leave_out` none of the question's own sources, as if they were not there."""
    wanted = RETRIEVED * (LEAVING_OUT if leave_out else 1)
    found = searcher.search(
        question.question, language=question.language or None, k=wanted, bm25_k=wanted, vector_k=wanted
    )
    hits = [hit for hit in found if not (leave_out and hit.source_id in question.source_ids)][:RETRIEVED]
    return tuple(map(passage_of, hits))
