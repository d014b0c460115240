"""The first place where two JSON texts differ, as a path that people can follow."""

from dataclasses import dataclass

import msgspec

#: Most characters shown of a value.
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference at `path`, such as `settled.citations[0].n`; empty for the whole text."""

    path: str
    recorded: str
    now: str


def first_difference(recorded: bytes, now: bytes) -> Difference | None:
    """Where two JSON texts first differ; None if they are the same bytes."""
    if recorded == now:
        return None
    try:
        found = _walk("", msgspec.json.decode(recorded), msgspec.json.decode(now))
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = None
    if found is not None:
        return found
    # Same values, different bytes: another key order, or another way to write a number.
    at = next((n for n, (a, b) in enumerate(zip(recorded, now, strict=False)) if a != b), min(len(recorded), len(now)))
    begin = max(0, at - 20)
    return Difference(f"byte {at}", *(text[begin : begin + WIDTH].decode(errors="replace") for text in (recorded, now)))


def _walk(path: str, recorded: object, now: object) -> Difference | None:
    if isinstance(recorded, dict) and isinstance(now, dict):
        return _in_object(path, recorded, now)
    if isinstance(recorded, list) and isinstance(now, list):
        return _in_list(path, recorded, now)
    if type(recorded) is not type(now) or recorded != now:
        return Difference(path, *_texts(recorded, now))
    return None


def _in_object(path: str, recorded: dict[str, object], now: dict[str, object]) -> Difference | None:
    for key in [*recorded, *(k for k in now if k not in recorded)]:
        below = f"{path}.{key}" if path else str(key)
        if key not in now or key not in recorded:
            return Difference(below, *(_value(side[key]) if key in side else "nothing" for side in (recorded, now)))
        if found := _walk(below, recorded[key], now[key]):
            return found
    return None


def _in_list(path: str, recorded: list[object], now: list[object]) -> Difference | None:
    for n in range(max(len(recorded), len(now))):
        below = f"{path}[{n}]"
        if n >= min(len(recorded), len(now)):
            return Difference(below, *(_value(side[n]) if n < len(side) else "nothing" for side in (recorded, now)))
        if found := _walk(below, recorded[n], now[n]):
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
