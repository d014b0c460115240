"""GET /v1/runs: the caller's own runs, newest first.

The journal is read backwards, a stretch at a time; other callers' questions are skipped. One request reads a bounded number of
questions, so a page may hold few runs, or none, and still have a next one.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, get_args

import msgspec
from aiohttp import web
from msgspec.structs import replace

from bus.journal.access import Access, access_in, access_key
from bus.journal.journal import Journal
from bus.journal.pruning import pin_key
from bus.journal.records import Record, readable
from bus.journal.verdicts import verdict_key
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, message_type
from bus.wire.subjects import ID_PATTERN, check_id, finished, is_canary, key_of
from index.masking import masked
from prompts.vocabulary import EventsWanted
from runtime.edge.door import CALLER
from runtime.edge.parameters import LARGEST, check_known, value_of
from runtime.edge.problems import Problem
from runtime.edge.routes import Reply, Route, json_response, parameter
from runtime.edge.state import EDGE
from runtime.replay.run_rows import SORTS, WORDS, RunRow, Wanted, ranked, row_of, wanted_row

#: Sequences of the journal that are read at once, and questions in one reply of the server.
STRETCH, BATCH = 4000, 200
#: Runs whose ends, pins and verdicts are read at once.
TOGETHER = 25
#: Questions that one request looks at.
MOST_LOOKED = 2000
MOST = 100

LIMIT = parameter("limit", "query", "How many runs at most.", type="integer", minimum=1, maximum=MOST, default=30)
BEFORE = parameter("before", "query", "`next` of the page before this one.", type="integer", minimum=1, maximum=2**62)
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


SORT = parameter(
    "sort",
    "query",
    f"The highest first. But for `{SORTS[0]}`, of the {MOST_LOOKED} questions that one request reads.",
    type="string",
    enum=list(SORTS),
)
#: What a list is narrowed to by a text, and by a number: the field with its factor.
TEXTS = {
    field.name: parameter(
        field.name,
        "query",
        f"Only runs with this `{field.name}`.",
        type="string",
        **({"enum": list(WORDS[field.name])} if field.name in WORDS else {}),
    )
    for field in msgspec.structs.fields(Wanted)
    if field.type is str
}
NUMBERS = {
    "since": ("since", 1.0, "asked at this time or later, in epoch seconds"),
    "until": ("until", 1.0, "asked at this time or earlier"),
    "slower_ms": ("slower", 0.001, "that took at least so many milliseconds"),
    "faster_ms": ("faster", 0.001, "that took at most so many milliseconds"),
}
_LIMITS = {
    name: parameter(name, "query", f"Only runs {which}.", type="integer", minimum=0, maximum=LARGEST)
    for name, (_, _, which) in NUMBERS.items()
}
_DECLARED = (LIMIT, BEFORE, CONVERSATION, EVENTS, SORT, *TEXTS.values(), *_LIMITS.values())


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    """Runs, newest first. `next`: pass it as `before` to go on; null at the end."""

    runs: tuple[RunRow, ...]
    next: int | None = None


@Route("GET", "/v1/runs", {200: Reply("A page of the caller's own runs.", RunList)}, "read", parameters=_DECLARED)
async def run_list(request: web.Request) -> web.Response:
    """List your runs, newest first."""
    edge, caller = request.app[EDGE], request[CALLER]
    check_known(request, _DECLARED)
    limit, before = value_of(request, LIMIT), value_of(request, BEFORE) or 0
    conversation = check_id(named[0]) if (named := request.query.getall("conversation", [])) else ""
    if len(named) > 1:
        raise Problem(400, "bad_id", "name one conversation")
    try:
        async with asyncio.timeout(edge.timeouts.search_s):
            events, sort = value_of(request, EVENTS) or "", value_of(request, SORT) or SORTS[0]
            wanted = _wanted(request)
            runs = await runs_before(
                edge.runs.journal, before, limit, caller.may_see, conversation, events, wanted, sort
            )
            masking = {run.profile for run in runs.runs if await edge.profiles.masks(run.profile)}
    except TimeoutError:
        raise Unavailable("the journal does not answer in time; try again later") from None
    shown = tuple(masked(run) if run.profile in masking else run for run in runs.runs)
    return json_response(replace(runs, runs=shown))


def _wanted(request: web.Request) -> Wanted:
    """Raises Problem 400."""
    texts = {name: value for name, each in TEXTS.items() if (value := value_of(request, each)) is not None}
    numbers: dict[str, Any] = {
        field: (value_of(request, _LIMITS[name]) or 0) * by for name, (field, by, _) in NUMBERS.items()
    }
    return Wanted(**texts, **numbers)


async def runs_before(
    journal: Journal,
    before: int,
    limit: int,
    visible: Callable[[Access | None], bool],
    conversation: str = "",
    events: str = "",
    wanted: Wanted | None = None,
    sort: str = SORTS[0],
) -> RunList:
    """At most `limit` runs before this sequence of the journal (0: the end) that `visible` accepts. Raises Unavailable.

    Sorted by anything but the time, those are the first of all that one request reads.
    """
    wanted = wanted or Wanted()
    usage = await journal.usage()
    end = min(before - 1, usage.last) if before else usage.last
    first = usage.first
    if conversation:
        began = await journal.latest([key_of(QuestionAsked, conversation).subject])
        if not began:
            return RunList(runs=())
        first = max(first, began[0].sequence)
    runs: list[list[Record]] = []
    looked = 0
    enough = limit if sort == SORTS[0] else MOST_LOOKED
    while end >= max(first, 1) and len(runs) <= enough and looked < MOST_LOOKED:
        start = max(first, end - STRETCH + 1, 1)
        questions = await _questions_between(journal, start, end)
        looked += len(questions)
        seen = await _visible(journal, questions, visible, conversation, events)
        if not wanted.everything:
            seen = [run for run in await _with_ends(journal, seen) if wanted_row(run, wanted) is not None]
        runs += seen
        end = start - 1
    more = len(runs) > enough
    runs = runs[:enough]
    following = runs[-1][0].sequence if more else end + 1 if end >= max(first, 1) else None
    rows = [row for run in await _with_ends(journal, runs) if (row := row_of(run)) is not None]
    return RunList(runs=tuple(ranked(rows, sort)[:limit]), next=following)


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
) -> list[list[Record]]:
    """The questions of the caller among the records, each with its access; of one conversation, or with some events, if named."""
    wanted = [
        record
        for record in questions
        if not is_canary(record.key.run_id) and isinstance(question := readable(record), QuestionAsked)
        if not conversation or conversation in (question.conversation, record.key.run_id)
        if not events or question.events == events
    ]
    access: dict[str, list[Record]] = {}
    for at in range(0, len(wanted), BATCH):
        subjects = [access_key(record.key.run_id).subject for record in wanted[at : at + BATCH]]
        for record in await journal.latest(subjects):
            access[record.key.run_id] = [record]
    found = [[record, *access.get(record.key.run_id, ())] for record in wanted]
    return [run for run in found if visible(access_in(run))]


async def _with_ends(journal: Journal, runs: Sequence[list[Record]]) -> list[list[Record]]:
    found: dict[str, list[Record]] = {}
    ids = [run[0].key.run_id for run in runs]
    for at in range(0, len(ids), TOGETHER):
        keys = ((finished(each), pin_key(each, "*"), verdict_key(each)) for each in ids[at : at + TOGETHER])
        for record in await journal.latest([key.subject for three in keys for key in three]):
            found.setdefault(record.key.run_id, []).append(record)
    return [[*run[:2], *found.get(run[0].key.run_id, ())] for run in runs]
