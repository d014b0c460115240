"""A run as the journal keeps it, in memory and as a file: one line each for the header, every record and every frame of events.

A record's message and stage are in the file byte for byte as in the journal.
"""

import base64
import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bus.journal.records import CAUSE, Record
from bus.powers.events import FIRST
from bus.runs.run_record import RunRecord, record_of
from bus.runs.story import RunStory, story_of
from bus.transport.envelope import count_in
from bus.wire.errors import UNREADABLE, Poison
from bus.wire.messages import QuestionAsked, RunFinished, message_type
from bus.wire.subjects import BadId, check_id, event_subject, is_fenced, parse, progress_subject
from index.masking import masked

if TYPE_CHECKING:
    from actors.question.resolved import Defaults


#: Of the format. A field that is added and has a default is no new version.
VERSION = 1
ASKED, FINISHED = message_type(QuestionAsked), message_type(RunFinished)
#: On records that a fork took over: the run they come from. On its question, also the stage it forks at and how many events
#: it took over.
PARENT, FORKED_AT, TAKEN_OVER = "Gw-Parent", "Gw-Forked-At", "Gw-Taken-Over"


class BrokenTrace(ValueError):
    """A trace file that cannot be read; the message names the file, the line and the fault."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A frame of events, one JSON object per line. `fenced`: of the default stream. `time` in epoch seconds."""

    sequence: int
    time: float
    data: bytes
    fenced: bool
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: its records and frames, in the order they were written."""

    run_id: str
    records: tuple[Record, ...]
    frames: tuple[Shown, ...] = ()

    @property
    def story(self) -> RunStory:
        return story_of(self.records)

    @property
    def record(self) -> RunRecord:
        """Raises Poison for a trace without a question."""
        if (record := record_of(self.story)) is None:
            raise Poison(f"the trace of {self.run_id} has no question; export it again with `groundwire trace export`")
        return record

    @property
    def parent(self) -> str:
        """The run that this one forks; empty for none."""
        return self._header_of_question(PARENT)

    @property
    def forked_at(self) -> str:
        """The first stage that a fork ran again; empty if this is not a fork."""
        return self._header_of_question(FORKED_AT)

    @property
    def taken_over(self) -> int:
        """How many events a fork took over from its parent."""
        return count_in({TAKEN_OVER: self._header_of_question(TAKEN_OVER) or "0"}, TAKEN_OVER, 0)

    def _header_of_question(self, header: str) -> str:
        return next((r.headers.get(header, "") for r in self.records if r.key.type == ASKED), "")

    @property
    def defaults(self) -> "Defaults":
        from actors.question.resolved import Defaults  # with it comes numpy, which an edge does not need to start

        question = next(iter(self.story.questions), None)
        if question is None:
            return Defaults()
        return Defaults(*(getattr(question, name) for name in Defaults._fields))

    @property
    def lines(self) -> list[bytes]:
        """Every event of the default stream; empty when its beginning has expired."""
        fenced = [frame for frame in self.frames if frame.fenced]
        if not fenced or fenced[0].headers.get(FIRST, "1") != "1":
            return []
        return [line for frame in fenced for line in frame.data.split(b"\n")]


_NOTHING = msgspec.Raw()


class _Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    pass


class _Header(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="trace"):
    version: int
    run_id: str
    made_by: str = ""  # the release that wrote the file
    parent: str = ""
    forked_at: str = ""


class _Record(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="record"):
    """A record's line. `data` (base64) replaces `body` when the message is not JSON."""

    subject: str
    sequence: int
    time: float
    headers: dict[str, str] = {}
    body: msgspec.Raw = _NOTHING
    stage: msgspec.Raw = _NOTHING
    data: str = ""


class _Frame(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="frame"):
    subject: str
    sequence: int
    time: float
    headers: dict[str, str] = {}
    events: tuple[msgspec.Raw, ...] = ()


_encode = msgspec.json.Encoder().encode
_lines = msgspec.json.Decoder(_Header | _Record | _Frame)
_any_json = msgspec.json.Decoder()


def dump(trace: Trace) -> Iterator[bytes]:
    release = importlib.metadata.version("groundwire")
    header = _Header(
        version=VERSION, run_id=trace.run_id, made_by=release, parent=trace.parent, forked_at=trace.forked_at
    )
    yield _encode(header)
    for record in trace.records:
        yield _encode(_line_of(record))
    for frame in trace.frames:
        subject = event_subject(trace.run_id) if frame.fenced else progress_subject(trace.run_id)
        yield _encode(
            _Frame(
                subject=subject,
                sequence=frame.sequence,
                time=frame.time,
                headers=own(frame.headers),
                events=tuple(msgspec.Raw(line) for line in frame.data.split(b"\n")),
            )
        )


