"""A record of the journal: one or two lines of JSON, the message, then what the powers returned while it was produced (`Stage`)."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
from groundwire.wire import NearPassage

from bus.transport.envelope import moment, read, set_aside
from bus.transport.settings import BusSettings
from bus.wire.errors import Poison
from bus.wire.messages import (
    BY_TYPE,
    EARLIER_REQUESTS,
    AnswerRequested,
    Message,
    QuestionAsked,
    RunFinished,
    message_type,
)
from bus.wire.subjects import POISON, Key
from index.filters import Filter

DEADLINE = "Gw-Deadline"
CAUSE = "Gw-Cause"
TRACEPARENT = "traceparent"
#: The protocol of a question that an edge has checked and admitted; a question published over NATS has none.
VIA = "Gw-Via"
#: The protocol of a client that waits for the record of the finished run.
WHOLE = "json"
#: When the question reached the edge, in epoch seconds, before any wait for its admission.
RECEIVED = "Gw-Received"

_ASKED, _REQUESTED = message_type(QuestionAsked), message_type(AnswerRequested)
_encoder = msgspec.json.Encoder()
_decoders: dict[str, msgspec.json.Decoder[Message]] = {name: msgspec.json.Decoder(t) for name, t in BY_TYPE.items()}


class AskRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply of a model, as kept in the trace. `variables` is a digest; times are in seconds, `began_s` from the stage's start.

    `already_shown` is the text that the device had to continue: `text` begins with it, unless the model started over.
    """

    prompt: str
    variables: str
    text: str
    already_shown: str = ""
    version: str = ""
    schema: str = ""  # digest, empty for prose
    seed: int = 0
    probability: float | None = None  # of a verdict given in one token
    engine: str = ""
    model: str = ""
    model_digest: str = ""
    finish_reason: str = ""
    tokens_in: int = 0
    tokens_in_cached: int = 0
    tokens_out: int = 0
    queue_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    began_s: float = 0.0
    took_s: float = 0.0
    cached: bool = False
    shortened: str = ""
    cut: str = ""  # the paths of the reply that were cut to their limits
    calls: int = 1  # of the model
    failure: str = ""

    @property
    def said(self) -> str:
        """The whole text as streamed: `text`, or what was shown before followed by `text`."""
        return self.text if self.text.startswith(self.already_shown) else self.already_shown + self.text


class SearchRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One search: its parameters, and the hits as they came (JSON)."""

    query: str
    hits: msgspec.Raw
    language: str = ""
    k: int = 0
    bm25_k: int = 0
    vector_k: int = 0
    filter: Filter | None = None
    rerank: bool = True
    topic: str = ""
    groups: tuple[str, ...] | None = None
    snapshot: str = ""  # the requested snapshot
    began_s: float = 0.0
    took_s: float = 0.0


class Considered(msgspec.Struct, frozen=True, array_like=True):
    """A unit that could have been shown. `passage`: its number among those of the stage's input, from 0, those that no judge kept
    last; `start` and `end` are of its text. `share`: of the probability, 0..1. `shown`: chosen. `why`: what the features that
    matter most add to its score.
    """

    passage: int
    start: int
    end: int
    share: float
    shown: bool
    why: dict[str, float]


class ChoiceRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the rules chose among: the best units, best first, and how probable it is that the chosen ones answer.

    `near`: the closest passages without their texts, unless the choice is sure.
    """

    probability: float
    best: tuple[Considered, ...]
    near: tuple[NearPassage, ...] = ()


class Stage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a record was produced: the actor, how long it took, and what its powers returned."""

    actor: str
    took_s: float = 0.0
    attempt: int = 1
    fallback: str = ""
    earlier_calls: int = 0  # of a model, in tries that failed before this one
    asks: tuple[AskRecord, ...] = ()
    searches: tuple[SearchRecord, ...] = ()
    choice: ChoiceRecord | None = None
    first_shown_at: float = 0.0  # epoch seconds of the first token; 0 if none


@dataclass(frozen=True, slots=True)
class Record:
    """A record as stored in the stream. `time` is the server's, in epoch seconds."""

    key: Key
    sequence: int
    time: float
    data: bytes
    headers: Mapping[str, str]

    @property
    def message(self) -> Message:
        return decode(self.key.type, self.data)

    @property
    def stage(self) -> Stage | None:
        """None when there is none, or none that can be read."""
        _, rest = _parts(self.key.type, self.data)
        if not rest.strip():
            return None
        try:
            return read(_stages, rest, "this stage")
        except Poison as poison:
            set_aside("stage", self.key.subject, poison)
            return None


