"""A trace that can be given away: what identifies people, machines and keys is masked, and it replays as the original does.

Question, replies, hits, messages and events get the same stand-ins, and the digests of what was asked are made again. Whether it
replays is tried: where today's code would do something else, other stand-ins are chosen.
"""

import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from bus.delivery.graph import Graph
from bus.journal.records import Record
from bus.powers.asking import AskRequest
from bus.runs.run_record import record_of
from bus.wire.errors import UNREADABLE
from bus.wire.subjects import ACCESS, VERDICT
from index.masking import OURS
from index.source_paths import PAGES, PATH, source_path
from runtime.replay.anew import recorded_anew
from runtime.replay.masks import Masks
from runtime.replay.prompts_asked import requests_of
from runtime.replay.recorded_powers import digests
from runtime.replay.replayer import Divergence, replay
from runtime.replay.steps import steps_of
from runtime.replay.trace import ASKED, Shown, Trace
from runtime.replay.trace import masks as profile_masks

#: How many sets of stand-ins are tried.
TRIES: Final = 24
_OF_KEYS: Final = (ACCESS, VERDICT)
_FIELD: Final = re.compile(r"[a-z_]+")
_TOKEN: Final = b'{"type":"token","content":'


@dataclass(frozen=True, slots=True)
class Shared:
    """`masked`: how many values. `divergence`: where the masked trace replays differently from the original; None if nowhere.

    `other`: it ends as the original, but citations, flags or passages are others.
    """

    trace: Trace
    masked: int
    divergence: Divergence | None = None
    other: bool = False


async def shared(trace: Trace, graph: Graph, *, all_secrets: bool = True, key: bytes = b"") -> Shared:
    """The masked trace. `all_secrets`: besides personal data, secrets and addresses. `key`: random if left out."""
    before = await replay(trace, graph)
    asked = [request for step in steps_of(trace, graph).done for request in await requests_of(trace, step)]
    nearly: Shared | None = None
    failed, masks_personal = before.divergence, profile_masks(trace)
    key = key or secrets.token_bytes(16)
    learned = Masks(key, all_secrets, masks_personal)
    texts = dict.fromkeys(_texts(trace))
    for text in texts:
        learned.learn(text)
    for text in texts:
        learned.learn_near(text)
    learned.values.pop(trace.run_id.casefold(), None)
    if not learned.values:
        return Shared(_masked(trace, learned, {}), 0)
    ordinary, end = _ordinary(trace, learned), _end(trace)
    for n in range(TRIES):
        masks = Masks(key + bytes([n]), all_secrets, masks_personal, learned.values)
        masks.choose(ordinary)
        new = _masked(trace, masks, dict(_digests(asked, masks)))
        for form in (new, await recorded_anew(new, graph) if before.divergence is None else None):
            if form is None or _end(form)[:2] != end[:2] or (nearly and _end(form) != end):
                continue
            after = await replay(form, graph)
            if _place(before.divergence) != _place(after.divergence) or before.stages != after.stages:
                failed = after.divergence or failed
            elif _end(form) == end:
                return Shared(form, len(masks.values))
            else:
                nearly = Shared(form, len(masks.values), other=True)
    return nearly or Shared(new, len(masks.values), failed)


def _ordinary(trace: Trace, masks: Masks) -> set[str]:
    """The words of the question and of all that was found, outside the values."""
    found = [record.data for record in trace.records if record.key.type == ASKED]
    found += [bytes(search.hits) for search in trace.story.searches]
    texts = (text for data in found for text in _strings(msgspec.json.decode(data)))
    return {word for text in texts for word in masks.words_outside(text)}


def _end(trace: Trace) -> tuple[object, ...]:
    """How a run ended, without its texts: the outcome, what each citation leads to, and why each sentence was withheld."""
    record = record_of(trace.story)
    if record is None:
        return ()
    citations = [(c.n, c.source_start, c.source_end, c.answer_start) for c in record.citations]
    withheld = [[(flag.kind, flag.strength) for flag in sentence.flags] for sentence in record.withheld]
    near = [(p.source_start, p.source_end) for p in record.passages]
    return (record.outcome, record.reason, record.confidence, record.re_gate, citations, withheld, near)


def _place(divergence: Divergence | None) -> tuple[str, ...] | None:
    return None if divergence is None else (divergence.stage, divergence.lane, divergence.part, divergence.path)


