"""Names on the bus: streams, subjects and the ids inside them.

gw.question_asked.<run_id>          a question, from the edge or from any integration
gw.<message_type>.<run_id>.<lane>   every other record of the journal
gw.event.<run_id>                   what the client sees, fenced: tokens, references, error, DONE
gw.canary.<run_id>                  the same of readiness's own questions, which integrations do not see
gw.progress.<run_id>                what `events=all` adds: stages, sources, withheld, verdict, queued
gw.runs.ask, gw.runs.get            requests of an integration (`bus.runs.requests`)
gw.ask, gw.search, gw.index, gw.sources, gw.cancel.<run_id>, gw.admitted.<run_id>,
gw.record.<run_id>                  core NATS: the sender repeats a request that gets no answer
"""

import re

import msgspec

from bus.wire.messages import MAIN, Message, QuestionAsked, RunFinished, message_type

RUNS = "RUNS"
EVENTS = "EVENTS"
RUNS_SUBJECTS = ["gw.question_asked.*", "gw.*.*.*"]
#: Integrations read the first two.
CLIENT_EVENTS = ("gw.event.*", "gw.progress.*")
EVENTS_SUBJECTS = [*CLIENT_EVENTS, "gw.canary.*"]
ASK = "gw.ask"
SEARCH = "gw.search"
INDEX = "gw.index"
SOURCES = "gw.sources"
#: Where the process that prunes the journal reports its state.
JOURNAL = "gw.journal"
CANCEL = "gw.cancel"
#: Where an integration asks with a reply, and reads the record of a run.
ASK_RUN, GET_RUN = "gw.runs.ask", "gw.runs.get"
#: Where an actors process announces the runs that it has admitted.
ADMITTED = "gw.admitted"
#: Where an actors process sends the record of a run whose client waits for the whole of it.
RECORD = "gw.record"
POISON = "poison"
#: The types of the records that the edge adds to a run: its asker, its chat, its request for a response, a person's verdict.
ACCESS, CHAT, RESPONSE, VERDICT = "access", "chat", "response", "verdict"

#: The prefix of the run ids of readiness's own questions; no other run id may have it.
CANARY = "canary-"
_CANARY_ID = re.compile(f"{CANARY}[0-9a-f]{{16}}")

ID_PATTERN = "[A-Za-z0-9_-]{1,64}"
_ID = re.compile(ID_PATTERN)


class BadId(ValueError):
    """An id that would be more than one token of a subject."""


def is_id(value: str) -> bool:
    return _ID.fullmatch(value) is not None


def check_id(value: str) -> str:
    """The id itself. Raises BadId: a dot, star, slash or space in an id would be a subject injection."""
    if not is_id(value):
        raise BadId(f"{value[:80]!r} is not a valid id; use 1 to 64 of the characters A-Z, a-z, 0-9, _ and -")
    return value


class Key(msgspec.Struct, frozen=True):
    """The place of a record in the journal. Written once."""

    type: str
    run_id: str
    lane: str = MAIN

    @property
    def subject(self) -> str:
        if self.type == _ASKED:
            return f"gw.{_ASKED}.{self.run_id}"
        return f"gw.{self.type}.{self.run_id}.{self.lane}"


_ASKED = message_type(QuestionAsked)


def is_canary(run_id: str) -> bool:
    return run_id.startswith(CANARY)


def key_of(message: type[Message], run_id: str, lane: str = MAIN) -> Key:
    return Key(message_type(message), run_id, lane)


def finished(run_id: str) -> Key:
    return key_of(RunFinished, run_id)


def parse(subject: str) -> Key:
    """The key that a journal subject names. Raises BadId for any other subject."""
    parts = subject.split(".")
    if len(parts) == 3 and parts[:2] == ["gw", _ASKED]:
        return Key(_ASKED, check_id(parts[2]))
    if len(parts) != 4 or parts[0] != "gw":
        raise BadId(f"{subject[:80]!r} is not a subject of the journal")
    return Key(parts[1], check_id(parts[2]), check_id(parts[3]))


def consumed_subject(message: type[Message]) -> str:
    """The subject filter of the durable consumer for this message."""
    name = message_type(message)
    return f"gw.{name}.*" if message is QuestionAsked else f"gw.{name}.*.*"


def run_filters(run_id: str) -> list[str]:
    return [f"gw.{_ASKED}.{run_id}", f"gw.*.{run_id}.*"]


def event_subject(run_id: str) -> str:
    """Another client's question under a reserved id has its error where that client listens."""
    kind = "canary" if is_canary(run_id) and _CANARY_ID.fullmatch(run_id) else "event"
    return f"gw.{kind}.{run_id}"


def is_fenced(subject: str) -> bool:
    """Whether a frame on this subject was written in order, right behind the one before."""
    return not subject.startswith("gw.progress.")


def progress_subject(run_id: str) -> str:
    return f"gw.progress.{run_id}"


def cancel_subject(run_id: str) -> str:
    return f"{CANCEL}.{run_id}"
