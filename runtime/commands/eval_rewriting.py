"""`groundwire eval rewriting`: how near the rewritten follow-up questions come to those that people wrote."""

import re
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table

from index.languages.detection import detect
from index.languages.scripts import HAN
from prompts.contracts import RewriteQuery, Turn
from runtime.commands.eval_answers import read_lines
from runtime.engines.extractive.rewriting import loses, rewrite_query

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a rewriting set: a question, what was said before, and the stand-alone form that a person gave it."""

    id: str
    question: str
    rewrite: str
    history: tuple[Turn, ...] = ()
    language: str = ""


class Rewritten(msgspec.Struct, frozen=True, kw_only=True):
    """`raw` and `recall`: the share of the human form's words in the question as asked and as rewritten."""

    id: str
    question: str
    rewritten: str
    human: str
    raw: float
    recall: float
    precision: float
    lost_words: bool


class RewritingFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the questions with a history. `closed`: how much of the way from raw to human was gone, 0 to 1."""

    questions: int
    raw_recall: float
    rewritten_recall: float
    closed: float
    precision: float
    changed: int
    changed_by_people: int
    lost_a_content_word: int


@click.command("rewriting")
@click.option("--file", "source", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--json", "out", type=click.Path(path_type=Path), help="Write the figures and every rewrite here as JSON."
)
def eval_rewriting_command(source: Path, out: Path | None) -> None:
    """Rewrite the follow-up questions of a JSONL file with the extractive engine, and compare with the human forms.

    Each line is {"id", "language", "history": [{"role", "content"}], "question", "rewrite"}; lines without history are
    left out, since nothing is rewritten there.
    """
    lines = [line for line in read_lines(source, FollowUp) if line.history]
    if not lines:
        raise click.ClickException(f"{source} has no question with a history; there is nothing to rewrite")
    rewritten = [rewrite(line) for line in lines]
    result = figures(rewritten)
    shown = Table("figure", "value")
    for name, value in msgspec.structs.asdict(result).items():
        shown.add_row(name.replace("_", " "), f"{value:.3f}" if isinstance(value, float) else f"{value:,}")
    Console().print(shown)
    if out is not None:
        out.write_bytes(msgspec.json.format(msgspec.json.encode({"figures": result, "rewrites": rewritten}), indent=1))


def rewrite(line: FollowUp) -> Rewritten:
    language = line.language or detect(line.question)
    reply = rewrite_query(
        RewriteQuery(current_query=line.question, conversation_history=line.history, language=language)
    )
    human, asked, made = words(line.rewrite), words(line.question), words(reply.rewritten_query)
    return Rewritten(
        id=line.id,
        question=line.question,
        rewritten=reply.rewritten_query,
        human=line.rewrite,
        raw=_share(asked & human, human),
        recall=_share(made & human, human),
        precision=_share(made & human, made),
        lost_words=loses(line.question, reply.rewritten_query, language),
    )


def figures(rewritten: Sequence[Rewritten]) -> RewritingFigures:
    """`rewritten` is not empty."""
    count = len(rewritten)
    raw, recall = sum(r.raw for r in rewritten) / count, sum(r.recall for r in rewritten) / count
    return RewritingFigures(
        questions=count,
        raw_recall=raw,
        rewritten_recall=recall,
        closed=(recall - raw) / (1 - raw) if raw < 1 else 1.0,
        precision=sum(r.precision for r in rewritten) / count,
        changed=sum(r.rewritten != r.question for r in rewritten),
        changed_by_people=sum(r.human != r.question for r in rewritten),
        lost_a_content_word=sum(r.lost_words for r in rewritten),
    )


def words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 1.0
