"""How close rewritten follow-up questions come to those that people wrote, in their words and in what they find.

uv run python -m tests.bench.bench_rewriting --file FILE [--index FOLDER]
"""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import click
import msgspec
from ir_measures import RR, R
from rich.table import Table

from index.languages import pattern, spoken
from index.languages.characters import HAN, fold
from index.languages.detection import detect
from index.languages.words import stem, terms
from index.search.searcher import Searcher
from prompts.contracts import RewriteQuery, Turn
from runtime.commands.consoles import plain_console
from runtime.commands.options import INDEX_FOLDER_PLACE, one_line_errors
from runtime.engines.extractive.rewriting import rewrite_query
from runtime.measure.lines import read
from tests.bench.bench_rankings import Question, ranked, values

FORMS = ("as asked", "rewritten", "by people")
R_K, RR_K = 5, 10

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")


def loses(question: str, rewritten: str, language: str) -> bool:
    """Whether the rewrite lacks a content word of the question, pronouns aside."""
    kept = rewritten.casefold()
    plain = pattern(spoken(language).followups.pointing.pronouns).sub(" ", question)
    words = re.findall(r"[^\W_]+", plain.casefold())
    return any(word not in kept and stem(fold(word)) not in kept for word in words if terms(word))


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a rewriting set: a question, its history, and the stand-alone form that a person wrote."""

    id: str
    question: str
    rewrite: str
    history: tuple[Turn, ...] = ()
    language: str = ""
    source_ids: tuple[str, ...] = ()  # which of them answer it; where retrieval is measured


class Rewritten(msgspec.Struct, frozen=True, kw_only=True):
    """A rewritten question, and the words of the conversation that are searched for with it.

    `raw` and `recall`: the share of the human form's words in the question as asked, and as rewritten with its topic.
    """

    id: str
    language: str
    question: str
    rewritten: str
    topic: str
    human: str
    raw: float
    recall: float
    precision: float
    lost_words: bool


def rewrite(line: FollowUp) -> Rewritten:
    language = line.language or detect(line.question)
    reply = rewrite_query(
        RewriteQuery(current_query=line.question, conversation_history=line.history, language=language)
    )
    human, asked = words(line.rewrite), words(line.question)
    made = words(f"{reply.rewritten_query} {reply.topic}")
    return Rewritten(
        id=line.id,
        language=language,
        question=line.question,
        rewritten=reply.rewritten_query,
        topic=reply.topic,
        human=line.rewrite,
        raw=_share(asked & human, human),
        recall=_share(made & human, human),
        precision=_share(made & human, made),
        lost_words=loses(line.question, reply.rewritten_query, language),
    )


def figures(rewritten: Sequence[Rewritten]) -> dict[str, float]:
    """Means over the questions with a history, of which there must be some; `closed`: of the gap from raw to human, 0 to 1."""
    count = len(rewritten)
    raw, recall = sum(r.raw for r in rewritten) / count, sum(r.recall for r in rewritten) / count
    return {
        "questions": count,
        "raw_recall": raw,
        "rewritten_recall": recall,
        "closed": (recall - raw) / (1 - raw) if raw < 1 else 1.0,
        "precision": sum(r.precision for r in rewritten) / count,
        "changed": sum(r.rewritten != r.question for r in rewritten),
        "with_a_topic": sum(bool(r.topic) for r in rewritten),
        "changed_by_people": sum(r.human != r.question for r in rewritten),
        "lost_a_content_word": sum(r.lost_words for r in rewritten),
    }


def retrieval(
    searcher: Searcher, rewritten: Sequence[Rewritten], relevant: dict[str, tuple[str, ...]]
) -> dict[str, dict[str, dict[str, float]]]:
    """R@5 and RR@10 of the question as asked, as rewritten, and as a person wrote it, for each language and for `all`.

    `relevant`: the source ids by question id; questions that are not in it do not count.
    """
    judged = [one for one in rewritten if relevant.get(one.id)]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for form in FORMS:
        asked = [_as(form, one, relevant[one.id]) for one in judged]
        run = ranked(searcher, asked, "fusion", RR_K)
        for language in ("all", *sorted({one.language for one in judged})):
            these = [one for one in asked if language in ("all", one.language)]
            found.setdefault(language, {})[form] = {
                name: round(fmean(each), 5) for name, each in values(run, these, (R @ R_K, RR @ RR_K)).items()
            }
    return found


def _as(form: str, one: Rewritten, source_ids: tuple[str, ...]) -> Question:
    text = {"as asked": one.question, "rewritten": one.rewritten, "by people": one.human}[form]
    return Question(
        id=one.id,
        question=text,
        source_ids=source_ids,
        language=one.language,
        topic=one.topic if form == "rewritten" else "",
    )


def words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 1.0


type _Found = dict[str, dict[str, dict[str, float]]]


@click.command()
@click.option("--file", "source", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--index", "directory", type=INDEX_FOLDER_PLACE, help="Folder of the index to search in.")
def main(source: Path, directory: Path | None) -> None:
    """Measure how well follow-up questions are rewritten into complete ones.

    Compares the extractive engine's rewrites with people's: their words and, with --index, R@5 and RR@10 of what
    the question finds as asked, as rewritten, and as a person wrote it. Each line is {"id", "language", "history": [{"role",
    "content"}], "question", "rewrite", "source_ids"}; lines without history are skipped, as there is nothing to rewrite, and
    those without source_ids count for the words alone.
    """
    with one_line_errors():
        lines = [line for line in read(source, FollowUp) if line.history]
        if not lines:
            raise click.ClickException(
                f"{source} has no question with a history; add follow-up questions with their earlier turns"
            )
        rewritten = [rewrite(line) for line in lines]
        found: _Found = {}
        if directory is not None:
            relevant = {line.id: line.source_ids for line in lines if line.source_ids}
            if not relevant:
                raise click.ClickException(f"{source} has no source_ids; add to each line the ids of what answers it")
            with contextlib.closing(Searcher.open(directory)) as searcher:
                found = retrieval(searcher, rewritten, relevant)
    _show(found, rewritten)
    for name, value in figures(rewritten).items():
        shown = f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
        plain_console().print(f"{name.replace('_', ' ')}: {shown}")


def _show(found: _Found, rewritten: list[Rewritten]) -> None:
    """One row per language and form; one language is shown once, as all."""
    if not found:
        return
    several = len({one.language for one in rewritten}) > 1
    rows = [(language, form, measured) for language, forms in found.items() for form, measured in forms.items()]
    table = Table("language", "question", *rows[0][2], box=None)
    for language, form, measured in rows:
        if several or language == "all":
            table.add_row(language, form, *(f"{value:.3f}" for value in measured.values()))
    plain_console().print(table)


if __name__ == "__main__":
    main()