def own(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that Groundwire wrote; the server's only say where a copy is stored."""
    return {name: value for name, value in headers.items() if not name.startswith("Nats-")}


def _line_of(record: Record) -> _Record:
    message, _, stage = record.data.partition(b"\n")
    line = _Record(
        subject=record.key.subject,
        sequence=record.sequence,
        time=record.time,
        headers=own(record.headers),
        body=msgspec.Raw(message),
        stage=msgspec.Raw(stage) if stage else _NOTHING,
    )
    try:
        for part in filter(None, (message, stage)):
            _any_json.decode(part)
    except UNREADABLE:
        data = base64.b64encode(record.data).decode()
        return msgspec.structs.replace(line, body=_NOTHING, stage=_NOTHING, data=data)
    return line


def write(path: Path, trace: Trace) -> None:
    """Raises OSError."""
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in dump(trace))


def read(path: Path) -> Trace:
    """The trace in a file. Raises BrokenTrace."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BrokenTrace(f"{path}: cannot be read ({error.strerror})") from None
    return load(lines_in(data), name=str(path))


def lines_in(data: bytes) -> list[bytes]:
    """The lines of a file; of one that another program printed over several lines, each value as a line."""
    several = data.partition(b"\n")[0].strip() in (b"{", b"[")
    return re.split(rb"\n(?=[{\[])", data) if several else data.split(b"\n")


def load(lines: Iterable[bytes], *, name: str) -> Trace:
    """The trace of a file's lines. Raises BrokenTrace."""
    header: _Header | None = None
    records: list[Record] = []
    frames: list[Shown] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            found = _lines.decode(line)
        except UNREADABLE as error:
            raise BrokenTrace(f"{where}: {error}; export it again with `groundwire trace export`") from None
        if header is None:
            header = _checked(found, where)
        elif isinstance(found, _Record):
            records.append(_record_of(found, header, {r.sequence for r in records}, where))
        elif isinstance(found, _Frame):
            data = b"\n".join(map(_compact, found.events))
            frames.append(Shown(found.sequence, found.time, data, is_fenced(found.subject), found.headers))
        else:
            raise BrokenTrace(f"{where}: a second header; one file holds one run")
    if header is None:
        raise BrokenTrace(f"{name}: the file is empty; make it with `groundwire trace export`")
    return Trace(header.run_id, tuple(records), tuple(frames))


def _checked(found: _Line, where: str) -> _Header:
    if not isinstance(found, _Header):
        raise BrokenTrace(f"{where}: the header is missing; export it again with `groundwire trace export`")
    if found.version != VERSION:
        raise BrokenTrace(f"{where}: a trace of version {found.version}; this Groundwire reads version {VERSION}")
    try:
        check_id(found.run_id)
    except BadId as error:
        raise BrokenTrace(f"{where}: {error}") from None
    return found


def _record_of(found: _Record, header: _Header, before: set[int], where: str) -> Record:
    try:
        key = parse(found.subject)
        data = base64.b64decode(found.data, validate=True) if found.data else _compact(found.body)
    except ValueError as error:
        raise BrokenTrace(f"{where}: {error}") from None
    if key.run_id != header.run_id:
        raise BrokenTrace(f"{where}: a record of run {key.run_id} in the trace of {header.run_id}")
    cause = found.headers.get(CAUSE, "")
    if found.sequence in before or (cause and not (cause.isdigit() and int(cause) in before)):
        wrong = f"made of record {cause}, which is not above it" if found.sequence not in before else "there twice"
        raise BrokenTrace(f"{where}: record {found.sequence} is {wrong}; a line was lost or moved")
    if bytes(found.stage):
        data += b"\n" + _compact(found.stage)
    return Record(key, found.sequence, found.time, data, found.headers)


def _compact(raw: msgspec.Raw) -> bytes:
    """The same JSON without the spaces that another program may have added."""
    return msgspec.json.format(bytes(raw), indent=-1) if bytes(raw) else b""


def masked_trace(trace: Trace) -> Trace:
    """The trace as its profile lets it be seen; the same one where there is nothing to mask."""
    if not masks(trace):
        return trace
    records = tuple(replace(record, data=_masked_lines(record.data)) for record in trace.records)
    frames = tuple(replace(frame, data=_masked_lines(frame.data)) for frame in trace.frames)
    new = replace(trace, records=records, frames=frames)
    return trace if new == trace else new


def masks(trace: Trace) -> bool:
    """Whether the run's profile masks personal data; also where no stage has read the question."""
    return all(question.masked for question in trace.story.questions)


def _masked_lines(data: bytes) -> bytes:
    """Lines of JSON with every text in them masked; a line that is none is left out."""
    return b"\n".join(map(_line, data.split(b"\n")))


def _line(line: bytes) -> bytes:
    try:
        value = msgspec.json.decode(line)
    except UNREADABLE:
        return b"null" if line else line
    new = masked(value)
    return line if new == value else msgspec.json.encode(new)
