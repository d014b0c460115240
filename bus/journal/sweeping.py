"""What a crash or damaged files can leave in the journal: each question gets an end, each run its question or none of it stays."""

import time
from collections.abc import Sequence

from bus.journal.journal import Journal
from bus.journal.pruning import PINNED, remove_run
from bus.journal.records import DEADLINE, Record, readable
from bus.wire.messages import Message, QuestionAsked, RunFinished, message_type, question_about, words_asked
from bus.wire.settled import Settled
from bus.wire.subjects import ACCESS, BadId, consumed_subject, finished, key_of, parse

#: What is younger may still be written to: a question follows the record of its owner.
YOUNG_S = 3600.0
#: How long after its deadline a run may still end by itself, or be ended by the janitor.
LATE_S = 60.0

LEFT = "how this run ended is not in the journal: the stack stopped before it did, or the record was damaged"
DAMAGED = "records of this run were lost to damage in the journal's files"

#: Every record but the questions.
RECORDS = "gw.*.*.*"
#: What may be left when pruning was cut off.
_ENDS = (consumed_subject(RunFinished), f"gw.{ACCESS}.*.*", f"gw.{PINNED}.*.*")
_LEAVES_LAST = {message_type(RunFinished), ACCESS, PINNED}


async def sweep(journal: Journal, deadline_s: float, *, damaged: bool = False) -> list[str]:
    """End each run that nothing else will end, and remove what pruning left of others. Returns lines for the log.

    Raises Unavailable. `deadline_s`: of a run that sets none. `damaged`: nats-server lost records, so questions may be missing.
    """
    lines: list[str] = []
    asked = await runs_in(journal, consumed_subject(QuestionAsked))
    ended = await runs_in(journal, consumed_subject(RunFinished))
    for run_id in sorted(asked - ended):
        records = await journal.run(run_id)
        if records and time.time() > _deadline(records, deadline_s) + LATE_S:
            settled = Settled(outcome="failed", detail=LEFT, question=_words(records))
            await journal.write(finished(run_id), RunFinished(settled=settled), patience_s=2.0)
            lines.append(f"run {run_id} had no end: it has failed")
    for name in (*_ENDS, RECORDS) if damaged else _ENDS:
        for run_id in sorted(await runs_in(journal, name) - asked):
            line = await _without_question(journal, run_id, damaged=damaged)
            asked.add(run_id)
            if line:
                lines.append(line)
    return lines


async def _without_question(journal: Journal, run_id: str, *, damaged: bool) -> str:
    """Write the question of a run again if damage may have taken it; remove what pruning left."""
    records = await journal.run(run_id)
    types = {record.key.type for record in records}
    if not records or message_type(QuestionAsked) in types:
        return ""
    if types - _LEAVES_LAST or (damaged and message_type(RunFinished) in types):
        await _restore_question(journal, run_id, records)
        return f"run {run_id} had lost its question: it is written again"
    if max(record.time for record in records) < time.time() - YOUNG_S:
        await remove_run(journal, run_id)
        return f"run {run_id} had been pruned in part: the rest is removed"
    return ""


async def _restore_question(journal: Journal, run_id: str, records: Sequence[Record]) -> None:
    """Write the question again, after the run's end and past its deadline, so that no actor works on it."""
    end = RunFinished(settled=Settled(outcome="failed", detail=DAMAGED, question=_words(records)))
    await journal.write(finished(run_id), end, patience_s=2.0)
    about = next((found for m in _messages(records) if (found := question_about(m)) is not None), None)
    question = QuestionAsked(question=_words(records) or "?", profile=about.profile if about else "general")
    over = {DEADLINE: f"{records[0].time:.3f}"}
    await journal.write(key_of(QuestionAsked, run_id), question, headers=over, patience_s=2.0)


def _deadline(records: Sequence[Record], deadline_s: float) -> float:
    """When the run should have been over, in epoch seconds."""
    own = next((m.deadline_s for m in _messages(records[:2]) if isinstance(m, QuestionAsked)), None)
    return records[-1].time + (own or deadline_s)


def _words(records: Sequence[Record]) -> str:
    """What the person asked, as far as the records still say."""
    return next((words for m in _messages(records) if (words := words_asked(m))), "")


def _messages(records: Sequence[Record]) -> list[Message]:
    return [message for record in records if (message := readable(record)) is not None]


async def runs_in(journal: Journal, subject: str) -> set[str]:
    """The runs that have a record of that filter. Raises Unavailable."""
    found = set()
    for name in await journal.subjects(subject):
        try:
            found.add(parse(name).run_id)
        except BadId:
            continue
    return found
