"""The canary: a question that readiness asks along the whole path, and that leaves nothing behind.

Its run id begins with `CANARY`, and only the edge may write its access record, which names the asker. So a question under such
an id without it is refused. A janitor deletes its records and events after it has ended.
"""

import secrets

from nats.js import JetStreamContext

from bus.journal.access import Access, access_of, grant
from bus.journal.journal import Journal
from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import CANARY, EVENTS, RUNS, event_subject, run_filters
from index.filters import Filter

#: The asker: it sees only documents without groups, and the filter passes none of them.
ASKED_BY = Access(key="canary", groups=())
QUESTION = "When does the shop open on Saturdays?"
NOTHING = Filter(path="canary/no/such/document")

#: How long after its end a canary's records are kept, in seconds: the asker reads them within that time.
KEPT_S = 5.0


def canary_id() -> str:
    return CANARY + secrets.token_hex(8)


def canary_question(deadline_s: float) -> QuestionAsked:
    """It is understood by the model and searched for in the index, and ends there: nothing passes its filter."""
    return QuestionAsked(question=QUESTION, filter=NOTHING, deadline_s=deadline_s)


async def admit_canary(journal: Journal, run_id: str, *, patience_s: float) -> None:
    """Write the asker, before the question. Raises Unavailable."""
    await grant(journal, run_id, ASKED_BY, patience_s=patience_s)


async def check_canary(journal: Journal, run_id: str) -> None:
    """Raises Invalid for a question that has taken a canary's name, Unavailable."""
    if await access_of(journal, run_id) != ASKED_BY:
        raise Invalid("bad_id", f"run ids that begin with {CANARY!r} are reserved for readiness; use another")


async def forget_run(js: JetStreamContext, run_id: str) -> None:
    """Delete every record and event of a canary, which asks for no `events=all`. Raises nats's errors."""
    for subject in run_filters(run_id):
        await js.purge_stream(RUNS, subject=subject)
    await js.purge_stream(EVENTS, subject=event_subject(run_id))
