"""Read traces from a journal."""

import asyncio
from collections.abc import Sequence

from bus.journal.journal import Journal, time_of
from bus.journal.pruning import PINNED
from bus.journal.records import Record, unpack
from bus.runs.runs import NoSuchRun
from bus.transport.envelope import set_aside
from bus.transport.follow import follow
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import (
    ACCESS,
    RUNS,
    RUNS_SUBJECTS,
    VERDICT,
    BadId,
    check_id,
    consumed_subject,
    is_canary,
    key_of,
    parse,
)
from runtime.replay.run_rows import RunRow, Wanted, of_runs, wanted_row
from runtime.replay.trace import ASKED, FINISHED, Shown, Trace

#: What a row is made of; the records of the stages are many times as many.
_LISTED = (*(f"gw.{kind}.*.*" for kind in (FINISHED, ACCESS, PINNED, VERDICT)), consumed_subject(QuestionAsked))


async def read_run(journal: Journal, run_id: str) -> Trace:
    """The trace of a run. Raises BadId, NoSuchRun, Unavailable."""
    records = await journal.run(check_id(run_id))
    if not any(record.key.type == ASKED for record in records):
        raise NoSuchRun(f"there is no run {run_id} in this journal; see `groundwire trace list --index DIR`")
    frames = await journal.frames(run_id, progress=True)
    shown = (Shown(each.sequence, time_of(each.headers), each.data, each.fenced, each.headers) for each in frames)
    return Trace(run_id, tuple(records), tuple(shown))


async def full_id(journal: Journal, given: str) -> str:
    """The id of the run that is called so, or of the only one that begins like that. Raises BadId, NoSuchRun, Unavailable."""
    if await journal.latest([key_of(QuestionAsked, check_id(given)).subject]):
        return given
    ids = [parse(subject).run_id for subject in await journal.subjects(consumed_subject(QuestionAsked))]
    found = sorted(run_id for run_id in ids if run_id.startswith(given))
    if len(found) > 1:
        raise NoSuchRun(f"{len(found)} runs begin with {given}: {', '.join(found[:3])}{'…' if len(found) > 3 else ''}")
    if not found:
        raise NoSuchRun(f"there is no run {given} in this journal; see `groundwire trace list --index DIR`")
    return found[0]


async def latest_runs(journal: Journal, count: int, wanted: Wanted | None = None) -> list[RunRow]:
    """The latest runs that are wanted, newest first. Raises Unavailable."""
    end = (await journal.usage(RUNS)).last
    window = 40 * count
    while True:
        after = max(0, end - window)
        runs = of_runs(await _between(journal, _LISTED, after, end))
        found = [row for each in runs.values() if (row := wanted_row(each, wanted or Wanted())) is not None]
        if len(found) >= count or after == 0:
            return sorted(found, key=lambda run: -run.asked_at)[:count]
        window *= 4


async def all_runs(journal: Journal) -> list[Trace]:
    """Every run that the journal keeps, without its events, oldest first. Raises Unavailable."""
    runs = of_runs(await _between(journal, RUNS_SUBJECTS, 0, (await journal.usage(RUNS)).last))
    return [
        Trace(run_id, tuple(records)) for run_id, records in runs.items() if any(r.key.type == ASKED for r in records)
    ]


async def _between(journal: Journal, subjects: Sequence[str], after: int, end: int) -> list[Record]:
    """Every such record after `after` up to `end` that the journal still keeps; those of canaries are left out."""
    found: list[Record] = []
    try:
        async with asyncio.timeout(5.0) as patience:
            async for stored in follow(journal.client, RUNS, subjects, after=after):
                try:
                    key = parse(stored.subject)
                    if not is_canary(key.run_id):
                        found.append(Record(key, stored.sequence, stored.time, unpack(stored.data), stored.headers))
                except BadId as error:
                    set_aside("subject", stored.subject, error)
                patience.reschedule(asyncio.get_running_loop().time() + 5.0)
                if stored.sequence >= end or stored.pending == 0:
                    break
    except TimeoutError:
        pass  # everything in the range has expired
    return found
