"""Records that stand beside a run's messages: who asked and what they may see, its conversation, people's verdicts.

The access record is written once by the process that accepted the question, before the question. A question without it came from an
integration, the command line or the open door of this machine, and sees the documents of the setting `access.integrations`.

A client names its chats itself, so that two clients may use one name. A conversation's id is what only the secret derives from who
asks and that name (`Runs.conversation_id`): a chat of the same name that another asks is another conversation.

Verdicts are numbered, so that each is written once and none replaces another.
"""

from collections.abc import Iterable
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.wire.errors import Invalid
from bus.wire.subjects import ACCESS, CHAT, VERDICT, Key

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
    except (msgspec.DecodeError, UnicodeDecodeError):
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


def chat_key(run_id: str, conversation: str) -> Key:
    """Where it stands in the journal that this run is one of a conversation."""
    return Key(CHAT, run_id, conversation)


async def latest_run(journal: Journal, conversation: str) -> str | None:
    """The run that was added last; None when there is none, or the journal no longer keeps it. Raises Unavailable."""
    found = await journal.newest(chat_key("*", conversation).subject)
    return found.key.run_id if found else None


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


_encode_verdict = msgspec.json.Encoder().encode
_decode_verdict = msgspec.json.Decoder(Verdict).decode


def verdict_key(run_id: str, number: str = "*") -> Key:
    return Key(VERDICT, run_id, number)


def verdict_in(records: Iterable[Record]) -> Verdict | None:
    """The last verdict among a run's records; None without one that can be read."""
    for record in sorted(records, key=lambda record: -record.sequence):
        if record.key.type == VERDICT:
            try:
                return _decode_verdict(record.data)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
    return None


async def add_verdict(journal: Journal, run_id: str, verdict: Verdict, *, patience_s: float = 30.0) -> int:
    """Write the verdict behind those there are, and return its number. Raises Invalid for one too many, Unavailable."""
    number = len(await journal.latest([verdict_key(run_id).subject])) + 1
    while number <= MOST:
        key = verdict_key(run_id, str(number))
        if await journal.publish(key.subject, _encode_verdict(verdict), patience_s=patience_s) is not None:
            return number
        number += 1
    raise Invalid("too_many", f"run {run_id} has {MOST} verdicts, and takes no more")
