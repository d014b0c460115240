"""When a run must be over: its headers' deadline, else its question's, else the settings'. One rule for every client."""

from collections.abc import Mapping

from bus.journal.records import DEADLINE
from bus.transport.envelope import moment
from bus.transport.settings import BusSettings

#: No message may keep its run open for longer, in seconds: what a question may ask for at most.
LONGEST_S = 3600.0


def deadline_of(headers: Mapping[str, str], written_at: float, asked_s: float | None, settings: BusSettings) -> float:
    """In epoch seconds. `written_at` is when the message was stored, `asked_s` what its question asks for."""
    told = moment(headers, DEADLINE, latest=written_at + max(LONGEST_S, settings.deadline_s))
    return written_at + (asked_s or settings.deadline_s) if told is None else told
