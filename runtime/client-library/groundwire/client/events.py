"""The events of a run's stream: text, then what it rests on, then `Done`, always once and last."""

from typing import Any, ClassVar, Literal, Union, get_args

import msgspec

from groundwire.client.messages import Flag
from groundwire.wire import NearPassage, Reference


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    type: ClassVar[str]


class Token(Event, frozen=True, kw_only=True, tag="token"):
    """A piece of the answer; the last of them is empty, has the status `end` and lists all unverified sentences.

    `unverified`: it belongs to a sentence that goes beyond its sources.
    """

    content: str = ""
    status: str = "in_progress"
    index: int = 0
    unverified: bool = False
    unverified_at: tuple[tuple[int, int], ...] = ()


class References(Event, frozen=True, kw_only=True, tag="references"):
    items: tuple[Reference, ...] = ()


class Passages(Event, frozen=True, kw_only=True, tag="passages"):
    """The closest passages, where nothing is claimed."""

    items: tuple[NearPassage, ...] = ()


class Error(Event, frozen=True, kw_only=True, tag="error"):
    """In place of what was still to come: the run failed, or the answer shown is taken back (`Stream.withdrawn`)."""

    code: str = ""
    content: str = ""
    retry_after_s: int | None = None


class Done(Event, frozen=True, kw_only=True, tag="DONE"):
    pass


class Stage(Event, frozen=True, kw_only=True, tag="stage"):
    """From here on: only with `events="all"`."""

    stage: str = ""
    lane: str = ""
    status: Literal["start", "end"] = "start"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    source_id: str
    title: str = ""
    url: str = ""
    score: float = 0.0


class Sources(Event, frozen=True, kw_only=True, tag="sources"):
    """What was retrieved, before anything is cited."""

    items: tuple[Source, ...] = ()


class Withheld(Event, frozen=True, kw_only=True, tag="withheld"):
    """A sentence that did not pass, and why."""

    content: str = ""
    flags: tuple[Flag, ...] = ()


class Verdict(Event, frozen=True, kw_only=True, tag="verdict"):
    re_gate: str = ""
    confidence: str | None = None
    outcome: str = ""


class Queued(Event, frozen=True, kw_only=True, tag="queued"):
    """The question waits to begin; 1 begins next."""

    position: int = 0


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a newer server; `raw` is its JSON."""

    type: str
    raw: bytes


type Known = Token | References | Passages | Error | Done | Stage | Sources | Withheld | Verdict | Queued
EVENTS: tuple[type[Event], ...] = get_args(Known.__value__)


class _Tag(msgspec.Struct):
    type: str


_tag = msgspec.json.Decoder(_Tag)
_known: Any = msgspec.json.Decoder(Union[*EVENTS])
_NAMES = {each.__struct_config__.tag for each in EVENTS}


def event_of(data: bytes) -> Known | Unknown:
    """The event of one line of JSON. Raises msgspec.DecodeError."""
    kind = _tag.decode(data).type
    if kind not in _NAMES:
        return Unknown(type=kind, raw=data)
    event: Known = _known.decode(data)
    return event
