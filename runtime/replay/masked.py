"""A trace for other eyes: personal data masked in its records and events. What was masked replays no longer."""

from dataclasses import replace

import msgspec

from bus.journal.records import Record
from bus.wire.errors import Poison
from bus.wire.messages import Question, question_about
from index.masking import masked
from runtime.replay.trace import Trace


def masked_trace(trace: Trace) -> Trace:
    """The trace as its profile lets it be seen; the same one where there is nothing to mask."""
    if not all(_is_masked(record) for record in trace.records):
        return trace
    records = tuple(replace(record, data=_lines(record.data)) for record in trace.records)
    frames = tuple(replace(frame, data=_lines(frame.data)) for frame in trace.frames)
    new = replace(trace, records=records, frames=frames)
    return trace if new == trace else new


def _is_masked(record: Record) -> bool:
    """Whether the profile masks; False only in a record whose question says that it does not."""
    try:
        question = question_about(record.message)
    except Poison:
        return True
    return question.masked if isinstance(question, Question) else True


def _lines(data: bytes) -> bytes:
    """Lines of JSON with every text in them masked; a line that is none is left out."""
    return b"\n".join(map(_line, data.split(b"\n")))


def _line(line: bytes) -> bytes:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b"null" if line else line
    new = masked(value)
    return line if new == value else msgspec.json.encode(new)
