"""The runs that other processes have admitted: a process counts them, since all take from the same capacity.

An edge announces a run with its question itself, an actors process on `gw.admitted.<run_id>` with the same bytes and header. An end
is known to every process in its own way.
"""

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.delivery.admission import Admission
from bus.journal.records import VIA
from bus.transport.envelope import UNREADABLE
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import ADMITTED, is_canary, key_of
from prompts.vocabulary import Urgency


class _Question(msgspec.Struct):
    """The part of a question that admission depends on."""

    priority: Urgency = "interactive"
    deadline_s: float | None = None


async def count_elsewhere(client: Client, admission: Admission, deadline_s: float) -> None:
    """Count what other processes admit from now on. `deadline_s`: of a question that has none."""

    async def admitted(msg: Msg) -> None:
        run_id = msg.subject.rpartition(".")[2]
        if VIA not in (msg.headers or {}) or is_canary(run_id):
            return
        try:
            question = msgspec.json.decode(msg.data, type=_Question)
        except UNREADABLE:
            return
        admission.count(run_id, question.priority, question.deadline_s or deadline_s)

    await client.subscribe(key_of(QuestionAsked, "*").subject, cb=admitted)
    await client.subscribe(f"{ADMITTED}.*", cb=admitted)


async def announce(client: Client, run_id: str, question: bytes) -> None:
    """Let the other processes count a run that this one has admitted."""
    await client.publish(f"{ADMITTED}.{run_id}", question, headers={VIA: "nats"})
