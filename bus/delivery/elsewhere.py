"""The runs of other processes: those that they have admitted, and ends that were not heard of here.

All take from the same capacity, so a process counts them. An edge announces a run with its question itself, an actors process on
`gw.admitted.<run_id>` with the same bytes and header.

News of an end goes over core NATS, which repeats nothing and which a cluster passes on between neighbours alone. Where the door
of the questions waits for such an end, it is looked for in the journal.
"""

import asyncio
import logging

import msgspec

from bus.delivery.admission import Admission
from bus.journal.journal import Journal
from bus.journal.records import VIA
from bus.transport.connection import Client, Msg, receive
from bus.wire.errors import UNREADABLE, Failure
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import ADMITTED, finished, is_canary, key_of
from prompts.vocabulary import Urgency

log = logging.getLogger("groundwire.actors")

#: How often the ends of runs are looked for while questions wait.
LOOK_S = 2.0
#: How many runs are looked for at a time, the oldest first.
AT_ONCE = 200


class _Question(msgspec.Struct):
    """The part of a question that admission depends on."""

    priority: Urgency = "interactive"
    deadline_s: float | None = None


async def count_elsewhere(client: Client, admission: Admission, deadline_s: float) -> None:
    """Count what other processes admit from now on. `deadline_s`: of a question that has none."""

    def admitted(msg: Msg) -> None:
        run_id = msg.subject.rpartition(".")[2]
        if VIA not in (msg.headers or {}) or is_canary(run_id):
            return
        try:
            question = msgspec.json.decode(msg.data, type=_Question)
        except UNREADABLE:
            return
        admission.count(run_id, question.priority, question.deadline_s or deadline_s)

    await receive(client, key_of(QuestionAsked, "*").subject, admitted)
    await receive(client, f"{ADMITTED}.*", admitted)


async def announce(client: Client, run_id: str, question: bytes) -> None:
    """Let the other processes count a run that this one has admitted."""
    await client.publish(f"{ADMITTED}.{run_id}", question, headers={VIA: "nats"})


async def look(intake: Admission, journal: Journal) -> None:
    """While questions wait, let go of the runs under way that are over. Never returns."""
    while True:
        await asyncio.sleep(LOOK_S)
        if not intake.waiting():
            continue
        under_way = intake.under_way(LOOK_S)[:AT_ONCE]
        try:
            ends = await journal.latest([finished(run_id).subject for run_id in under_way]) if under_way else []
        except Failure as failure:
            log.info("ends that were not heard of cannot be looked for yet: %s", failure)
            continue
        for end in ends:
            intake.forget(end.key.run_id)
