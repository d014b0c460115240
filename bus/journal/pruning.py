"""What leaves the journal, and in which order: finished runs, oldest first, whole; never one under way or pinned.

The records of the stages go first, then the question, then the end and the access record. After a crash half way, the rest reads
as a finished run with its answer and its owner, or as none; `bus.journal.sweeping` removes it later. An actor that wakes up late
over a removed record cannot write (`only_while_there`), so a removed run does not run again. Several pruners at once do no harm.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import nats.errors
from nats.js.errors import NotFoundError

from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.wire.errors import Unavailable
from bus.wire.messages import MAIN, QuestionAsked
from bus.wire.subjects import ACCESS, RUNS, Key, consumed_subject, finished, key_of, run_filters

#: The record of a run that keeps it in the journal at any age. Its lane names its owner: `main` is a person.
PINNED = "pinned"


def pin_key(run_id: str, by: str = MAIN) -> Key:
    return Key(PINNED, run_id, by)


async def pin(journal: Journal, run_id: str) -> bool:
    """Keep the run. False: it is pinned already. Raises Unavailable."""
    return await journal.publish(pin_key(run_id).subject, b"{}") is not None


async def unpin(journal: Journal, run_id: str) -> bool:
    """Take that pin out. False: there was none. Raises Unavailable."""
    found = await journal.latest([pin_key(run_id).subject])
    return bool(found) and await journal.remove(found[0].sequence)


#: How many questions are looked at together; their ends are read with them.
STEP = 50
#: How many runs are removed at a time.
TOGETHER = 4
#: The overhead of a message in a stream, besides subject, headers and data, in bytes.
OVERHEAD = 34

#: Headers that reading adds.
_OF_THE_READER = {
    "Nats-Stream",
    "Nats-Subject",
    "Nats-Sequence",
    "Nats-Time-Stamp",
    "Nats-Num-Pending",
    "Nats-Last-Sequence",
}
_ASKED, _FINISHED = key_of(QuestionAsked, "_").type, finished("_").type
_LAST = {_ASKED: 1, ACCESS: 2, PINNED: 2, _FINISHED: 3}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run that may leave."""

    run_id: str
    asked_at: float


@dataclass(slots=True)
class Seen:
    """The result of a walk through the journal. `unread`: finished runs whose end no actor has handled yet."""

    asked: int = 0
    running: int = 0
    pinned: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """Which finished runs leave: those asked before `before`, in epoch seconds, and the oldest until `keep_bytes` are left."""

    before: float = 0.0
    keep_bytes: int | None = None


@dataclass(slots=True)
class Pruned:
    """What left, or would leave. `size_bytes` is what its records take in the journal, near enough."""

    runs: list[StoredRun] = field(default_factory=list)
    size_bytes: int = 0
    seen: Seen = field(default_factory=Seen)


async def prune(
    journal: Journal, rule: Rule, *, closers: Sequence[str], dry_run: bool = False, at_most: int | None = None
) -> Pruned:
    """Remove what the rule selects. `closers`: the consumers that must have handled a run's end. Raises Unavailable."""
    pruned = Pruned()
    left = (await journal.usage()).size_bytes
    together: list[StoredRun] = []

    async def leave() -> None:
        nonlocal left
        for size in await asyncio.gather(*(remove_run(journal, run.run_id, dry_run=dry_run) for run in together)):
            pruned.size_bytes += size
            left -= size
        pruned.runs += together
        together.clear()

    async for run in prunable(journal, closers, pruned.seen):
        if len(together) == TOGETHER:
            await leave()
        enough = at_most is not None and len(pruned.runs) + len(together) >= at_most
        old = run.asked_at < rule.before
        if enough or not (old or (rule.keep_bytes is not None and left > rule.keep_bytes)):
            break
        together.append(run)
    await leave()
    return pruned


async def prunable(journal: Journal, closers: Sequence[str], seen: Seen) -> AsyncIterator[StoredRun]:
    """Finished runs that nothing keeps, oldest first; `seen` counts the runs that are passed over. Raises Unavailable."""
    handled = await _handled(journal, closers)
    after = 0
    while True:
        asked, after = await journal.oldest(consumed_subject(QuestionAsked), after=after, count=STEP)
        if not after:
            return
        wanted = [key.subject for a in asked for key in (finished(a.key.run_id), pin_key(a.key.run_id, "*"))]
        ends: dict[str, int] = {}
        pinned: set[str] = set()
        for record in await journal.latest(wanted):
            if record.key.type == PINNED:
                pinned.add(record.key.run_id)
            else:
                ends[record.key.run_id] = record.sequence
        for record in asked:
            run_id = record.key.run_id
            seen.asked += 1
            if run_id in pinned:
                seen.pinned += 1
            elif run_id not in ends:
                seen.running += 1
            elif ends[run_id] > handled:
                seen.unread += 1
            else:
                yield StoredRun(run_id, record.time)


async def _handled(journal: Journal, closers: Sequence[str]) -> int:
    """The sequence up to which every closing actor has handled the ends of runs. Raises Unavailable."""
    handled = (await journal.usage()).last
    for name in closers:
        try:
            info = await journal.js.consumer_info(RUNS, name)
        except NotFoundError:  # these actors never ran here, so no consumer waits for them
            continue
        except (nats.errors.Error, TimeoutError) as error:
            raise Unavailable(f"the consumer {name} cannot be read ({error}); is nats-server running?") from None
        if info.num_pending or info.num_ack_pending:
            handled = min(handled, info.ack_floor.stream_seq if info.ack_floor else 0)
    return handled


async def remove_run(journal: Journal, run_id: str, *, dry_run: bool = False) -> int:
    """Remove every record of a run; about how many bytes they took. Raises Unavailable."""
    records = await journal.stored(run_filters(run_id))
    if not dry_run:
        stages = [record.sequence for record in records if record.key.type not in _LAST]
        await asyncio.gather(*(journal.remove(sequence) for sequence in stages))
        for record in sorted(records, key=lambda record: _LAST.get(record.key.type, 0)):
            if record.key.type in _LAST:
                await journal.remove(record.sequence)
    return sum(_size(record) for record in records)


def _size(record: Record) -> int:
    own = sum(len(name) + len(value) + 4 for name, value in record.headers.items() if name not in _OF_THE_READER)
    return OVERHEAD + len(record.key.subject) + own + len(record.data)
