"""People's verdicts on a run: numbered records beside its messages, each written once, so that none replaces another."""

from collections.abc import Iterable
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.wire.errors import UNREADABLE, Invalid
from bus.wire.subjects import VERDICT, Key

Judgement = Literal["right", "wrong", "harmful"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
#: Verdicts on one run, and characters of a note.
MOST, LONGEST_NOTE = 20, 2000


class Judged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person's verdict on a run. `note`: why."""

    verdict: Judgement
    note: Annotated[str, Meta(max_length=LONGEST_NOTE)] = ""


class Verdict(Judged, frozen=True, kw_only=True):
    """What a person thinks of a run. `by`: the name of the key, empty without one."""

    by: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Verdict).decode


def verdict_key(run_id: str, number: str = "*") -> Key:
    return Key(VERDICT, run_id, number)


def verdict_in(records: Iterable[Record]) -> Verdict | None:
    """The last verdict among a run's records; None without one that can be read."""
    for record in sorted(records, key=lambda record: -record.sequence):
        if record.key.type == VERDICT:
            try:
                return _decode(record.data)
            except UNREADABLE:
                continue
    return None


async def add_verdict(journal: Journal, run_id: str, verdict: Verdict, *, patience_s: float = 30.0) -> int:
    """Write the verdict behind those there are, and return its number. Raises Invalid for one too many, Unavailable."""
    number = len(await journal.latest([verdict_key(run_id).subject])) + 1
    while number <= MOST:
        key = verdict_key(run_id, str(number))
        if await journal.publish(key.subject, _encode(verdict), patience_s=patience_s) is not None:
            return number
        number += 1
    raise Invalid("too_many", f"run {run_id} has {MOST} verdicts, and takes no more")
