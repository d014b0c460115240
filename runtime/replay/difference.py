"""Where two runs differ: the first step whose outputs differ, and where in them."""

import dataclasses
import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import msgspec

from bus.delivery.graph import Graph
from bus.journal.records import Record, decode
from bus.wire.errors import UNREADABLE, Poison
from runtime.replay.steps import Step, steps_of
from runtime.replay.trace import PARENT, Trace

#: Most characters shown of a value.
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference at `path`, such as `settled.citations[0].n`; empty for the whole text."""

    path: str
    recorded: str
    now: str


#: Reads JSON as a type of today; what cannot be read raises Poison or msgspec.DecodeError.
type Reading = Callable[[bytes], object]


def first_difference(recorded: bytes, now: bytes, read: Reading = msgspec.json.decode) -> Difference | None:
    """Where two JSON texts first differ in their values; None where only spaces, the order of keys or the form of a number do.

    With today's type for `read`, a field that a text lacks has its default, and a field that the type lacks does not count.
    """
    if recorded == now:
        return None
    for reading in (read, msgspec.json.decode):
        try:
            return _walk("", *(msgspec.json.decode(msgspec.json.encode(reading(text))) for text in (recorded, now)))
        except (*UNREADABLE, Poison):
            continue
    return Difference("", *_texts(*(text.decode(errors="replace") for text in (recorded, now))))


def _walk(path: str, recorded: object, now: object) -> Difference | None:
    if not (type(recorded) is type(now) and isinstance(recorded, dict | list) and isinstance(now, dict | list)):
        same = recorded == now and isinstance(recorded, bool) is isinstance(now, bool)
        return None if same else Difference(path, *_texts(recorded, now))
    one, other = (dict(enumerate(each)) if isinstance(each, list) else each for each in (recorded, now))
    for key in one | other:
        below = f"{path}[{key}]" if isinstance(recorded, list) else f"{path}.{key}" if path else str(key)
        if key not in one or key not in other:
            return Difference(below, *(_value(side[key]) if key in side else "nothing" for side in (one, other)))
        if found := _walk(below, one[key], other[key]):
            return found
    return None


def _texts(recorded: object, now: object) -> tuple[str, str]:
    """Both values as text, long ones from shortly before the place where they differ."""
    if not (isinstance(recorded, str) and isinstance(now, str)) or max(len(recorded), len(now)) <= WIDTH:
        return _value(recorded), _value(now)
    at = next((n for n, (a, b) in enumerate(zip(recorded, now, strict=False)) if a != b), min(len(recorded), len(now)))
    begin = max(0, at - 30)
    lead = "…" if begin else ""
    return _value(lead + recorded[begin:]), _value(lead + now[begin:])


def _value(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


type Change = Literal["same", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two runs first differ. `stage` is empty if it is the question; `recorded` is the first run, `now` the second."""

    stage: str
    lane: str
    difference: Difference


def parting(first: Trace, second: Trace, graph: Graph) -> Parting | None:
    """The first difference, in the order of the first run's steps; None if both runs have the same messages."""
    one, other = (msgspec.json.encode(trace.story.question) for trace in (first, second))
    if second.parent != first.run_id and (difference := first_difference(one, other)) is not None:
        return Parting("", "", difference)
    others = {_place(step): step for step in steps_of(second, graph).taken}
    for step in steps_of(first, graph).taken:
        same = others.pop(_place(step), None)
        if same is None:
            return Parting(step.name, step.lane, Difference("", _outputs(step), "did not come to it"))
        if (difference := _between(step, same)) is not None:
            if same.outputs and all(PARENT in record.headers for record in same.outputs):
                # The fork put what it took over under another profile: it begins there.
                place = f"its input's {difference.path}"
                return Parting(second.forked_at, same.outputs[0].key.lane, dataclasses.replace(difference, path=place))
            return Parting(step.name, step.lane, difference)
    for step in others.values():
        return Parting(step.name, step.lane, Difference("", "did not come to it", _outputs(step)))
    return None


def _place(step: Step) -> tuple[str, tuple[str, ...]]:
    """The key that matches steps of two runs; it ignores which lane of a join came last, which is chance."""
    return step.name, tuple(sorted(record.key.lane for record in step.given))


def _between(one: Step, other: Step) -> Difference | None:
    if _outputs(one) != _outputs(other):
        return Difference("type", _outputs(one), _outputs(other))
    for a, b in zip(_in_order(one), _in_order(other), strict=True):
        if (difference := first_difference(_body(a), _body(b), partial(decode, a.key.type))) is not None:
            return difference
    return None


def _in_order(step: Step) -> list[Record]:
    return sorted(step.outputs, key=lambda record: (record.key.type, record.key.lane))


def _outputs(step: Step) -> str:
    return ", ".join(f"{r.key.type} {r.key.lane}" for r in _in_order(step)) or "nothing"


def _body(record: Record) -> bytes:
    return record.data.partition(b"\n")[0]


def changes(first: list[str], second: list[str]) -> tuple[tuple[Change, str], ...]:
    """Both sequences merged: what stayed, what was removed and what was added."""
    found: list[tuple[Change, str]] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal":
            found += [("same", text) for text in first[a:b]]
        else:
            found += [*(("gone", text) for text in first[a:b]), *(("new", text) for text in second[c:d])]
    return tuple(found)
