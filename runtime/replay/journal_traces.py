"""Read traces from a journal."""

import asyncio
from collections.abc import Iterator

import msgspec

from bus.journal.journal import EventFrame, Journal, time_of
from bus.journal.pruning import PINNED
from bus.journal.records import Record
from bus.runs.runs import NoSuchRun
from bus.transport.envelope import set_aside
from bus.transport.follow import Stored, follow
from bus.wire.errors import Poison
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.subjects import RUNS, RUNS_SUBJECTS, BadId, check_id, is_canary, parse
from runtime.replay.trace import ASKED, FINISHED, PARENT, Shown, Trace


class RunListed(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `trace list`. `asked_at` is in epoch seconds; `outcome` is empty while the run goes on."""

    run_id: str
    asked_at: float
    question: str
    outcome: str = ""
    parent: str = ""
    pinned: bool = False


async def read_run(journal: Journal, run_id: str) -> Trace:
    """The trace of a run. Raises BadId, NoSuchRun, Unavailable."""
    records = await journal.run(check_id(run_id))
    if not any(record.key.type == ASKED for record in records):
        raise NoSuchRun(f"there is no run {run_id} in this journal; see `groundwire trace list --index DIR`")
    frames = await journal.frames(run_id, progress=True)
    return Trace(run_id, tuple(records), tuple(map(_shown, frames)))


def _shown(frame: EventFrame) -> Shown:
    return Shown(frame.sequence, time_of(frame.headers), frame.data, frame.fenced, frame.headers)


async def latest_runs(journal: Journal, count: int) -> list[RunListed]:
    """The latest runs, newest first. Raises Unavailable."""
    end = await journal.last_sequence(RUNS)
    window = 40 * count
    while True:
        after = max(0, end - window)
        found = list(_found(await _between(journal, after, end)))
        if len(found) >= count or after == 0:
            return sorted(found, key=lambda run: -run.asked_at)[:count]
        window *= 4


async def _between(journal: Journal, after: int, end: int) -> list[Stored]:
    """Every record after `after` up to `end` that the journal still keeps."""
    found: list[Stored] = []
    try:
        async with asyncio.timeout(5.0) as patience:
            async for stored in follow(journal.client, RUNS, RUNS_SUBJECTS, after=after):
                found.append(stored)
                patience.reschedule(asyncio.get_running_loop().time() + 5.0)
                if stored.sequence >= end or stored.pending == 0:
                    break
    except TimeoutError:
        pass  # everything in the range has expired
    return found


def _found(records: list[Stored]) -> Iterator[RunListed]:
    ends: dict[str, str] = {}
    pinned: set[str] = set()
    asked: list[tuple[Record, QuestionAsked]] = []
    for stored in records:
        try:
            key = parse(stored.subject)
        except BadId as error:
            set_aside("subject", stored.subject, error)
            continue
        if is_canary(key.run_id):
            continue
        if key.type == PINNED:
            pinned.add(key.run_id)
        if key.type not in (ASKED, FINISHED):
            continue
        record = Record(key, stored.sequence, stored.time, stored.data, stored.headers)
        try:
            message = record.message
        except Poison:
            continue
        if isinstance(message, RunFinished):
            ends[key.run_id] = message.settled.outcome
        elif isinstance(message, QuestionAsked):
            asked.append((record, message))
    for record, question in asked:
        run_id = record.key.run_id
        yield RunListed(
            run_id=run_id,
            asked_at=record.time,
            question=question.question,
            outcome=ends.get(run_id, ""),
            parent=record.headers.get(PARENT, ""),
            pinned=run_id in pinned,
        )
