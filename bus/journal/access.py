"""Who asked a run and what they may see: a record beside its messages.

It is written once by the process that accepted the question, before the question. A question without it came from an integration,
the command line or the open door of this machine, and sees the documents of the setting `access.integrations`.
"""

from collections.abc import Iterable

import msgspec

from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.wire.errors import UNREADABLE
from bus.wire.subjects import ACCESS, Key

#: Names of groups; None: every document.
type Groups = tuple[str, ...] | None


class Access(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`key`: the name of the key that asked. `groups`: documents without groups and those that name one of these; None: all."""

    key: str = ""
    groups: Groups = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Access).decode


def access_key(run_id: str) -> Key:
    """The subject of a run's access record."""
    return Key(ACCESS, run_id)


def access_in(records: Iterable[Record]) -> Access | None:
    """The access among a run's records. An unreadable one admits no key and sees only documents without groups."""
    found = next((record for record in records if record.key.type == ACCESS), None)
    if found is None:
        return None
    try:
        return _decode(found.data)
    except UNREADABLE:
        return Access(groups=())


async def grant(journal: Journal, run_id: str, access: Access, *, patience_s: float = 30.0) -> bool:
    """Write the run's access, before its question. False: it has one already. Raises Unavailable."""
    return await journal.publish(access_key(run_id).subject, _encode(access), patience_s=patience_s) is not None


async def access_of(journal: Journal, run_id: str) -> Access | None:
    """The run's access; None when it was not asked by a key. Raises Unavailable."""
    return access_in(await journal.latest([access_key(run_id).subject]))


def covers(groups: Groups, other: Groups) -> bool:
    """Whether these groups see every document that the others do."""
    return groups is None or (other is not None and {*other} <= {*groups})


def groups_named(setting: str) -> Groups:
    """The groups that a setting names, separated by commas; `*` is every document."""
    return None if setting.strip() == "*" else tuple(name for each in setting.split(",") if (name := each.strip()))