def encode(message: Message, stage: Stage | None = None) -> bytes:
    data = _encoder.encode(message)
    return data if stage is None else data + b"\n" + _encoder.encode(stage)


def decode(type_name: str, data: bytes) -> Message:
    """The message of a record, packed or not. Raises Poison when it does not match its subject."""
    type_name, data = _as_now(type_name, unpack(data))
    decoder = _decoders.get(type_name)
    if decoder is None:
        raise Poison(f"there is no message type {type_name!r}; `groundwire graph` lists them")
    return read(decoder, _parts(type_name, data)[0], f"this {type_name}")


def readable(record: Record) -> Message | None:
    """The message; None for a record that was set aside."""
    try:
        return record.message
    except Poison:
        return None


def as_now(record: Record) -> Record:
    """The record under today's message types."""
    kind, data = _as_now(record.key.type, record.data)
    return (
        record
        if kind == record.key.type
        else replace(record, key=msgspec.structs.replace(record.key, type=kind), data=data)
    )


def _as_now(type_name: str, data: bytes) -> tuple[str, bytes]:
    if (style := EARLIER_REQUESTS.get(type_name)) is None:
        return type_name, data
    return _REQUESTED, data.replace(
        f'"type":"{type_name}"'.encode(), f'"type":"{_REQUESTED}","style":"{style}"'.encode(), 1
    )


def _parts(type_name: str, data: bytes) -> tuple[bytes, bytes]:
    """The message and the stage. A question has none: its client may write it over several lines."""
    if type_name == _ASKED:
        return data, b""
    message, _, stage = data.partition(b"\n")
    return message, stage


_stages = msgspec.json.Decoder(Stage)


#: No message may keep its run open for longer, in seconds: what a question may ask for at most.
LONGEST_S = 3600.0


def deadline_of(headers: Mapping[str, str], written_at: float, asked_s: float | None, settings: BusSettings) -> float:
    """When a run must be over, in epoch seconds: its headers' deadline, else its question's, else the settings'.

    `written_at` is when the message was stored, `asked_s` what its question asks for.
    """
    told = moment(headers, DEADLINE, latest=written_at + max(LONGEST_S, settings.deadline_s))
    return written_at + (asked_s or settings.deadline_s) if told is None else told


def only_while_there(key: Key, sequence: int) -> dict[str, str]:
    """Headers with which a write is refused once that record has left the journal: a pruned run is not continued."""
    return {
        "Nats-Expected-Last-Subject-Sequence": str(sequence),
        "Nats-Expected-Last-Subject-Sequence-Subject": key.subject,
    }


_AS_THEY_ARE = {message_type(QuestionAsked), message_type(RunFinished), POISON}
_PACK_FROM = 400  # bytes; below, the gain is less than a header's length
_LEVEL = 2  # level 9 saves another 5 % and takes half as long again
#: zlib's defaults, 8 and a window of 15, take more than twice as long for a short record: they clear more memory than they read.
_MEMORY, _WINDOW = 6, 15
_LONGEST = 32 * 1024 * 1024  # of an unpacked record, so that a forged one cannot fill memory
#: How a stream of zlib's begins that names the widest window, whichever it was packed with; a record's JSON begins with a brace.
_ZLIB = b"x\x5e"


def pack(subject: str, data: bytes) -> bytes:
    """The bytes to store under that subject: long records packed, short ones unchanged.

    A run's records repeat each other: its passages are in the hits of a search and in the records of three stages. Packed, a run
    takes a third. Records that integrations read or write are never packed, nor are those that were set aside.
    """
    if len(data) < _PACK_FROM or not data.startswith(b"{") or subject.split(".")[1] in _AS_THEY_ARE:
        return data
    packing = zlib.compressobj(_LEVEL, wbits=min(len(data).bit_length(), _WINDOW), memLevel=_MEMORY)
    return _ZLIB + (packing.compress(data) + packing.flush())[len(_ZLIB) :]


def unpack(data: bytes) -> bytes:
    """The record itself. Bytes that were never packed come back as they are, and so do those that cannot be unpacked."""
    if not data.startswith(_ZLIB[:1]):
        return data
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(data, _LONGEST)
    except zlib.error:
        return data
    return found if unpacking.eof and not unpacking.unused_data else data