def _digests(asked: Iterable[AskRequest], masks: Masks) -> Iterator[tuple[str, str]]:
    """The digest of what was asked, with that of the same masked."""
    for prompt, variables in ((request.prompt, bytes(request.variables)) for request in asked):
        yield from zip(digests(prompt, variables), digests(prompt, _json(variables, masks)), strict=True)


def _texts(trace: Trace) -> Iterator[str]:
    for data in _lines_of(trace):
        try:
            yield from _strings(msgspec.json.decode(data))
        except UNREADABLE:
            yield data.decode(errors="replace")


def _lines_of(trace: Trace) -> Iterator[bytes]:
    for record in trace.records:
        yield from [record.data] if record.key.type == ASKED else filter(None, record.data.split(b"\n"))
    for frame in trace.frames:
        yield from frame.data.split(b"\n")
    yield msgspec.json.encode(_said(trace.frames))


def _strings(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if name not in OURS:
            yield unquote(value) if value.startswith(PAGES) else value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name)


def _masked(trace: Trace, masks: Masks, known: dict[str, str]) -> Trace:
    """The trace with every text masked, and with the `known` digests replaced."""
    records = tuple(replace(record, data=_record(record, masks, known)) for record in trace.records)
    return replace(trace, records=records, frames=_frames(trace.frames, masks))


def _record(record: Record, masks: Masks, known: dict[str, str]) -> bytes:
    if record.key.type == ASKED:
        return _json(record.data, masks)
    message, _, stage = record.data.partition(b"\n")
    if record.key.type in _OF_KEYS:  # the name of a key is often that of a person
        value = msgspec.json.decode(message)
        message = msgspec.json.encode({key: inner for key, inner in value.items() if key not in ("key", "by")})
    if not stage:
        return _json(message, masks)
    told = msgspec.json.decode(stage)
    for ask in told.get("asks", ()):
        ask["variables"] = known.get(ask["variables"], ask["variables"])
        ask["text"] = _reply(ask["text"], masks)
    return _json(message, masks) + b"\n" + msgspec.json.encode(_value(told, masks))


def _reply(text: str, masks: Masks) -> str:
    """A model's reply; one in JSON may write a value with escapes."""
    if text[:1] in ("{", "[") and "\\" in text:
        try:
            return _json(text.encode(), masks).decode()
        except msgspec.DecodeError:
            pass
    return masks.apply(text)


def _json(data: bytes, masks: Masks) -> bytes:
    try:
        value = msgspec.json.decode(data)
    except UNREADABLE:
        return masks.apply(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    new = _value(value, masks)
    return data if new == value else msgspec.json.encode(new)


def _value(value: Any, masks: Masks, name: str = "") -> Any:
    if isinstance(value, str):
        if name in OURS:
            return value
        return _path(value, masks) if value.startswith(PAGES) and PATH.fullmatch(value) else masks.apply(value)
    if isinstance(value, dict):
        # The names of fields stay, also where one is a word to mask.
        term = masks.term if name == "rarity" else lambda key: key if _FIELD.fullmatch(key) else masks.apply(key)
        return {term(key): _value(inner, masks, key) for key, inner in value.items()}
    return [_value(inner, masks, name) for inner in value] if isinstance(value, list) else value


def _path(path: str, masks: Masks) -> str:
    pages, _, position = path.partition("?")
    return source_path(masks.apply(unquote(pages.removeprefix(PAGES)))) + (f"?{position}" if position else "")


def _said(frames: Iterable[Shown]) -> str:
    """The text of all tokens: a value may begin in one and end in another."""
    lines = (line for frame in frames if frame.fenced for line in frame.data.split(b"\n") if line.startswith(_TOKEN))
    return "".join(msgspec.json.decode(line)["content"] for line in lines)


def _frames(frames: tuple[Shown, ...], masks: Masks) -> tuple[Shown, ...]:
    said = masks.apply(_said(frames))
    made, at = [], 0
    for frame in frames:
        lines = []
        for line in frame.data.split(b"\n"):
            if frame.fenced and line.startswith(_TOKEN):
                token = msgspec.json.decode(line)
                end = at + len(token["content"])
                token["content"], at = said[at:end], end
                lines.append(msgspec.json.encode(token))
            else:
                lines.append(_json(line, masks))
        made.append(replace(frame, data=b"\n".join(lines)))
    return tuple(made)
