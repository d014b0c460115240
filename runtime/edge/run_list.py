"""GET /v1/runs: the caller's own runs, newest first.

The journal is read backwards, a stretch at a time; other callers' questions are skipped. One request reads a bounded number of
questions, so a page may hold few runs, or none, and still have a next one.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import get_args

import msgspec
from aiohttp import web
from msgspec.structs import replace

from bus.journal.access import Access, access_in, access_key
from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.runs.story import readable
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, RunFinished, message_type
from bus.wire.subjects import ID_PATTERN, check_id, finished, is_canary, key_of
from index.masking import mask
from prompts.vocabulary import EventsWanted, Outcome
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.query import check_known, declared_word, number
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE

#: Sequences of the journal that are read at once, and questions in one reply of the server.
STRETCH, BATCH = 4000, 200
#: Questions that one request looks at.
MOST_LOOKED = 2000
MOST = 100

LIMIT = parameter("limit", "query", "How many runs at most.", type="integer", minimum=1, maximum=MOST, default=30)
BEFORE = parameter("before", "query", "`next` of the page before this one.", type="integer", minimum=1)
CONVERSATION = parameter(
    "conversation",
    "query",
    "Only the runs of the conversation that this run began.",
    type="string",
    pattern=f"^{ID_PATTERN}$",
)
EVENTS = parameter(
    "events",
    "query",
    "Only the runs that were asked for with these events: `all` is how the page asks.",
    type="string",
    enum=list(get_args(EventsWanted)),
)


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the list. Times in epoch seconds; `outcome` is null while it goes on. `conversation`: the run that began it."""

    run_id: str
    conversation: str
    question: str
    profile: str
    asked_at: float
    outcome: Outcome | None = None
    finished_at: float | None = None


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    """Runs, newest first. `next`: pass it as `before` to go on; null at the end."""

    runs: tuple[RunSummary, ...]
    next: int | None = None


@Route(
    "GET",
    "/v1/runs",
    {200: Reply("A page of the caller's own runs.", RunList)},
    "read",
    problems=(503,),
    parameters=(LIMIT, BEFORE, CONVERSATION, EVENTS),
)
async def run_list(request: web.Request) -> web.Response:
    """List your runs, newest first."""
    edge, caller = request.app[EDGE], request[CALLER]
    check_known(request, "limit", "before", "conversation", "events")
    limit, before = number(request, "limit", 30, least=1, most=MOST), number(request, "before", 0, least=1, most=2**62)
    conversation = check_id(named[0]) if (named := request.query.getall("conversation", [])) else ""
    if len(named) > 1:
        raise Problem(400, "bad_id", "name one conversation")
    try:
        async with asyncio.timeout(edge.timeouts.search_s):
            events = declared_word(request, EVENTS) or ""
            runs = await runs_before(edge.runs.journal, before, limit, caller.may_see, conversation, events)
            masking = {run.profile for run in runs.runs if await edge.profiles.masks(run.profile)}
    except TimeoutError:
        raise Unavailable("the journal does not answer in time; try again later") from None
    shown = tuple(replace(run, question=mask(run.question)) if run.profile in masking else run for run in runs.runs)
    return json_response(replace(runs, runs=shown))


async def runs_before(
    journal: Journal,
    before: int,
    limit: int,
    visible: Callable[[Access | None], bool],
    conversation: str = "",
    events: str = "",
) -> RunList:
    """At most `limit` runs before this sequence of the journal (0: the end) that `visible` accepts. Raises Unavailable."""
    usage = await journal.usage()
    end = min(before - 1, usage.last) if before else usage.last
    first = usage.first
    if conversation:
        began = await journal.latest([key_of(QuestionAsked, conversation).subject])
        if not began:
            return RunList(runs=())
        first = max(first, began[0].sequence)
    runs: list[tuple[Record, QuestionAsked]] = []
    looked = 0
    while end >= max(first, 1) and len(runs) <= limit and looked < MOST_LOOKED:
        start = max(first, end - STRETCH + 1, 1)
        questions = await _questions_between(journal, start, end)
        looked += len(questions)
        runs += await _visible(journal, questions, visible, conversation, events)
        end = start - 1
    more = len(runs) > limit
    runs = runs[:limit]
    following = runs[-1][0].sequence if more else end + 1 if end >= max(first, 1) else None
    return RunList(runs=await _summaries(journal, runs), next=following)


async def _questions_between(journal: Journal, start: int, end: int) -> list[Record]:
    """The questions of a stretch, newest first."""
    runs: list[Record] = []
    after = start - 1
    while after < end:
        batch, last = await journal.oldest(f"gw.{message_type(QuestionAsked)}.*", after=after, count=BATCH)
        if not last:
            break
        runs += (record for record in batch if record.sequence <= end)
        after = last
    return runs[::-1]


async def _visible(
    journal: Journal,
    questions: Sequence[Record],
    visible: Callable[[Access | None], bool],
    conversation: str,
    events: str,
) -> list[tuple[Record, QuestionAsked]]:
    """The questions of the caller among the records; of one conversation, or asked for with some events, if named."""
    wanted = [
        (record, question)
        for record in questions
        if not is_canary(record.key.run_id) and isinstance(question := readable(record), QuestionAsked)
        if not conversation or conversation in (question.conversation, record.key.run_id)
        if not events or question.events == events
    ]
    access: dict[str, list[Record]] = {}
    for at in range(0, len(wanted), BATCH):
        subjects = [access_key(record.key.run_id).subject for record, _ in wanted[at : at + BATCH]]
        for record in await journal.latest(subjects):
            access[record.key.run_id] = [record]
    return [each for each in wanted if visible(access_in(access.get(each[0].key.run_id, ())))]


async def _summaries(journal: Journal, runs: Sequence[tuple[Record, QuestionAsked]]) -> tuple[RunSummary, ...]:
    if not runs:
        return ()
    ends = {
        record.key.run_id: (record.time, end.settled.outcome)
        for record in await journal.latest([finished(record.key.run_id).subject for record, _ in runs])
        if isinstance(end := readable(record), RunFinished)
    }
    return tuple(_summary(record, question, ends.get(record.key.run_id)) for record, question in runs)


def _summary(record: Record, question: QuestionAsked, end: tuple[float, Outcome] | None) -> RunSummary:
    return RunSummary(
        run_id=record.key.run_id,
        conversation=question.conversation or record.key.run_id,
        question=question.question,
        profile=question.profile,
        asked_at=record.time,
        outcome=end[1] if end else None,
        finished_at=end[0] if end else None,
    )
