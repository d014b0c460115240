"""`groundwire eval questions`: ask the real pipeline questions with known answers, and grade what a person sees."""

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path

import anyio
import click
import msgspec
from rich.table import Table

from bus.runs.runs import Runs
from bus.wire.errors import Failure
from bus.wire.messages import QuestionAsked
from prompts.vocabulary import VOICES
from runtime.commands.ask import question_from
from runtime.commands.consoles import plain_console
from runtime.commands.eval import save
from runtime.commands.options import CONFIG, FILE, NEW_FILE, check_profile, one_line_errors, over_index, read_settings
from runtime.commands.progress import bars
from runtime.measure.lines import BadLine, read
from runtime.measure.question_figures import SHARES, Counts, Figures, counts, figures
from runtime.measure.questions import GoldQuestion, Item, Seen, graded
from runtime.processes.nats_server import NoServer
from runtime.processes.stack import stack_for
from runtime.settings import Settings
from runtime.terminal import one_line, say

#: How long a question may take, and how much longer its end is waited for.
DEADLINE_S, GRACE_S = 60.0, 30.0
AT_ONCE = 4


@click.command("questions")
@click.option("--file", "source", required=True, type=FILE)
@click.option("--index", required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--voice", type=click.Choice(VOICES), help="How sure an answer must be to be shown.")
@click.option("--profile", default="general", show_default=True, help="Profile to answer under.")
@click.option("--limit", type=click.IntRange(min=1), help="Ask only this many questions, from the first.")
@click.option(
    "--at-once",
    type=click.IntRange(1, AT_ONCE),
    default=AT_ONCE,
    show_default=True,
    help="Questions in flight; 1 to measure the time to the first word.",
)
@click.option("--json", "out", type=NEW_FILE, help="Also write figures and items to this file.")
@CONFIG
def eval_questions_command(
    *,
    source: Path,
    index: Path,
    voice: str | None,
    profile: str,
    limit: int | None,
    at_once: int,
    out: Path | None,
    config: Path | None,
) -> None:
    """Measure whether what is shown is right.

    FILE is JSONL: {"id", "question", "language", "kind", "collection", "history": [{"q", "a"}], "answerable", "gold",
    "gold_also", "contexts": ["…"]}. INDEX is the folder of one index, or holds one per collection. Each question goes
    through the whole pipeline. Exits 1 when a question failed.
    """
    with one_line_errors():
        questions = checked(read(source, GoldQuestion), source)[:limit]
    settings = read_settings(config)
    check_profile(profile, settings)
    requests = {asked.id: request(asked, profile, voice) for asked in questions}
    places = indexes(index, questions)
    left_out = [asked for asked in questions if asked.collection not in places]
    for name in dict.fromkeys(asked.collection for asked in left_out):
        count = sum(asked.collection == name for asked in left_out)
        say(
            f"collection {name or '-'}: no index, {count} questions left out; build it with"
            f" `groundwire index build PATH --index {index / name}`",
            err=True,
        )
    if not places:
        raise click.ClickException(f"{index} holds no index of these collections; nothing to ask")
    items: list[Item] = []
    with one_line_errors(Failure, NoServer), bars() as tell:
        for folder in dict.fromkeys(places.values()):
            here = [asked for asked in questions if places.get(asked.collection) == folder]
            with own_stack(settings, folder) as own:
                items += asyncio.run(_ask(own, here, requests, at_once, partial(tell, folder.name)))
    measured = figures(items)
    groups = {name: counts(items, attrgetter(name)) for name in ("kind", "language", "collection")}
    if out is not None:
        many = {"questions": measured.questions, "answerable": measured.answerable}
        flat = {**many, **measured.shares, **measured.lengths}
        save(out, {"figures": flat, **groups, "left_out": [asked.id for asked in left_out], "items": items})
    console = plain_console(width=100)
    console.print(table(measured, source.name))
    for group, of in groups.items():
        console.print(counted(group, of))
    failed = [item for item in items if item.grade == "failed"]
    for item in failed:
        say(one_line(f"{item.asked.id} failed: {item.seen.reason or item.seen.detail or item.seen.outcome}"), err=True)
    if failed:
        raise click.exceptions.Exit(1)


def checked(questions: list[GoldQuestion], source: Path) -> list[GoldQuestion]:
    """The questions. Raises BadLine for an answerable question without gold, and for an id that is used twice."""
    known: set[str] = set()
    for asked in questions:
        if asked.answerable and not asked.gold:
            raise BadLine(f"{source}: {asked.id} is answerable but has no gold; add one, or set answerable to false")
        if asked.id in known:
            raise BadLine(f"{source}: two questions have the id {asked.id}; give each its own")
        known.add(asked.id)
    return questions


def request(asked: GoldQuestion, profile: str, voice: str | None) -> QuestionAsked:
    """The question with its history, as a client asks it. Raises click.UsageError."""
    turns = [
        {"role": role, "content": content}
        for earlier in asked.history
        for role, content in (("user", earlier.q), ("assistant", earlier.a))
    ]
    try:
        return question_from(
            {
                "question": asked.question,
                "conversation_history": turns,
                "contexts": asked.contexts
                and [{"content": text, "metadata": {"source_id": str(n)}} for n, text in enumerate(asked.contexts, 1)],
                "profile": profile,
                "voice": voice,
                "deadline_s": DEADLINE_S,
            }
        )
    except click.UsageError as error:
        raise click.UsageError(f"{asked.id}: {error.message}") from None


def indexes(folder: Path, questions: Sequence[GoldQuestion]) -> dict[str, Path]:
    """The index of each collection that has one; `folder` itself where it is an index."""
    names = dict.fromkeys(asked.collection for asked in questions)
    if (folder / "current").exists():
        return dict.fromkeys(names, folder)
    return {name: folder / name for name in names if name and (folder / name / "current").exists()}


@contextlib.contextmanager
def own_stack(settings: Settings, folder: Path) -> Iterator[Settings]:
    """The settings for a stack that shares nothing with a stack already running over this index."""
    with tempfile.TemporaryDirectory(prefix="groundwire-", ignore_cleanup_errors=True) as state:
        yield msgspec.structs.replace(over_index(settings, folder), state=state)


async def _ask(
    settings: Settings,
    questions: Sequence[GoldQuestion],
    requests: dict[str, QuestionAsked],
    at_once: int,
    tell: Callable[[int, int], None],
) -> list[Item]:
    """Ask them of a separate stack. Raises Unavailable, NoServer."""
    tell(0, len(questions))
    async with stack_for(settings, say=lambda line: None) as runs:
        return await ask_all(runs, questions, requests, at_once, lambda done: tell(done, len(questions)))


async def ask_all(
    runs: Runs,
    questions: Sequence[GoldQuestion],
    requests: dict[str, QuestionAsked],
    at_once: int,
    say: Callable[[int], None],
) -> list[Item]:
    """The graded questions in their order, asked `at_once` at a time."""
    limiter = anyio.CapacityLimiter(at_once)
    found: dict[str, Item] = {}

    async def one(asked: GoldQuestion) -> None:
        async with limiter:
            found[asked.id] = graded(asked, await seen(runs, requests[asked.id]))
        say(len(found))

    async with anyio.create_task_group() as group:
        for asked in questions:
            group.start_soon(one, asked)
    return [found[asked.id] for asked in questions]


async def seen(runs: Runs, question: QuestionAsked) -> Seen:
    """Ask one question and wait for its end; what goes wrong is its detail."""
    try:
        async with asyncio.timeout((question.deadline_s or DEADLINE_S) + GRACE_S):
            submitted = await runs.submit(question)
            async for _ in runs.events(submitted.run_id):
                pass
            record = await runs.record(submitted.run_id)
    except TimeoutError:
        return Seen(detail="did not end in time")
    except Failure as failure:
        return Seen(detail=str(failure))
    return Seen(detail="no record") if record is None else msgspec.convert(record, Seen, from_attributes=True)


def table(measured: Figures, title: str) -> Table:
    near = measured.questions - measured.answerable
    found = Table(
        title=f"{title}: {measured.answerable} answerable questions, {near} near misses", title_justify="left"
    )
    for heading in ("", "share", "95 %", "count"):
        found.add_column(heading, justify="right" if heading else "left", no_wrap=True)

    for key, one in measured.shares.items():
        if key == "high_right":
            found.add_section()
        name = SHARES[key][0]
        if one.share is None or one.low is None or one.high is None:
            found.add_row(name, "-", "", "0 of 0")
        else:
            found.add_row(name, f"{one.share:.3f}", f"{one.low:.3f} to {one.high:.3f}", f"{one.found} of {one.of}")
    found.add_section()
    lengths = iter(measured.lengths.values())
    for name, times in (
        ("answer, weights: median, longest", 1),
        ("closest, weights: median, longest", 1),
        ("first word, ms: p50, p95", 1000),
    ):
        two = (next(lengths), next(lengths))
        found.add_row(name, *("-" if value is None else f"{value * times:,.0f}" for value in two))
    return found


def counted(group: str, of: dict[str, Counts]) -> Table:
    found = Table(group, *(name.replace("_", " ") for name in Counts.__struct_fields__), box=None)
    for name, one in of.items():
        found.add_row(name, *map(str, msgspec.structs.astuple(one)))
    return found
